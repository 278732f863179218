"""Chapters: a book's paragraphs, split at the headings that begin a new division.

The headings that count are those of one rank and above: divisions by name ("Chapter 4") where there are at least two,
else by number, else by layout alone. A title is the heading's last division and the lines under it, without a table of
contents before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from bertdata.sources.books.headings import Heading, rank_of

_SHORT, _MOST_SHORT = 500, 0.2
_TITLE_LINES = 3


@dataclass(frozen=True)
class Chapter:
    """A chapter: its title, empty before the first heading, and its paragraphs, separated by a blank line."""

    title: str
    text: str


def cut_chapters(paragraphs: Sequence[str], headings: Sequence[Heading]) -> list[Chapter]:
    """Return the chapters of a book; one without a title where its headings do not divide it.

    >>> cut_chapters(["It rained.", "It stopped."], [Heading(0, "CHAPTER I"), Heading(1, "CHAPTER II")])
    [Chapter(title='CHAPTER I', text='It rained.'), Chapter(title='CHAPTER II', text='It stopped.')]
    """
    places = {
        place: [heading.line for heading in group]
        for place, group in groupby(headings, lambda heading: heading.paragraphs)
        if place < len(paragraphs)
    }
    ranks = {place: [rank_of(line) for line in lines] for place, lines in places.items()}
    chosen = next((rank for rank in (1, 2, 3) if _divides(paragraphs, ranks, rank)), -1)
    begins = [place for place in places if min(ranks[place]) <= chosen]
    titles = {0: "", **{place: _title(places[place], ranks[place], chosen) for place in begins}}
    borders = [*sorted(titles), len(paragraphs)] if paragraphs else []
    return [Chapter(titles[start], "\n\n".join(paragraphs[start:end])) for start, end in pairwise(borders)]


def _divides(paragraphs: Sequence[str], ranks: dict[int, list[int]], rank: int) -> bool:
    """Tell whether the headings of a rank make at least two chapters, and, for headings by layout, few short ones."""
    begins = [
        place for place, place_ranks in ranks.items() if any(0 < heading_rank <= rank for heading_rank in place_ranks)
    ]
    if rank < 3 or len(begins) < 2:
        return len(begins) > 1
    lengths = [sum(map(len, paragraphs[start:end])) for start, end in pairwise([*begins, len(paragraphs)])]
    return sum(length < _SHORT for length in lengths) <= _MOST_SHORT * len(lengths)


def _title(lines: Sequence[str], ranks: Sequence[int], chosen: int) -> str:
    last = max(number for number, rank in enumerate(ranks) if rank <= chosen)
    return " ".join(" ".join(lines[last : last + _TITLE_LINES]).strip("_*= ").split())
