"""Words: the tokens of spaCy's English tokenizer, by the kernel and by its reference."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.curation.words import split as splitting
from bertdata.curation.words.reference import split_chunk, word_spans, words
from bertdata.curation.words.split import sentence_counts, split
from bertdata.curation.words.tables import exceptions, tables
from tests.curation.quality.documents import HOSTILE, hostile
from tests.data import data_path
from tests.generated import examples


def found(texts: list[str]) -> list[list[str]]:
    words = split(pa.array(texts, pa.string()))
    return [words.of(text) for text in range(len(texts))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Lee doesn't smile.", "Mr.|Lee|does|n't|smile|."),
        ("It's 5km (3.1 mi), isn't it?", "It|'s|5|km|(|3.1|mi|)|,|is|n't|it|?"),
        ("see http://example.com/a?b=c. ok", "see|http://example.com/a?b=c|.|ok"),
        ("well-known—and 10am at U.S. ports...", "well|-|known|—|and|10|am|at|U.S.|ports|..."),
        ("US$5 \u00a0 a.b cannot A.B", "US$|5|a.b|can|not|A.B"),
        ("(foo:) : )", "(|foo|:)|:|)"),
        ("D:) )8", "D|:|)|)|8"),
        ("1990s 5+ x=y a,b 1-2 °C.", "1990s|5|+|x|=|y|a|,|b|1|-|2|°|C|."),
        ("1+2 1+a a+1 2*3 2*x 4^5 4^y 6--7", "1|+|2|1+a|a+1|2|*|3|2*x|4|^|5|4^y|6|-|-7"),
    ],
)
def test_words_are_the_tokens_of_spacy(text: str, expected: str) -> None:
    assert words(text) == expected.split("|")
    assert found([text]) == [expected.split("|")]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=3))
def test_the_kernel_splits_as_the_reference(texts: list[str]) -> None:
    assert found(texts) == [words(text) for text in texts]


def test_hostile_texts_are_split_alike_whatever_was_split_before(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = hostile(400, seed=1)
    expected = [words(text) for text in texts]
    assert found(texts) == expected
    monkeypatch.setattr(splitting, "_LEFT", 3)
    monkeypatch.setattr(splitting, "_LONGEST_KEPT", 3)
    assert found(texts) == expected
    assert found(texts[::-1]) == expected[::-1]


PIECES = [*HOSTILE, *"aBZ9é. ,-'’/:)(*^", "it's", "St.", "cm²", "..", "https://", ".org", "1,000", "\u0663"]


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join), min_size=1, max_size=20))
def test_chunks_are_split_as_by_the_reference(chunks: list[str]) -> None:
    assert found(chunks) == [words(chunk) for chunk in chunks]


@pytest.mark.costly
def test_each_exception_unit_and_currency_is_split_as_by_the_reference() -> None:
    sides = [(before, after) for before in ("", "(", '"', "5", "a-") for after in ("", ".", "),", "'s", "-a")]
    strings = [*exceptions(), *tables()["units"], *tables()["currencies"]]
    texts = [f"{before}{string}{after}" for string in strings for before, after in sides]
    assert found(texts) == [words(text) for text in texts]


@pytest.mark.costly
def test_every_character_is_split_as_by_the_reference() -> None:
    points = [chr(point) for point in range(0x3000) if chr(point).strip()]
    texts = [
        text for point in points for text in (f"{point}ab", f"ab{point}", f"ab{point}cd", f"A{point}.", f"1{point}2")
    ]
    assert found(texts) == [words(text) for text in texts]


EMOTICONS = [":", ")", "(", "-", "D", "'", ";", "8", "=", ".", "_", "a", " ", " ", " ", "  ", "\n", "(:", ":)", "é"]


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.lists(st.sampled_from(EMOTICONS), max_size=25).map("".join), min_size=1, max_size=4))
def test_what_an_exception_may_reach_over_a_blank_is_split_as_by_the_reference(texts: list[str]) -> None:
    assert found(texts) == [words(text) for text in texts]


def test_a_long_text_with_emoticons_is_not_split_by_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["word " * 50 + "see:) :" + " word" * 50, ":)x( " * 3000, "word a( :)x( word"]
    expected = [words(text) for text in texts]
    sizes: list[int] = []

    def noted(text: str) -> list[tuple[int, int]]:
        sizes.append(len(text))
        return word_spans(text)

    monkeypatch.setattr(splitting, "word_spans", noted)
    assert found(texts) == expected
    assert sizes == [len("see:) :"), len(texts[1]) - 1, len("a( :)x(")]


def test_the_kernel_leaves_few_chunks_to_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[str] = []

    def noted(chunk: str) -> tuple[list[int], bool]:
        left.append(chunk)
        return split_chunk(chunk)

    monkeypatch.setattr(splitting, "split_chunk", noted)
    splitting._kept_sizes.cache_clear()
    texts = ["(well-known), it's 1,000.5 km² at 10am: \"Mr. Lee's\" café—U.S.-led; don't, 'em… see example.com :)-("]
    assert found(texts) == [words(texts[0])]
    assert left == ["example.com", ":)-("]


@pytest.mark.slow
def test_chunks_of_real_texts_are_split_as_by_the_reference() -> None:
    chunks: set[str] = set()
    for path in sorted(data_path("books").glob("*.txt")):
        chunks.update(path.read_text(encoding="utf-8", errors="replace").split())
    texts = sorted(chunks)
    assert found(texts) == [words(text) for text in texts]


def test_sentences_are_those_of_the_sentencizer() -> None:
    texts = [
        "One. Two! (three?) Four",
        "No end",
        "",
        "One.  ",
        "One. \t ",
        "Well... so? \"Yes.\" 'No.' Mr. Lee.",
        "。は",
    ]
    expected = [4, 1, 1, 2, 2, 4, 2]
    assert sentence_counts(pa.array(texts)).tolist() == expected


def test_words_and_sentences_are_those_of_datatrove() -> None:
    pytest.importorskip("spacy", reason="spacy is not installed")
    loading = pytest.importorskip("datatrove.utils.word_tokenizers", reason="datatrove is not installed")
    peer = loading.load_word_tokenizer("en")
    texts = hostile(1500, seed=int(np.random.default_rng().integers(1 << 30)))
    assert found(texts) == [peer.word_tokenize(text) for text in texts]
    texts = [text for text in texts if text]
    assert sentence_counts(pa.array(texts)).tolist() == [max(1, len(peer.span_tokenize(text))) for text in texts]
