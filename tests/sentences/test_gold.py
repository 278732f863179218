"""How many boundaries of sentences written for this project are found, language by language."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.sentences import SentenceSegmenter

GOLD = Path(__file__).parent / "gold"
PUNKT = {
    "de": ("german", 0.97),
    "fr": ("french", 0.94),
    "it": ("italian", 0.97),
    "es": ("spanish", 0.98),
    "nl": ("dutch", 0.95),
    "pl": ("polish", 0.95),
    "ru": ("russian", 0.93),
}
MARKED = {"ja": 0.98, "zh": 0.97, "hi": 0.97, "ar": 0.98}


def f1(code: str, segmenter: SentenceSegmenter) -> float:
    """Return the F1 of the boundaries inside paragraphs, each given by the characters before it without white space."""
    space = "" if code in ("ja", "zh") else " "
    both = ours_count = expected = 0
    for paragraph in (GOLD / f"{code}.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        gold = paragraph.split("\n")
        ours, theirs = boundaries(segmenter.segment(space.join(gold))), boundaries(gold)
        both, ours_count, expected = both + len(ours & theirs), ours_count + len(ours), expected + len(theirs)
    return 2 * both / (ours_count + expected)


def boundaries(sentences: list[str]) -> set[int]:
    lengths = [len("".join(sentence.split())) for sentence in sentences]
    return {sum(lengths[:number]) for number in range(1, len(lengths))}


@pytest.mark.parametrize("code", PUNKT)
def test_parameters_of_a_language_find_its_sentences_and_the_english_ones_fewer(code: str) -> None:
    name, least = PUNKT[code]
    assert f1(code, SentenceSegmenter.from_pretrained(name)) > least > f1(code, SentenceSegmenter.from_pretrained())


@pytest.mark.parametrize("code", MARKED)
def test_marks_of_other_scripts_find_their_sentences(code: str) -> None:
    marked = f1(code, SentenceSegmenter.from_pretrained(sentence_marks=True))
    assert marked > MARKED[code] > f1(code, SentenceSegmenter.from_pretrained())
