"""What the layout of lines says of them: the shortcuts decide as the plain definitions do."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.sources.books import block_kinds
from bertdata.sources.books.block_kinds import is_synopsis
from bertdata.sources.books.headings import rank_of
from bertdata.sources.books.layout import blocks_of, prose_of
from bertdata.sources.books.read import clean_book

LINE = st.text(st.sampled_from("abIVX 19.,-£*|§é_—"), min_size=1, max_size=30).map(lambda line: line.strip() or "a")


@given(st.text())
def test_signs_are_counted_one_by_one(text: str) -> None:
    assert block_kinds.count_signs(text) == sum(text.count(sign) for sign in "0123456789.,;:'-_=*|#/\\~<>+()[]{}^&%$£")


@given(st.lists(LINE, min_size=1, max_size=9))
def test_a_list_is_what_has_more_entries_than_other_lines(lines: list[str]) -> None:
    entries = [bool(block_kinds.ends_in_number(line) or block_kinds.ENTRY.match(line)) for line in lines]
    assert block_kinds.is_list(lines) == (2 * sum(entries) > len(lines))


def test_a_line_of_contents_ends_in_the_number_of_a_page() -> None:
    ends = ["The Sea .... 12", "The Sea  7", "Preface,xiv", "The Sea   iv"]
    others = ["The Sea 12", "The Sea .... 12345", "Preface,xiv.", "The Sea   in", "It was  12th"]
    assert [line for line in [*ends, *others] if block_kinds.ends_in_number(line)] == ends


def test_headings_say_how_many_paragraphs_stand_before_them() -> None:
    prose = "The lamp had gone out, and nobody in the house knew where the matches were."
    _, headings = prose_of(blocks_of(["CHAPTER I", "", prose, "", prose, "", "CHAPTER II", "", prose]))
    assert headings == [(0, "CHAPTER I"), (2, "CHAPTER II")]


@pytest.mark.parametrize(
    ("heading", "rank"),
    [
        *[("Introduction", 0), ("FINIS", 0), ("Chapter the Last", 1), ("LIVRE PREMIER", 3), ("FIRST BOOK", 1)],
        *[("XIV.", 2), ("7", 2), ("3. The Sea", 2), ("The Sea", 3), ("SIR,", 4), ("List of Plates", 4)],
    ],
)
def test_a_heading_has_the_rank_of_what_it_names(heading: str, rank: int) -> None:
    assert rank_of(heading) == rank


LONG = (
    "It was raining, and the harbour lay so still that every boat had its double in the water below it, mast and all."
)


def prose(*paragraphs: str) -> list[str]:
    """Return the prose of paragraphs with blank lines between them, after a first one."""
    return prose_of(blocks_of([LONG, *(line for paragraph in paragraphs for line in ("", paragraph)), "", LONG]))[0]


@pytest.mark.parametrize("beginning", ["He went down to the", "Then she and the boy", "and so, as the old man"])
def test_a_sentence_that_a_blank_line_cuts_goes_on_in_small_letters(beginning: str) -> None:
    rest = "looked for the boat, and found it gone. Nobody had heard anything in the night."
    assert prose(beginning, rest) == [LONG, f"{beginning} {rest}", LONG]


@pytest.mark.parametrize(
    "lines",
    [
        ("The Lonely Road", "it was late when they came home, and nobody spoke a word of it."),
        ("CHAPTER II", "it was late when they came home, and nobody spoke a word of it."),
        ("He went down to the", "Nobody had heard anything in the night."),
    ],
)
def test_a_title_is_none_and_a_line_after_which_something_else_begins(lines: tuple[str, str]) -> None:
    assert prose(*lines) == [LONG, lines[1], LONG]


def test_small_letters_on_a_title_page_are_no_sentence() -> None:
    assert prose_of(blocks_of(["the story of my life", "", "by", "", "a sailor", "", LONG]))[0] == [LONG]


@pytest.mark.parametrize("width", [45, 60, 75])
def test_the_first_lines_of_a_text_with_a_blank_line_after_each_are_no_title_page(width: int) -> None:
    paragraph = (
        "It was a dark and stormy night, and nobody in the little town had gone out since the clock of the church"
    )
    lines = textwrap.wrap(
        f"{paragraph} had struck seven, for the wind was terrible and cold, and the sea rose. " * 6, width
    )
    title = ["The Salt Sea", "by", "a sailor"]
    cleaned = clean_book("\n\n".join([*title, *lines]))
    assert cleaned
    assert " ".join(cleaned.split()) == " ".join(lines)


def test_a_space_before_a_small_letter_begins_no_paragraph() -> None:
    lines = [
        "The town was silent, and the lamps burned low; every house that was called “haunted”",
        " house in the town had been dug up by boys and by men, who had found nothing there at all",
        "but a few nails and a shoe. Nobody went out, for the wind was cold and the clock had struck.",
        "The children had gone home long before, and the doors of all the houses had been shut well.",
        " Morning came, and the river lay still under the fog, as it had done on each day of the year",
        "that was now over; and nobody in the town had seen the old man since the clock struck seven.",
    ]
    cleaned = clean_book("\n".join(lines) + "\n\n" + "\n".join(lines[2:4]) + "\n")
    assert cleaned is not None
    assert cleaned.split("\n\n")[:2] == [
        " ".join(line.strip() for line in lines[:4]),
        " ".join(line.strip() for line in lines[4:]),
    ]


@pytest.mark.parametrize(
    ("lines", "synopsis"),
    [
        ("—Quédese usted —dijo ella al capitán—, pero no quiero canciones.", False),
        ("— Оставайтесь, — сказала она капитану, — но песен в доме не будет.", False),
        ("– Zůstaňte – řekla kapitánovi – ale písně tu nechci.", False),
        ("--Restez, dit-elle; mais--et elle regarda la porte--sans chansons.", False),
        ("—¡Juan! —¿Qué hay? —Nada.", False),
        ("I look back, once more--for the last time--before I close these leaves.", False),
        ("“You said, sir, you would like to help me, but——”", False),
        ("The first thing he said to me when we met was:--", False),
        ("The Boat comes in--No Songs--A Carriage Drive--At Sea at last", True),
        ("--The First Landing on a Foreign Shore--Sensation among the Natives--Dinner", True),
        ("Civilizing Huck.--Miss Watson.--Tom Sawyer waits.", True),
    ],
)
def test_a_synopsis_has_titles_between_dashes_and_speech_has_sentences(lines: str, synopsis: bool) -> None:
    assert is_synopsis(lines.split("\n")) is synopsis


@pytest.mark.parametrize("indent", [2, 5])
def test_indented_paragraphs_without_blank_lines_are_those_with_them(indent: int) -> None:
    words = [
        "When",
        "the",
        "boat",
        "came",
        "in",
        "at",
        "last",
        "nobody",
        "on",
        "the",
        "quay",
        "could",
        "say",
        "where",
        "it",
        "had",
        "been",
        "in",
        "all",
        "these",
        "days",
    ]
    paragraphs = [" ".join(words[: 5 + place * 7 % 16] * (1 + place % 3)) + "." for place in range(60)]
    lines = [textwrap.wrap(text, 66, initial_indent=" " * indent) for text in paragraphs]
    assert prose_of([[line for block in lines for line in block]])[0] == paragraphs


def test_indented_lines_of_verse_are_no_paragraphs() -> None:
    stanza = ["  The boat went out at break of day,", "With all her sails a-gleaming,"]
    verse = stanza * 20
    assert prose_of([verse], width=38)[0] == [" ".join(map(str.strip, verse))]
