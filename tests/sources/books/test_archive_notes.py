"""Notes, credits and licences of archives go from both ends of a book; what an author wrote stays."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from bertdata.sources.books.read import clean_book

GOLD = tomllib.loads(Path(__file__).with_name("archive_gold.toml").read_text(encoding="utf-8"))
OWN = [(case["name"], case["text"]) for case in GOLD["own"]]
ADDED, AT_THE_END = (
    [(case["name"], case["text"]) for case in GOLD["added"] if case.get("only", place) == place]
    for place in ("front", "back")
)
AT_THE_END = [case for case in AT_THE_END if case[0] != "Google's scans"]
"""What Google puts before its scans stands there alone."""
PARAGRAPHS = [
    f"It was a dark and stormy night of {month}, and nobody in the little town had gone out since the\nclock of the "
    "church had struck seven, for the wind was terrible and cold."
    for month in ("January", "March", "April", "May", "June", "July", "August", "October")
]
PROSE = [" ".join(paragraph.split()) for paragraph in PARAGRAPHS]
BODY = "\n\n".join(PARAGRAPHS)
START = "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n"
END = "\n\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\n"


@pytest.mark.parametrize(("start", "end", "compiled"), [("", "", True), (START, END, False)])
@pytest.mark.parametrize(("name", "added"), ADDED, ids=[name for name, _ in ADDED])
def test_what_an_archive_added_at_the_beginning_goes(
    name: str, added: str, start: str, end: str, compiled: bool
) -> None:
    cleaned = clean_book(f"{start}{added}{BODY}{end}", compiled=compiled)
    assert cleaned is not None
    assert cleaned.split("\n\n") == PROSE


@pytest.mark.parametrize(("closing", "compiled"), [("THE END\n\n\n", False), ("\n\n", True)])
@pytest.mark.parametrize(("name", "added"), AT_THE_END, ids=[name for name, _ in AT_THE_END])
def test_what_an_archive_added_at_the_end_goes(name: str, added: str, closing: str, compiled: bool) -> None:
    cleaned = clean_book(f"{START}{BODY}\n\n{closing}{added}{END}", compiled=compiled)
    assert cleaned is not None
    assert [part for part in cleaned.split("\n\n") if part != "THE END"] == PROSE


@pytest.mark.parametrize("place", ["front", "back"])
@pytest.mark.parametrize(("name", "own"), OWN, ids=[name for name, _ in OWN])
def test_what_an_author_wrote_stays(name: str, own: str, place: str) -> None:
    text = f"{START}{own}{BODY}{END}" if place == "front" else f"{START}{BODY}\n\n{own}{END}"
    cleaned = clean_book(text)
    assert cleaned is not None
    kept = " ".join(own.split("\n\n")[-2].split())
    assert kept.replace("--", "—") in cleaned.split("\n\n")
    assert [part for part in cleaned.split("\n\n") if part in PROSE] == PROSE


def test_a_note_between_two_works_of_one_file_goes_with_its_indent() -> None:
    note = "          Transcriber's Note\n\n  The second book was compared with another copy.\n\n"
    cleaned = clean_book(f"{BODY}\n\n{note}{BODY}")
    assert cleaned is not None
    assert cleaned.split("\n\n") == PROSE * 2


def test_a_note_of_one_sentence_takes_nothing_of_the_author_with_it() -> None:
    note = "Transcription note: the spelling of the book was left as it is.\n\n"
    cleaned = clean_book(f"{START}{BODY}\n\n{note}{BODY}{END}")
    assert cleaned is not None
    assert cleaned.split("\n\n") == PROSE + PROSE
