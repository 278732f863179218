"""Paragraphs and sentences as places in texts, the texts without some of them, and their words."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.curation.dedup.spans.folded import fold, fold_plainly
from bertdata.curation.dedup.spans.text_units import (
    Units,
    paragraph_units,
    sentence_units,
    text_without,
    whole_units,
)
from bertdata.documents import paragraphs
from tests.curation.dedup.spans.corpus import SEGMENTER
from tests.generated import examples

HOSTILE = st.text(st.sampled_from("ab. \n\r\t\0é日İß\u00a0\u2028\ufffd😀Ⱥ."), max_size=40)


def strings(units: Units, text: int = 0) -> list[str]:
    places = range(int(units.borders[text]), int(units.borders[text + 1]))
    return [units.data[units.begins[place] : units.ends[place]].tobytes().decode() for place in places]


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(HOSTILE, max_size=4))
def test_the_paragraphs_of_stored_documents_are_what_blank_lines_separate(texts: list[str]) -> None:
    stored = [paragraphs(text) for text in texts]
    units = paragraph_units(pa.array(stored, pa.string()))
    for number, text in enumerate(stored):
        assert [unit.strip() for unit in strings(units, number)] == [
            part for part in text.split("\n\n") if part.strip()
        ]


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(HOSTILE, max_size=4), st.randoms(use_true_random=False))
def test_units_cover_all_but_white_space_and_what_is_left_are_the_others(texts: list[str], draw: object) -> None:
    array = pa.array(["x", *texts, "y"], pa.string()).slice(1, len(texts))
    for units in (paragraph_units(array), sentence_units(array, SEGMENTER)):
        for number, text in enumerate(texts):
            units_text = strings(units, number)
            assert "".join("".join(units_text).split()) == "".join(text.split())
            chosen = np.array([draw.random() < 0.5 for _ in units_text], np.bool_)  # type: ignore[attr-defined]
            kept = [unit for unit, out in zip(units_text, chosen, strict=True) if not out]
            assert "".join(text_without(units, number, chosen).split()) == "".join("".join(kept).split())
            nothing = np.zeros(len(units_text), np.bool_)
            whole = text_without(units, number, nothing)
            assert whole in text
            assert whole.split() == text.split()


def test_what_stood_between_two_units_stays_and_a_blank_line_is_not_lost() -> None:
    text = "One.  Two. Three.\n\nFour.\nFive. Six."
    units = sentence_units(pa.array([text]), SEGMENTER)

    def without(*places: int) -> str:
        return text_without(units, 0, np.isin(np.arange(6), places))

    assert without(1) == "One. Three.\n\nFour.\nFive. Six."
    assert without(2) == "One.  Two.\n\nFour.\nFive. Six."
    assert without(2, 3, 4) == "One.  Two.\n\nSix."
    assert without(0, 1, 2) == "Four.\nFive. Six."
    assert without(*range(6)) == ""


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(HOSTILE, max_size=5))
def test_the_kernel_folds_words_as_plain_python_does(texts: list[str]) -> None:
    array = pa.array(["ß", *texts], pa.string()).slice(1)
    for units in (whole_units(array), paragraph_units(array)):
        folded, plain = fold(units), fold_plainly(units)
        assert [folded.of(unit, unit).decode() for unit in range(len(plain))] == plain
        assert folded.words.tolist() == [len(text.split()) for text in plain]
        for first in range(len(plain)):
            for last in range(first, len(plain)):
                joined = " ".join(text for text in plain[first : last + 1] if text)
                assert folded.of(first, last).decode() == joined


def test_no_letter_needs_more_room_than_there_is() -> None:
    for code in [*range(0x20, 0x600), *range(0x1E00, 0x2000), 0x212A, 0xFB00, 0x1F600, 0x10400]:
        units = whole_units(pa.array([chr(code) * 20, " ".join(chr(code) * 20)]))
        folded = fold(units)
        assert [folded.of(unit, unit).decode() for unit in range(2)] == fold_plainly(units), code
