"""Sentences against NLTK's with the same parameters: generated text, real text, hostile text, accuracy."""

from __future__ import annotations

import functools
import io
import itertools
import json
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.characters.newer import alike
from bertdata.errors import ConfigError, InputError
from bertdata.sentences import PunktParameters, SentenceSegmenter
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from tests.data import data_path
from tests.generated import examples
from tests.sentences.texts import by_nltk, english, english_by_nltk, nltk_with, texts


@given(texts())
@settings(max_examples=examples(1000), deadline=None)
def test_generated_text_gives_the_sentences_of_nltk(text: str) -> None:
    text = text.replace("\ud800", "")
    assert english().segment(text) == by_nltk(english_by_nltk(), text)


def test_spans_are_those_of_nltk_in_one_paragraph() -> None:
    text = '(How does it go?)  "It should be\nhere." "(And with this one.)" [(and this. )] Very bad!!! I promise.'
    assert english().spans(text) == list(english_by_nltk().span_tokenize(text))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Mr. Smith met J. S. Bach. They spoke.", ["Mr. Smith met J. S. Bach.", "They spoke."]),
        ("He paid $5.50. She left at 5 p.m. on Friday.", ["He paid $5.50.", "She left at 5 p.m. on Friday."]),
        ("\u201cGo!\u201d he said. \u201cNow.\u201d", ["\u201cGo!\u201d", "he said.", "\u201cNow.\u201d"]),
        ("Wait... what? Yes.", ["Wait... what?", "Yes."]),
        ("No mark", ["No mark"]),
        ("A title\n\nA line\nbroken. Next.", ["A title", "A line\nbroken.", "Next."]),
        ("", []),
        (" \n\n \t\n\n\n", []),
    ],
)
def test_plain_cases(text: str, sentences: list[str]) -> None:
    assert english().segment(text) == sentences


def test_a_sentence_never_crosses_a_paragraph_even_after_an_abbreviation() -> None:
    assert english().segment("He met Mr.\n\nSmith came.") == ["He met Mr.", "Smith came."]


@given(st.text(st.sampled_from(" ab.?!\n\t\x1c\xa0\"'"), max_size=60))
@settings(max_examples=examples(300), deadline=None)
def test_sentences_are_stripped_ordered_and_hold_all_that_is_not_white_space(text: str) -> None:
    spans = english().spans(text)
    assert [text[start:stop] for start, stop in spans] == english().segment(text)
    assert all(text[start:stop].strip() == text[start:stop] != "" for start, stop in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert "".join("".join(text[start:stop].split()) for start, stop in spans) == "".join(text.split())


HOSTILE = {
    "no mark": "word ",
    "no white space": "a",
    "marks": "!",
    "periods": ".",
    "marks apart": ". ",
    "nul": "\0. ",
    "quoted marks": 'a?"',
    "spaced dots": ".\xa0",
    "closing brackets": "a.)",
    "line ends": "\n",
    "brackets": "(",
    "unknown white space": "a.\n\x1c ",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_time_in_proportion(name: str) -> None:
    def seconds(size: int) -> float:
        text = "A. " + HOSTILE[name] * (size // len(HOSTILE[name])) + ". B"
        fastest = 60.0
        for _ in range(3):
            start = time.process_time()
            english().spans(text)
            fastest = min(fastest, time.process_time() - start)
        return fastest

    assert seconds(160_000) < 0.02 + 40 * seconds(10_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["no mark", "marks", "nul", "quoted marks", "spaced dots"])
def test_twenty_megabytes_of_hostile_text_are_done_in_seconds(name: str) -> None:
    start = time.process_time()
    english().spans(HOSTILE[name] * (20_000_000 // len(HOSTILE[name])))
    assert time.process_time() - start < 60


@pytest.mark.slow
@pytest.mark.parametrize("text", ["word ", "a", "\n\n"])
def test_a_hundred_megabytes_without_a_mark_are_one_sentence_or_none(text: str) -> None:
    long = text * (100_000_000 // len(text))
    start = time.process_time()
    assert english().spans(long) == ([(0, len(long.strip()))] if long.strip() else [])
    assert time.process_time() - start < 20


def test_long_texts_with_characters_of_all_lengths_have_their_places_in_characters() -> None:
    text = "\u00c9t\u00e9 \u4e2d \U0001f600. Mr. Brown! \u201cGo.\u201d " * 200
    assert english().spans(text) == english()._classifier.spans(text)


def test_a_worker_that_sees_ever_new_words_does_not_grow() -> None:
    segmenter = SentenceSegmenter.from_pretrained()
    size = len(segmenter.parameters.ortho_context)
    for start in range(0, 40_000, 1000):
        segmenter.segment(" ".join(f"etc. Word{n}x Mr. X{n}." for n in range(start, start + 1000)))
    assert len(segmenter.parameters.ortho_context) == size
    assert len(segmenter._classifier._decided) <= 1 << 16


def test_a_pickled_segmenter_is_small_and_the_same() -> None:
    segmenter = SentenceSegmenter.from_pretrained()
    before = len(pickle.dumps(segmenter))
    sentences = segmenter.segment("Mr. Smith. " * 10 + "Etc. Then. " + " ".join(f"x{n}.) A" for n in range(999)))
    assert len(pickle.dumps(segmenter)) == before
    again = pickle.loads(pickle.dumps(segmenter))
    assert again.fingerprint == segmenter.fingerprint
    assert again.segment("Mr. Smith. " * 10 + "Etc. Then. " + " ".join(f"x{n}.) A" for n in range(999))) == sentences


def test_the_fingerprint_follows_the_parameters() -> None:
    assert len(english().fingerprint) == 64
    assert english().fingerprint != SentenceSegmenter(PunktParameters()).fingerprint


def test_segmenting_imports_no_nltk() -> None:
    code = "import sys; from bertdata import SentenceSegmenter as S; S.from_pretrained().segment('A. B.'); "
    code += "print('nltk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split() == [b"False"]


TEXTS = ["One. Two.", "", "\u00dcber Mr. K\u00f6nig. Ja!\n\nEnde"]
ROWS = [["One.", "Two."], [], ["\u00dcber Mr. K\u00f6nig.", "Ja!", "Ende"]]


@pytest.mark.parametrize(
    ("texts", "type_"),
    [
        (TEXTS, pa.string()),
        (pa.array(TEXTS), pa.string()),
        (pa.array(["x", *TEXTS]).slice(1), pa.string()),
        (pa.chunked_array([TEXTS[:1], [], TEXTS[1:]], pa.string()), pa.string()),
        (pa.array(TEXTS, pa.large_string()), pa.large_string()),
    ],
)
def test_a_batch_gives_one_row_of_sentences_a_text(texts: Any, type_: pa.DataType) -> None:
    rows = english().segment_batch(texts)
    assert rows.type == pa.list_(type_)
    assert rows.to_pylist() == ROWS
    rows.validate(full=True)
    whole = english().segment_batch(texts, keep_whitespace=True)
    assert whole.type == rows.type
    assert [[sentence.rstrip() for sentence in row] for row in whole.to_pylist()] == ROWS
    whole.validate(full=True)


def test_places_in_a_column_are_bytes_of_each_row() -> None:
    column = pa.array(["x", *TEXTS]).slice(1)
    rows = english().spans_batch(column)
    rows.validate(full=True)
    cut = [
        [text.encode()[sentence["start"] : sentence["end"]].decode() for sentence in row]
        for row, text in zip(rows.to_pylist(), TEXTS, strict=True)
    ]
    assert cut == ROWS


def test_an_empty_batch_gives_no_rows() -> None:
    assert english().segment_batch([]).to_pylist() == []
    assert english().segment_batch([], keep_whitespace=True).to_pylist() == []
    assert english().segment_batch(["", " "], keep_whitespace=True).to_pylist() == [[], []]
    assert english().segment_batch(pa.chunked_array([], pa.string())).to_pylist() == []


@functools.cache
def tokenizer() -> WordPieceTokenizer:
    return WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a", "b"])


@pytest.mark.parametrize(
    ("texts", "kind", "message"),
    [
        ("One. Two.", ConfigError, "expected a list of strings or an Arrow string array, found str"),
        (b"One. Two.", ConfigError, "found bytes"),
        (None, ConfigError, "found NoneType"),
        ({"One."}, ConfigError, r"found set; make it a list"),
        (np.array(["One."]), ConfigError, r"found ndarray; make it a list"),
        ([1, 2], InputError, "row 0 is int; expected a string"),
        (["One.", b"Two."], InputError, "row 1 is bytes; expected a string"),
        (["One.", None], InputError, "row 1 is null"),
        (pa.array(["One.", None]), InputError, "row 1 is null"),
        (pa.array(["One.", None], pa.large_string()), InputError, "row 1 is null"),
        (pa.chunked_array([["One."], ["Two.", None]]), InputError, "row 2 is null"),
        (pa.array([1, 2]), ConfigError, "expected Arrow strings, found int64"),
        (pa.array([b"One."]), ConfigError, "expected Arrow strings, found binary"),
        (pa.array([["One."]]), ConfigError, "expected Arrow strings, found list"),
        (["fine", "ab\ud800"], InputError, r"row 1 holds a lone surrogate \(U\+D800 at character 2\)"),
    ],
)
def test_what_is_no_batch_of_texts_is_refused_as_the_tokenizer_refuses_it(
    texts: Any, kind: type[Exception], message: str
) -> None:
    functions = english().segment_batch, english().spans_batch, tokenizer().encode_batch
    for function in functions:
        with pytest.raises(kind, match=message):
            function(texts)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (None, ConfigError, "expected one string, found NoneType"),
        (b"One.", ConfigError, "expected one string, found bytes"),
        (["One."], ConfigError, "expected one string, found list; use .*_batch for many"),
        ("ab\ud800. C", InputError, r"the text holds a lone surrogate \(U\+D800 at character 2\)"),
        ("ab\ud800. C " * 1000, InputError, "lone surrogate"),
    ],
)
def test_what_is_no_text_is_refused_as_the_tokenizer_refuses_it(text: Any, kind: type[Exception], message: str) -> None:
    for function in (english().segment, english().spans, tokenizer().encode):
        with pytest.raises(kind, match=message):
            function(text)


@pytest.mark.parametrize(
    "texts",
    [
        pa.array(["A b. C d.", "E."], pa.string_view()),
        pa.array(["A b. C d.", "E."]).dictionary_encode(),
        pa.chunked_array([["A b. C d."], ["E."]]),
        ("A b. C d.", "E."),
    ],
)
def test_every_kind_of_strings_is_taken_as_the_tokenizer_takes_it(texts: Any) -> None:
    assert english().segment_batch(texts).to_pylist() == [["A b.", "C d."], ["E."]]
    assert len(tokenizer().encode_batch(texts)) == 2


def test_segmenters_of_equal_parameters_are_equal() -> None:
    same, other = SentenceSegmenter(english().parameters), SentenceSegmenter.from_pretrained(attach_citations=True)
    assert same == english() == pickle.loads(pickle.dumps(same))
    assert english() != other
    assert english() != SentenceSegmenter(PunktParameters())
    assert english() != "english"
    assert {same, english(), other} == {english(), other}
    assert repr(other) == "SentenceSegmenter(abbreviations=1000, attach_citations=True)"


def wikipedia_texts() -> Iterator[str]:
    import zstandard

    for path in sorted(data_path("wikipedia-plain").glob("*.jsonl.zst")):
        with path.open("rb") as file:
            for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8"):
                yield json.loads(line)["text"]


def book_texts() -> Iterator[str]:
    for path in sorted(data_path("books").glob("*.txt")) + sorted(data_path("books-french").glob("*.txt")):
        yield path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")


@pytest.mark.costly
def test_real_text_gives_the_sentences_of_nltk() -> None:
    for source, every in ((wikipedia_texts(), 400), (book_texts(), 30)):
        for number, text in enumerate(source):
            if number % every == 0:
                assert english().segment(text[:100_000]) == by_nltk(english_by_nltk(), text[:100_000])
            if number > 1000:
                break


@pytest.mark.slow
@pytest.mark.parametrize("source", [wikipedia_texts, book_texts])
@pytest.mark.parametrize("name", ["english", "punkt_tab"])
def test_all_real_text_gives_the_sentences_of_nltk(source: Any, name: str) -> None:
    segmenter = SentenceSegmenter.from_pretrained(str(data_path(name, "english")) if name == "punkt_tab" else name)
    tokenizer = nltk_with(segmenter.parameters)
    for text in source():
        assert segmenter.segment(text) == by_nltk(tokenizer, text)


def boundary_f1(segmenter: SentenceSegmenter, name: str) -> float:
    both = ours = gold = 0
    for line in data_path("sentences", name).read_text(encoding="utf-8").splitlines():
        for paragraph in json.loads(line)["paragraphs"]:
            sentences = [joined for sentence in paragraph if (joined := " ".join(sentence.split()))]
            ends = {len(" ".join(sentences[:count])) for count in range(1, len(sentences))}
            predicted = {stop for _, stop in segmenter.spans(" ".join(sentences))[:-1]}
            both, ours, gold = both + len(ends & predicted), ours + len(predicted), gold + len(ends)
    return 2 * both / (ours + gold)


@pytest.mark.parametrize("name", ["ewt_dev_test.jsonl", "gum_dev_test.jsonl", "lines.jsonl"])
def test_the_shipped_parameters_find_boundaries_at_least_as_well_as_those_of_nltk(name: str) -> None:
    theirs = boundary_f1(SentenceSegmenter.from_pretrained(str(data_path("punkt_tab", "english"))), name)
    assert boundary_f1(english(), name) >= theirs > 0.8


@pytest.mark.parametrize(
    "text",
    [
        "\U00013bbd. a",  # a hieroglyph of Unicode 16
        "\u1c89. \u1c8a said so. A",
        "At 5 \U00010d41. He left. \U00010d41. He left.",  # a digit of Unicode 16
        "\u0cf3. b \u0cf3. B \U00011f50. Then. \U00011f50. then.",
        "\U00031350. \u5927 \U00031350. a",
    ],
)
def test_characters_newer_than_pythons_tables_are_what_older_ones_of_their_kind_are_to_nltk(text: str) -> None:
    for whole in (text, f"{text} It rained there. " * 200):
        sentences = english().segment(whole)
        assert [*map(alike, sentences)] == by_nltk(english_by_nltk(), alike(whole))
        assert " ".join(sentences) == whole.strip()
