"""Paragraphs for tests of books, wrapped as a book has them, and what cleaning makes of them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from bertdata.sources.books.read import Book, clean_book, read_books

FIRST = (
    "It was four o'clock when the ceremony was over and the carriages began to arrive, and a crowd had followed "
    "all the way from the church to the hall where the supper was laid out upon three long tables."
)
SECOND = (
    "Nobody in the street could remember such a supper, though the old schoolmaster, who remembered everything, said "
    "that the one given for his own father had been longer by a full hour and a good deal louder towards the end."
)
SPEECH = "“You never told me that,” said Anna."


def wrap(paragraph: str, indent: str = "") -> str:
    return textwrap.fill(paragraph, 72, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def clean(*blocks: str) -> list[str]:
    cleaned = clean_book("\n\n".join(blocks) + "\n")
    return cleaned.split("\n\n") if cleaned else []


def in_a_book(*blocks: str) -> list[str]:
    """Clean blocks between two paragraphs of prose; return what they became."""
    cleaned = clean(wrap(FIRST), *blocks, wrap(SECOND))
    assert (cleaned[0], cleaned[-1]) == (FIRST, SECOND)
    return cleaned[1:-1]


def write(folder: Path, name: str, data: bytes) -> str:
    target = folder / name
    target.write_bytes(data)
    return str(target)


def books(path: str, *, part_bytes: int = 16 << 20) -> list[Book]:
    volumes = list(read_books(path, part_bytes=part_bytes))
    assert all(isinstance(book, Book) for book in volumes)
    return [book for book in volumes if isinstance(book, Book)]
