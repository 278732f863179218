"""A book as chapters: where they begin, what they are called, and that no paragraph is lost between them."""

from __future__ import annotations

import pytest

from bertdata.sources.books.read import clean_book, clean_chapters, read_books
from tests.data import data_path

PROSE = "The lamp had gone out, and nobody in the house knew where the matches were kept that winter. " * 8


def titles(text: str) -> list[str]:
    return [chapter.title for chapter in clean_chapters(text)]


def book(*headings: str, prose: str = PROSE) -> str:
    return "".join(f"{heading}\n\n{prose}\n\n\n" for heading in headings)


@pytest.mark.parametrize(
    "headings",
    [
        ("CHAPTER I", "CHAPTER II", "CHAPTER III"),
        ("Chapter 1. The Sea", "Chapter 2. The Shore"),
        ("PREFACE", "STAVE ONE", "STAVE TWO", "EPILOGUE"),
        ("Chapitre I", "Chapitre II"),
        ("I", "II", "III"),
        ("I. FATE.", "II. POWER."),
        ("THE GOLDEN BIRD", "THE FROG PRINCE"),
    ],
)
def test_a_chapter_begins_at_each_heading_of_its_kind(headings: tuple[str, ...]) -> None:
    assert titles(book(*headings)) == list(headings)


def test_a_number_inside_named_chapters_begins_none() -> None:
    assert titles(book("CHAPTER I", "II", "CHAPTER II", "THE LETTER")) == ["CHAPTER I", "CHAPTER II"]


def test_a_title_under_the_number_belongs_to_it() -> None:
    text = book("CHAPTER I\n\nTHE SEA", "CHAPTER II\n\nTHE SHORE")
    assert titles(text) == ["CHAPTER I THE SEA", "CHAPTER II THE SHORE"]


def test_a_table_of_contents_is_in_no_title() -> None:
    contents = "CONTENTS\n\nCHAPTER I. The Sea\n\nCHAPTER II. The Shore\n\n\n"
    assert titles(contents + book("CHAPTER I. The Sea", "CHAPTER II. The Shore")) == [
        "CHAPTER I. The Sea",
        "CHAPTER II. The Shore",
    ]


def test_what_stands_before_the_first_heading_has_no_title() -> None:
    assert titles(PROSE + "\n\n" + book("CHAPTER I", "CHAPTER II")) == ["", "CHAPTER I", "CHAPTER II"]


@pytest.mark.parametrize("text", [PROSE, book("CHAPTER I"), book("SIR,", "MADAM,"), book("ANNA", "OTTO", prose="Yes.")])
def test_a_book_that_its_headings_do_not_divide_is_one_chapter(text: str) -> None:
    assert len(clean_chapters(text)) == 1


def test_lines_of_sentences_are_parted_at_their_labels() -> None:
    text = "chapter 1\n" + "it rained .\nit stopped .\n" * 20 + "chapter 2\n" + "she left .\nhe stayed .\n" * 20
    assert titles(text) == ["chapter 1", "chapter 2"]


def test_a_book_without_prose_has_no_chapters_and_is_counted() -> None:
    from collections import Counter

    drops: Counter[str] = Counter()
    assert clean_chapters("CHAPTER I\n\nCHAPTER II\n", drops=drops) == []
    assert drops == {"no prose": 1}


@pytest.mark.parametrize(("name", "chapters"), [("1184-0.txt", 117), ("pg768.txt", 34), ("pg1250.txt", 12)])
def test_real_books_have_their_chapters_and_lose_no_paragraph(name: str, chapters: int) -> None:
    [book] = read_books(str(data_path("books", name)))
    cut = clean_chapters(book.text)  # type: ignore[union-attr]
    assert len(cut) == chapters
    assert "\n\n".join(chapter.text for chapter in cut) == clean_book(book.text)  # type: ignore[union-attr]
