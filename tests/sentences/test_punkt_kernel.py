"""The kernel against its readable twin and NLTK, within bounds, with and without compiling."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.kernels.jit import kernel
from bertdata.sentences import PunktParameters, SentenceSegmenter, batch, words_kernel
from bertdata.sentences import compiled_parameters as tables
from bertdata.sentences.batch import find_spans
from bertdata.sentences.classifier import BreakClassifier
from bertdata.sentences.compiled_parameters import build_tables, hash_bytes
from bertdata.sentences.parameters import load_parameters
from tests.generated import examples
from tests.sentences.texts import by_nltk, english, english_by_nltk, texts

ROOT = Path(__file__).resolve().parents[2]


@kernel
def flags_of(data: Any, chars: Any) -> Any:
    return words_kernel.character_flags(data, 0, data.size, chars)


SMALL = PunktParameters(
    abbrev_types=frozenset({"mr", "e.g", "", "x-y", "5", "..", "\u00e9", "\u03c3"}),
    collocations=frozenset(
        {("##number##", "mai"), ("j", "bach"), (".", "the"), ("..", "a"), ("mr", '"'), ("e.g", "?")}
    ),
    sent_starters=frozenset({"the", "\u00e9t\u00e9", "mr."}),
    ortho_context={
        "the": 46,
        "\u00e9t\u00e9": 32,
        "mr.": 34,
        "bach": 4,
        "\u043c\u0438\u0440": 126,
        "a": 8,
        "##number##": 2,
    },
)


@given(st.lists(texts(), min_size=1, max_size=5))
@settings(max_examples=examples(150), deadline=None)
def test_columns_give_the_sentences_of_the_twin_and_of_nltk(rows: list[str]) -> None:
    rows = [row.replace("\ud800", "") for row in rows]
    sentences = english().segment_batch(rows).to_pylist()
    assert sentences == [[row[a:b] for a, b in english()._classifier.spans(row)] for row in rows]
    assert sentences == english().segment_batch(rows, compiled=False).to_pylist()
    assert sentences == [by_nltk(english_by_nltk(), row) for row in rows]
    assert [
        [sentence.rstrip() for sentence in row]
        for row in english().segment_batch(rows, keep_whitespace=True).to_pylist()
    ] == sentences


@pytest.mark.parametrize("name", ["english", "german", "french", "polish"])
def test_words_that_end_as_abbreviations_do_are_told_from_them(name: str) -> None:
    parameters = load_parameters(name)
    segmenter = SentenceSegmenter(parameters)
    words = sorted(parameters.abbrev_types | {first for first, _ in parameters.collocations})[::7]
    words += ["a" * length for length in range(1, 66)]
    forms = [form for word in words for form in (word, word.title(), word.upper(), f"{word}s", f"x{word[1:]}")]
    ends = (" The rest of it", " the rest of it", " Nine", "..")
    rows = [f"So it {form}.{end} ended." for form in forms for end in ends]
    assert segmenter.segment_batch(rows).to_pylist() == segmenter.segment_batch(rows, compiled=False).to_pylist()


WHITE_SPACE = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
"""What `str.strip` takes; U+001C to U+001F are no white space to Punkt's patterns."""


@pytest.mark.costly
@pytest.mark.parametrize("space", WHITE_SPACE, ids=ascii)
def test_every_white_space_between_marks_gives_the_sentences_of_the_twin_and_of_nltk(space: str) -> None:
    alphabet = sorted({".", "a", "\xa0", space})
    rows = ["".join(row) for length in range(1, 6) for row in itertools.product(alphabet, repeat=length)]
    sentences = english().segment_batch(rows).to_pylist()
    assert sentences == [english().segment(row) for row in rows] == [by_nltk(english_by_nltk(), row) for row in rows]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (".\xa0.\xa0.\x1c", [".", ".\xa0."]),
        ("A. \n.\x1c\x1c", ["A. \n."]),
        ("A. \n.\x1f \x1c\n\n\x1d\nB. b.\x1e", ["A. \n.", "B. b."]),
        ("A. \n.\x1c \x1c\nB", ["A.", ".\x1c \x1c\nB"]),
    ],
)
def test_what_strip_takes_from_the_end_of_a_paragraph_decides_nothing(text: str, sentences: list[str]) -> None:
    assert english().segment(text) == english().segment_batch([text]).to_pylist()[0] == sentences
    assert by_nltk(english_by_nltk(), text) == sentences


@given(texts(), st.sampled_from([4, 5, 7, 1 << 14]))
@settings(max_examples=examples(300), deadline=None)
def test_odd_parameters_and_any_room_for_records_give_the_sentences_of_the_twin(text: str, room: int) -> None:
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "RECORDS", room)
        spans = find_spans(data, np.array([0, len(data)]), build_tables(SMALL), BreakClassifier(SMALL).decide)
    pieces = [bytes(data[a:b]).decode("utf-8", "surrogatepass") for a, b in zip(spans.starts, spans.stops, strict=True)]
    assert pieces == [text[a:b] for a, b in BreakClassifier(SMALL).spans(text)]


@given(st.binary(max_size=60), st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=examples(300), deadline=None)
def test_bytes_that_are_not_utf_8_give_spans_inside_their_row_or_an_error_with_the_place(
    data: bytes, one: int, other: int
) -> None:
    first, last = sorted((min(one, len(data)), min(other, len(data))))
    offsets = np.array([0, first, last, len(data)])
    try:
        spans = find_spans(np.frombuffer(data, np.uint8), offsets, english()._tables, english()._classifier.decide)
    except InputError:
        return
    rows = np.repeat(np.arange(3), spans.counts)
    assert (offsets[rows] <= spans.starts).all()
    assert (spans.starts < spans.stops).all()
    assert (spans.stops <= offsets[rows + 1]).all()


def test_a_row_that_is_not_utf_8_is_named_with_the_byte() -> None:
    bad = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 2, 9], np.int32)), pa.py_buffer(b"A.etc\xff. B")]
    )
    for compiled in (True, False):
        with pytest.raises(InputError, match=r"row 1 is not UTF-8 .byte 0xff at byte 3 of the row"):
            english().segment_batch(bad, compiled=compiled)


def test_offsets_outside_the_data_are_refused() -> None:
    for offsets in ([0, 3, 1, 4], [1, 0, 2, 4], [0, -1, 2, 4]):
        buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"A. B")]
        with pytest.raises(InputError, match="do not fit its data"):
            english().segment_batch(pa.Array.from_buffers(pa.string(), 3, buffers))


@pytest.mark.parametrize("pair", [("ahgkbjkh", "acjjnhkc"), ("kpinekkj", "jniljead")])
def test_words_with_one_hash_are_still_two_words(pair: tuple[str, str]) -> None:
    assert hash_bytes(pair[0].encode()) == hash_bytes(pair[1].encode())
    segmenter = SentenceSegmenter(PunktParameters(abbrev_types=frozenset(pair[:1])))
    rows = segmenter.segment_batch([f"The {word}. house" for word in pair]).to_pylist()
    assert [len(row) for row in rows] == [1, 2]


def test_a_text_longer_than_one_round_of_records_is_cut_like_its_parts() -> None:
    part = 'He met Mr. Brown (of Rome, Ga.). "Who?" \u201cYou!\u201d Go!! on...\n\nNext. '
    spans = english().spans(part)
    many = english().spans(part * 7000)
    assert len(many) == 7000 * len(spans)
    assert many[-1][1] == len(part) * 6999 + spans[-1][1]


CHECK = """
import hashlib, json, sys
from bertdata import SentenceSegmenter
from bertdata.sentences import batch
batch.RECORDS = 5
rows = json.load(sys.stdin)
for join in (False, True):
    segmenter = SentenceSegmenter.from_pretrained(attach_citations=join)
    print(hashlib.sha256(json.dumps(segmenter.segment_batch(rows).to_pylist()).encode()).hexdigest())
"""


@pytest.mark.parametrize("data", [b"\xff", b"\x80", b"\xe4\xb8", b"\xed\xa0\x80", "\u3100".encode()])
def test_bytes_that_are_no_character_and_those_beyond_the_table_have_no_flags_of_others(data: bytes) -> None:
    chars = np.zeros(tables.FLAGS + tables.KNOWN, np.uint8)
    assert flags_of(np.frombuffer(data, np.uint8), chars) == tables.RARE


@pytest.mark.parametrize("setting", ["NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT"])
@pytest.mark.slow
def test_bounds_checks_find_nothing_and_plain_python_gives_the_same(setting: str, tmp_path: Path) -> None:
    chance = random.Random(5)
    pieces = [
        *".?! \n'\"-,\u201d\u00e9\u4e2d5aA\xa0\x1c",
        "Mr. ",
        "e.g. ",
        "U.S. ",
        "The ",
        "J. Bach",
        "etc",
        "..",
        ". [3] ",
        ". [a]",
        "[\u2026]",
        "--",
        "\n\n",
    ]
    rows = ["".join(chance.choices(pieces, k=length)) for length in (*range(60), 3000)]
    digests = set()
    for value in ("0", "1"):
        environment = os.environ | {setting: value, "NUMBA_CACHE_DIR": str(tmp_path / value)}
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", CHECK],
            input=json.dumps(rows),
            capture_output=True,
            text=True,
            env=environment,
            cwd=ROOT,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        digests.add(run.stdout)
    assert len(digests) == 1


@pytest.mark.slow
def test_a_kernel_works_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "file" / "below"), "HOME": str(tmp_path / "file")}
    code = "import bertdata; one = bertdata.SentenceSegmenter.from_pretrained(); "
    code += "print(one.segment_batch(['A b. C d.']).to_pylist())"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=ROOT, check=True
    )
    assert run.stdout.split() == ["[['A", "b.',", "'C", "d.']]"]
