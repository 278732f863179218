"""The rules of Gopher, C4 and FineWeb drop what datatrove's filters drop, and by the same rule."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bertdata.curation.filters import Judgement, parse_filter
from bertdata.curation.words.split import split
from tests.curation.quality.documents import PATH, documents, hostile, peers, verdict
from tests.data import data_path

HELD: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
REASONS = {
    "gopher_short_doc": "gopher_too_few_words",
    "gopher_long_doc": "gopher_too_many_words",
    "gopher_below_avg_threshold": "gopher_words_too_short",
    "gopher_above_avg_threshold": "gopher_words_too_long",
    "gopher_too_many_hashes": "gopher_too_many_hashes",
    "gopher_too_many_ellipsis": "gopher_too_many_ellipses",
    "gopher_too_many_bullets": "gopher_too_many_bullet_lines",
    "gopher_too_many_end_ellipsis": "gopher_too_many_ellipsis_lines",
    "gopher_below_alpha_threshold": "gopher_too_few_alphabetic_words",
    "gopher_enough_stop_words": "gopher_too_few_stop_words",
    "dup_para_frac": "gopher_duplicate_paragraphs",
    "dup_para_char_frac": "gopher_duplicate_paragraph_characters",
    "dup_line_frac": "gopher_duplicate_lines",
    "dup_line_char_frac": "gopher_duplicate_line_characters",
    **{f"top_{n}_gram": f"gopher_top_{n}_gram" for n in (2, 3, 4)},
    **{f"duplicated_{n}_n_grams": f"gopher_duplicate_{n}_grams" for n in range(5, 11)},
    "line_punct_ratio": "fineweb_too_few_lines_end",
    "short_line_ratio": "fineweb_too_many_short_lines",
    "char_dup_ratio": "fineweb_duplicate_lines",
    "list_ratio": "fineweb_list",
    "lorem_ipsum": "c4_lorem_ipsum",
    "curly_bracket": "c4_curly_bracket",
    "too_few_sentences": "c4_too_few_sentences",
}
"""datatrove's names of reasons, and ours."""


def judge(name: str, texts: Sequence[str]) -> Judgement:
    chosen, argument = parse_filter(name)
    assert chosen.judge is not None
    return chosen.judge(pa.array(texts, pa.string()), argument)


def differences(name: str, texts: Sequence[str], expected: Sequence[str | None]) -> list[Any]:
    reasons = judge(name, texts).reasons.to_pylist()
    pairs = zip(texts, reasons, expected, strict=True)
    return [
        (text[:200], ours, theirs)
        for text, ours, theirs in pairs
        if theirs != "division by zero"
        and ours != (REASONS[theirs] if theirs else None)
        and not (ours == "c4_no_line_left" and theirs is None)
    ]


@pytest.mark.costly
@pytest.mark.parametrize("name", HELD["found"])
def test_documents_are_dropped_as_datatrove_dropped_them(name: str) -> None:
    assert differences(name, HELD["texts"], HELD["found"][name]) == []


def test_the_documents_that_are_held_break_most_rules() -> None:
    dropped = {REASONS[reason] for reasons in HELD["found"].values() for reason in reasons if reason in REASONS}
    assert len(dropped) > 20


def same_as_datatrove(texts: Sequence[str]) -> None:
    for name, peer in peers():
        verdicts = [verdict(peer, text) for text in texts]
        assert differences(name, texts, [reason for reason, _ in verdicts]) == [], name
        left = judge(name, texts)
        if left.texts is not None:
            for text, reason, (theirs, kept) in zip(
                left.texts.to_pylist(), left.reasons.to_pylist(), verdicts, strict=True
            ):
                assert reason or theirs or text == kept


needs_datatrove = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("datatrove", "spacy"))), reason="datatrove and spacy are not installed"
)


@needs_datatrove
@pytest.mark.filterwarnings("ignore")
def test_generated_documents_are_dropped_as_by_datatrove() -> None:
    seed = int(np.random.default_rng().integers(1 << 30))
    same_as_datatrove([*documents(150, seed), *filter(str.strip, hostile(150, seed))])


SHARES = 20
"""The parts in which real texts are compared, each of some minutes."""


@needs_datatrove
@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", range(SHARES))
def test_wikipedia_and_books_are_split_and_dropped_as_by_datatrove(share: int) -> None:
    zstandard = pytest.importorskip("zstandard")
    texts = []
    for path in sorted(data_path("wikipedia-plain").glob("*.zst")):
        with path.open("rb") as file:
            lines = zstandard.ZstdDecompressor().stream_reader(file).read().splitlines()
        texts += [json.loads(line)["text"] for line in lines[share::SHARES]]
    books = sorted(data_path("books").glob("*.txt"))
    texts += [path.read_text(encoding="utf-8", errors="replace") for path in books[share::SHARES]]
    peer = importlib.import_module("datatrove.utils.word_tokenizers").load_word_tokenizer("en")
    verdicts = split(pa.array(texts, pa.string()))
    assert all(verdicts.of(place) == peer.word_tokenize(text) for place, text in enumerate(texts))
    same_as_datatrove(texts)
