"""What archives and transcribers put before and behind a book: notes under headings, credits, licences, page marks.

A small grammar of headings and paragraphs. A note begins with a heading that says whose note it is, and ends where its
layout does: with its indent, at a wider gap, at the next heading. A paragraph is the archive's if it speaks of things
that no paper book speaks of: an e-text, an address of the web, page images; or copyright, the public domain and a file
together. Only the blocks before the first paragraphs of prose and behind the last ones are looked at, and what tells of
him, her or me stays: it may be the author's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from bertdata.sources.books.archive_terms import (
    COMPARED_WITH_PRINT,
    CORRECTED,
    DIGITAL,
    ERRATA_HEAD,
    NARRATED,
    NOTE_AT_ONCE,
    NOTE_HEAD,
    OF_A_NOTE,
    OF_RIGHTS,
    READER_HEAD,
    SHOWN_BY_MARKS,
    is_of_archive,
    points_of,
)

FRONT_BLOCKS, BACK_BLOCKS = 80, 60
_NOTE_BLOCKS = 20
_WIDE_GAP = 3
"""Blank lines from which a gap divides a transcriber's note from the title page."""
_PROSE = 2
"""Paragraphs of prose after which the beginning of a book is over."""
_HEAD_LIMIT = 80

_EDITION_HEAD = re.compile(
    r"^\W*(?:imprint|colophon|uncopyright|about\s+this\s+(?:digital|electronic)\s+(?:edition|book|text)|"
    r"à\s+propos\s+de\s+cette\s+édition\s+(?:électronique|numérique)|über\s+diese\s+(?:digitale|elektronische)\s+ausgabe|"
    r"informa\w+\s+su\s+questa\s+edizione\s+elettronica|sobre\s+esta\s+edición\s+(?:digital|electrónica))\W*$",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"^\W*+(?:[\w'’/]+ ){0,8}?(?:title|author|date|place|edition|language|posted|updated|e-?book|produced|credits?|"
    r"publish\w*|publication|release|series|illustrator|translator|editor|encoding|source|subject|original)\b"
    r"(?:[ /][\w'’#]+){0,6}:(?:\s|$)|^\W*+[\w ]{0,30}e-?(?:book|text)\s+(?:no\.?|#)",
    re.IGNORECASE,
)
_PAGE_MARK = re.compile(
    r"^(?:Digitized by (?:Google|the Internet Archive\b.{0,60}|Microsoft\b.{0,5})|Original from .{3,60}|"
    r"Generated (?:for|on|at|by) .{3,80}(?:GMT|UTC)\b.{0,120}|https?://(?:hdl\.handle\.net|babel\.hathitrust\.org|"
    r"(?:www\.)?archive\.org/details|(?:www\.)?hathitrust\.org|books\.google\.\w)\S*+|with funding from .{3,60}|"
    r"Public Domain(?:,| in the United States,) Google-digitized\b.{0,80}|"
    r"Creative Commons.{0,80}hathitrust.{0,60})[ \t]*$",
    re.IGNORECASE,
)
_OF_GOOGLE = re.compile(r"digital copy of a book that was preserved for generations", re.IGNORECASE)
_GOOGLE_ENDS = re.compile(r"books\s?\.\s?google\s?\.", re.IGNORECASE)
_END_MARK = re.compile(r"^\W*(?:the\s+end|finis|end|fin|ende|fine|fim|einde)\W*$", re.IGNORECASE)


class _Block(NamedTuple):
    """Lines without a blank one: the first, the one after the last, their text, indent, and the blank lines before."""

    begin: int
    end: int
    text: str
    lines: tuple[str, ...]
    indent: int
    gap: int

    @property
    def is_heading(self) -> bool:
        """Whether it may be a heading: a line or two without a sentence's end."""
        small = len(self.lines) <= 2 and len(self.text) <= _HEAD_LIMIT
        return small and (self.text.isupper() or self.text.rstrip("\"”' _")[-1:] not in ".,;:!?")

    @property
    def is_prose(self) -> bool:
        """Whether it is a paragraph of some length that ends as a sentence does."""
        return len(self.text) >= 150 and self.text.rstrip("\"”’'*_)] ")[-1:] in ".!?…:;—-"


def without_archive_notes(lines: Sequence[str], text: str) -> list[str]:
    """Return a book's lines without what an archive added at its beginning and its end, and without marks of its pages.

    text: the whole text, of whose lines these are.

    >>> prose = "It was a dark and stormy night, and nobody in the town had gone out since the clock struck seven. " * 2
    >>> note = ["  Transcriber's Note", "", "Obvious errors were corrected.", "", ""]
    >>> without_archive_notes([*note, prose], prose) == [prose]
    True
    """
    unmarked = list(lines)
    marks = {line for line in lines if line[:1] in _MARK_LETTERS and _PAGE_MARK.match(line)}
    if marks and any(word in text for word in _MARK_WORDS):
        unmarked = [line for line in lines if line not in marks]
    dropped: set[int] = set()
    front = list(islice(_blocks(unmarked, 0), FRONT_BLOCKS + _NOTE_BLOCKS + 1))
    back = list(_blocks(unmarked, _begin_of_last(unmarked)))
    for blocks, gone in ((front, _front(front)), (back, _back(back, len(text)))):
        for number in gone:
            dropped.update(range(blocks[number].begin, blocks[number].end))
    if not dropped:
        return unmarked
    remaining = [line for number, line in enumerate(unmarked) if number not in dropped]
    first = next((number for number, line in enumerate(remaining) if line.strip()), len(remaining))
    return remaining[first:]


def _begin_of_last(lines: Sequence[str]) -> int:
    """Return the number of the line with which the last `BACK_BLOCKS` + 1 blocks begin."""
    blocks, number = 0, len(lines)
    filled = False
    while number and blocks <= BACK_BLOCKS:
        number -= 1
        was, filled = filled, bool(lines[number].strip())
        blocks += was and not filled
    return number


_MARK_LETTERS = frozenset("DOGhwPC")
_MARK_WORDS = (
    "igitized",
    "riginal from",
    "enerated ",
    "handle.net",
    "athitrust",
    "athiTrust",
    "archive.org",
    "ooks.google",
)
"""What a text with marks of pages has."""


def _blocks(lines: Sequence[str], start: int) -> Iterator[_Block]:
    """Yield the blocks of lines from one of them on."""
    begin, gap = -1, 0
    for number in range(start, len(lines) + 1):
        filled = number < len(lines) and bool(lines[number].strip())
        if filled and begin < 0:
            begin = number
        if not filled:
            if begin >= 0:
                taken = tuple(line.expandtabs().rstrip() for line in lines[begin:number])
                indent = min(len(line) - len(line.lstrip()) for line in taken)
                yield _Block(begin, number, " ".join(line.strip() for line in taken), taken, indent, gap)
                begin, gap = -1, 0
            gap += 1


def _front(blocks: Sequence[_Block]) -> Iterator[int]:
    """Yield the numbers of the archive's blocks before the first paragraphs of prose."""
    number = prose = 0
    in_header = False
    while number < min(len(blocks), FRONT_BLOCKS) and prose < _PROSE:
        block = blocks[number]
        if is_note_head(block.text) or _is_edition_head(blocks, number):
            end = _end_of_note(blocks, number)
            yield from range(number, end)
            number, in_header = end, False
            continue
        if NOTE_AT_ONCE.match(block.text):
            end = _end_of_note_at_once(blocks, number)
            yield from range(number, end)
            number = end
            continue
        end = _end_of_shared_form(blocks, number, in_header)
        if end > number:
            yield from range(number, end)
            number = end
            continue
        if _OF_GOOGLE.search(block.text):
            near = range(number, min(len(blocks), number + _NOTE_BLOCKS))
            last = next((near_number for near_number in near if _GOOGLE_ENDS.search(blocks[near_number].text)), number)
            yield from range(number, last + 1)
            number = last + 1
            continue
        if is_of_archive(block.text) or (in_header and _is_header(block)):
            yield number
            in_header = True
        else:
            in_header = in_header and not block.is_prose
            prose += block.is_prose
        number += 1


def _back(blocks: Sequence[_Block], size: int) -> Iterator[int]:
    """Yield the numbers of the archive's blocks behind the last paragraphs of prose; size: characters of the book."""
    behind = 0
    for number in range(len(blocks) - 1, max(-1, len(blocks) - BACK_BLOCKS - 1), -1):
        behind += len(blocks[number].text)
        head = is_note_head(blocks[number].text) or _is_edition_head(blocks, number)
        if (head or _is_errata_head(blocks, number)) and number and _is_last_part(blocks, number, behind, size):
            yield from range(number, len(blocks))
        elif number and NOTE_AT_ONCE.match(blocks[number].text):
            yield from range(number, _end_of_note_at_once(blocks, number))
        elif number and blocks[number].text.startswith("["):
            yield from range(number, _end_of_shared_form(blocks, number, after_credits=False))
    number, prose = len(blocks) - 1, 0
    while number >= max(0, len(blocks) - BACK_BLOCKS) and prose < _PROSE:
        if is_of_archive(blocks[number].text):
            yield number
        else:
            prose += blocks[number].is_prose
        number -= 1


def _is_last_part(blocks: Sequence[_Block], number: int, behind: int, size: int) -> bool:
    """Return whether all that follows a heading of a note is that note: it is short, and no chapter begins in it."""
    if behind > size / 2:
        return False
    rest = blocks[number + 1 :]
    ended = bool(_END_MARK.match(blocks[number - 1].text))
    return ended or behind <= size / 10 or len(rest) <= 12


def is_note_head(text: str) -> bool:
    """Return whether a block of text is the heading of a transcriber's note, in any of some languages.

    >>> heads = ("TRANSCRIBER’S NOTE:", "Anmerkungen zur Transkription", "Notes du transcripteur")
    >>> [is_note_head(text) for text in heads], is_note_head("A note of the bank"), is_note_head("The Transcriber")
    ([True, True, True], False, False)
    """
    return len(text) <= _HEAD_LIMIT and bool(NOTE_HEAD.match(text)) and not _is_whole_note(text)


def _is_whole_note(text: str) -> bool:
    """Return whether a paragraph that begins with the heading of a note goes on to the end of a sentence.

    >>> [_is_whole_note(text) for text in ("Transcription note: spelling retained.", "Transcriber's Note:")]
    [True, False]
    """
    heading = NOTE_AT_ONCE.match(text)
    return heading is not None and text[heading.end() :].rstrip("\"”’'*_)] ")[-1:] in (*".!?",)


def _is_edition_head(blocks: Sequence[_Block], number: int) -> bool:
    """Return whether a heading as "Colophon" stands over something that an archive says of its edition."""
    if not _EDITION_HEAD.match(blocks[number].text):
        return False
    return any(is_of_archive(block.text) for block in blocks[number + 1 : number + 4])


def _is_errata_head(blocks: Sequence[_Block], number: int) -> bool:
    """Return whether a heading as "Errata" stands over a list of places where the file differs from its paper."""
    text = blocks[number].text
    if len(text) > _HEAD_LIMIT or not (ERRATA_HEAD.match(text) or READER_HEAD.match(text)):
        return False
    rest = " ".join(block.text for block in blocks[number + 1 :])
    compared = len(COMPARED_WITH_PRINT.findall(rest))
    if SHOWN_BY_MARKS.search(rest):
        return True
    return compared + len(CORRECTED.findall(rest)) >= 2 and (compared > 0 or points_of(rest, DIGITAL) > 0)


def _end_of_shared_form(blocks: Sequence[_Block], number: int, after_credits: bool) -> int:
    """Return the number of the block behind a note in a form that authors use, too, or `number` where none begins.

    Such are brackets, a heading as "To the reader", and, right behind the credits, paragraphs up to a wider gap.
    """
    block = blocks[number]
    if block.text.startswith("["):
        end = _end_of_brackets(blocks, number)
        return end if end and _speaks_of_its_file(blocks[number:end]) else number
    if len(block.text) <= _HEAD_LIMIT and READER_HEAD.match(block.text):
        end = _end_of_note(blocks, number)
        return end if _speaks_of_its_file(blocks[number + 1 : end]) else number
    if after_credits and block.gap >= _WIDE_GAP and not block.is_heading:
        later = range(number + 1, min(len(blocks), number + 1 + _NOTE_BLOCKS))
        end = next((other for other in later if blocks[other].gap >= _WIDE_GAP), number)
        of_notes = OF_A_NOTE.findall(" ".join(other.text for other in blocks[number:end]))
        return end if len(of_notes) >= 3 and _speaks_of_its_file(blocks[number:end]) else number
    return number


def _speaks_of_its_file(blocks: Sequence[_Block]) -> bool:
    """Return whether paragraphs together speak of the file that they are in, as no author of a paper book does."""
    text = " ".join(block.text for block in blocks)
    if NARRATED.search(text):
        return False
    digital = points_of(text, DIGITAL)
    of_a_note = OF_A_NOTE.search(text) or COMPARED_WITH_PRINT.search(text)
    return bool(SHOWN_BY_MARKS.search(text)) or digital >= 2 or (digital == 1 and bool(of_a_note))


def _end_of_brackets(blocks: Sequence[_Block], number: int) -> int | None:
    """Return the number of the block after the one that closes the bracket a block opens, None where none does."""
    depth = 0
    for block in range(number, min(len(blocks), number + 1 + _NOTE_BLOCKS)):
        depth += blocks[block].text.count("[") - blocks[block].text.count("]")
        if depth <= 0:
            return block + 1
    return None


def _end_of_note(blocks: Sequence[_Block], head: int) -> int:
    """Return the number of the block behind a note at the beginning of a book.

    An indented note ends with its indent, another note at a gap wider than the one under its heading or at the next
    heading. Where there is neither, it ends with the paragraphs that speak of what notes speak of.
    """
    if head + 1 >= len(blocks):
        return head + 1
    first, last = blocks[head + 1], min(len(blocks), head + 1 + _NOTE_BLOCKS)
    if _EDITION_HEAD.match(blocks[head].text):
        return next((number for number in range(head + 1, last) if not is_of_archive(blocks[number].text)), last)
    if first.is_heading and not OF_A_NOTE.search(first.text):
        return head + 1
    if first.indent:
        ends = (
            number
            for number in range(head + 1, last)
            if blocks[number].indent < first.indent or (number > head + 1 and blocks[number].gap > max(2, first.gap))
        )
        return next(ends, last)
    for number in range(head + 2, last):
        if blocks[number].gap > max(1, first.gap) or (
            blocks[number].is_heading and not OF_A_NOTE.search(blocks[number].text)
        ):
            return number
    return next(
        (number for number in range(head + 2, last) if not OF_A_NOTE.search(blocks[number].text)), min(last, head + 2)
    )


def _end_of_note_at_once(blocks: Sequence[_Block], number: int) -> int:
    """Return the number of the block behind a note without a heading: its paragraphs that go on, by indent or words."""
    begin, last = blocks[number], min(len(blocks), number + 1 + _NOTE_BLOCKS)
    closed = _end_of_brackets(blocks, number) if begin.text.startswith("[") else None
    if closed is not None:
        return closed

    def goes_on(block: _Block) -> bool:
        if begin.indent:
            return block.indent >= begin.indent
        return block.gap == 1 and (bool(OF_A_NOTE.search(block.text)) or is_of_archive(block.text))

    return next((later for later in range(number + 1, last) if not goes_on(blocks[later])), last)


def _is_header(block: _Block) -> bool:
    """Return whether a block after one of the archive's goes on with its header: fields, or what it says of rights."""
    if all(_FIELD.match(line) or line[:1] in " \t" for line in block.lines) and _FIELD.match(block.lines[0]):
        return True
    return points_of(block.text, OF_RIGHTS) >= 3 and not NARRATED.search(block.text)
