"""What the token store counts for warnings, whatever the tokenizer is and however the texts are cut into parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bertdata.corpus import statistics as corpus_signs
from bertdata.corpus.statistics import count_signs, share_of_copies, sign_tables
from bertdata.corpus.warnings import warnings_of
from bertdata.engine.parts import Counters
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.corpus.test_warnings import GERMAN, GOOD, about, english, recorded
from tests.generated import examples
from tests.tokenizers.made import KINDS, trained


def test_the_share_of_copies_is_told_from_the_records_of_any_cut() -> None:
    whole = recorded(GOOD * 3 + GOOD[:20] * 2).details["sample"]
    parts = [recorded(part).details["sample"] for part in (GOOD * 2, GOOD, GOOD[:20], GOOD[:20])]
    assert share_of_copies([whole]) == share_of_copies(parts) == (1 - 40 / 160, 160)


def test_a_large_corpus_is_sampled_by_its_texts_however_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_signs, "SAMPLE", 100)
    texts = [f"Text {n % 150} is here." for n in range(300)]
    estimates = set()
    for cuts in ([0, 300], [0, 10, 270, 300], [*range(0, 301, 30)]):
        samples = [recorded(texts[first:last]).details["sample"] for first, last in pairwise(cuts)]
        assert max(map(len, samples)) <= 100
        estimates.add(share_of_copies(samples))
    assert estimates == {(0.5, 100)}


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 7, 40])
def test_the_figures_of_a_corpus_do_not_depend_on_its_parts(size: int) -> None:
    texts = [f"<p>{text}</p> \ufffd " * (1 + 90 * (n % 9)) for n, text in enumerate(GOOD)]
    parts = [recorded(texts[first : first + size]) for first in range(0, len(texts), size)]
    assert warnings_of({}, {}, parts, sentences={"language": "en"}) == warnings_of(
        {}, {}, [recorded(texts)], sentences={"language": "en"}
    )
    assert {"markup", "broken characters"} <= {warning["about"] for warning in warnings_of({}, {}, parts)}


@pytest.mark.costly
@pytest.mark.parametrize("kind", KINDS)
def test_signs_of_a_language_and_unknown_tokens_are_those_of_any_tokenizer(kind: str) -> None:
    tokenizer = trained(kind, GOOD, 700)

    def warned(texts: Sequence[str]) -> list[str]:
        return [
            warning["about"]
            for warning in warnings_of({}, {}, [recorded(texts, tokenizer)], sentences={"language": "en"})
        ]

    assert warned(GOOD) == []
    assert warned([f"{GERMAN} Nummer {n} blieb stehen, weil niemand kam." for n in range(30)])[-1] == "language"
    assert "line breaks" in warned([text.replace(".", "") for text in GOOD])
    unknown = "[UNK]" in warned([f"{text} 河 川" for text in GOOD])
    assert unknown == (tokenizer.unk_token_id >= 0) == (kind != "byte-level")


def test_a_byte_level_vocabulary_has_no_unknown_tokens_also_where_its_last_id_is_in_the_text() -> None:
    tokenizer = trained("byte-level", GOOD, 400)
    assert tokenizer.unk_token_id == -1
    last = tokenizer.token_texts[-1]
    assert recorded([f"{last} {last}"], tokenizer).counts["unknown_tokens"] == 0
    assert sign_tables(tokenizer)[1][-1] == (last[-1] in ".!?")


def test_a_token_of_several_signs_ends_a_sentence_where_its_last_does() -> None:
    corpus = ['She said "no." He said "yes!" (And they said "nothing.") Then, "he, too, saw it,"'] * 50
    tokenizer = trained("byte-level", corpus, 400)
    ends = dict(zip(tokenizer.token_texts, sign_tables(tokenizer)[1].tolist(), strict=True))
    ends_of_text = {text: ends[text] for text in ('."', '!"', '.")', ",", "he", '"') if text in ends}
    assert {text for text in ends_of_text if len(text) > 1} >= {'."', "he"}
    assert all(end == (text[-1] in '.!")') for text, end in ends_of_text.items())


def test_texts_that_are_slices_of_a_larger_array_are_counted_alone() -> None:
    tokenizer = WordPieceTokenizer.from_pretrained("bertdata-30k-uncased")
    texts = pa.chunked_array([pa.array(["</a></a>", "salt </b>", "", "</c>"]).slice(1, 2)])
    counters = Counters()
    count_signs(texts, np.array([5]), np.array([1]), np.array([1]), sign_tables(tokenizer), counters)
    assert counters.details["signs"]["closing_tags"] == 1
    assert sorted(length for _, length in counters.details["sample"]) == [0, 9]


def test_of_a_long_text_pieces_are_looked_at_and_give_the_same_figure() -> None:
    tagged = [f"<p>{english(number)}</p> " * 400 for number in range(40)]
    record = recorded(["".join(tagged)])
    counts = record.counts | record.details["signs"]
    assert counts["bytes_looked_at"] < counts["text_bytes"] / 4
    assert "markup" in about(["".join(tagged)])
    share = counts["closing_tags"] / counts["bytes_looked_at"]
    assert share == pytest.approx("".join(tagged).count("</") / counts["text_bytes"], rel=0.05)


SIGNED = st.lists(
    st.sampled_from(["</", "<", "/", "\ufffd", "â€", "â", "\u00c3\u00c2", "Ã\u0082", "é", "Salt ", "x" * 61, "日本"]),
    max_size=40,
).map("".join)


def signs_of(
    texts: pa.ChunkedArray, tokens: NDArray[Any], starts: NDArray[np.bool_] | None, compiled: bool
) -> Counters:
    tables = (np.arange(50) % 3 == 0, np.arange(50) % 7 == 0)
    counters = Counters()
    ends = np.arange(1, len(tokens) + 1, 3)
    for _ in range(2):  # the second is added to the first
        count_signs(texts, tokens, ends, np.array([len(tokens)]), tables, counters, starts, compiled=compiled)
    return counters


@settings(deadline=None, max_examples=examples(60))
@given(
    st.lists(SIGNED, max_size=6),
    st.lists(st.integers(0, 49), max_size=20),
    st.sampled_from([np.uint16, np.uint32]),
    st.booleans(),
    st.integers(0, 2),
)
def test_the_kernel_counts_what_plain_python_counts(
    given_texts: list[str], ids: list[int], kind: type[Any], has_starts: bool, first: int
) -> None:
    texts = pa.chunked_array([pa.array(given_texts, pa.string()).slice(first), pa.array(["last </a>"])])
    starts = np.arange(len(ids)) % 2 == 0 if has_starts else None
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("STRIDE", 90), ("LOOKED_AT", 67), ("_START", 20), ("SAMPLE", 5)):
            patch.setattr(corpus_signs, name, value)
        plain, compiled = (signs_of(texts, np.array(ids, kind), starts, way) for way in (False, True))
    assert plain.details == compiled.details
