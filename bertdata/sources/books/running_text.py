"""Tell a paragraph of a book's own text from what an archive, a printer or a transcriber added, which begins alike.

An addition says who made what, in names and without a story, before the first paragraphs of prose or after the last
ones. A paragraph that only begins with such a word, or only names an archive, is the author's if it is made of
sentences in small letters and is inside the book, tells of somebody, or has no other words that archives use.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bertdata.sources.books.archive_terms import DIGITAL, OF_A_NOTE, OF_RIGHTS, is_of_archive, points_of
from bertdata.sources.books.headings import is_mostly_small
from bertdata.sources.books.layout import WRAP_LIMIT

if TYPE_CHECKING:
    from bertdata.sources.books.prose_blocks import Candidate

Block = list[str]

_END = ".!?…。！？"
_AFTER_END = "\"”’'»*_)] "
_TELLS_OF_SOMEBODY = re.compile(r"\b(?:he|she|they|him|his|her)\b", re.IGNORECASE)
LEAST_WORDS = 8
LONG_SENTENCE = 90
"""Characters from which sentences at the ends of a book say more than who made it."""
PROSE_LENGTH = 150
"""Characters of the shortest paragraph that is taken for one of the story, when it is asked where the story begins."""
PROSE_BLOCKS = 2
"""Paragraphs of prose after which the beginning of a book is over, and before which its end begins."""
NEAR = 80
"""Blocks among which these paragraphs are looked for."""


def is_running_text(lines: Sequence[str]) -> bool:
    """Tell whether lines are sentences: of some words, two of three of them in small letters, to the end of a sentence.

    A line that is longer than a page is wide may go on in the next.

    >>> is_running_text(["Title: that was the first word on the form, and", "she looked at it for a long time."])
    True
    >>> is_running_text(["Produced by N. N. for the team of the Library of Bath."]), is_running_text(["Title: The sea"])
    (False, False)
    """
    text = " ".join(map(str.strip, lines))
    ended = text.rstrip(_AFTER_END)[-1:] in (*_END,)
    goes_on = len(lines) == 1 and len(text) > WRAP_LIMIT
    return (ended or goes_on) and text.count(" ") + 1 >= LEAST_WORDS and is_mostly_small(text, 0.65)


def is_own_text(blocks: Sequence[Block | Candidate], number: int, *, strict: bool) -> bool:
    """Tell whether a block that begins as an addition, or names an archive, is a paragraph of the book itself.

    strict: it begins as a credit does, so at the ends of a book it must tell of somebody, or be long and speak of
    nothing else that archives and transcribers speak of; what only names an archive may be short.
    """
    lines = lines_of_block(blocks[number])
    if not is_running_text(lines):
        return False
    text = " ".join(map(str.strip, lines))
    if _TELLS_OF_SOMEBODY.search(text):
        return True
    points = 2 * points_of(text, DIGITAL) + points_of(text, OF_RIGHTS)
    if points <= 2 and not strict:
        return True
    is_long = len(text) >= LONG_SENTENCE and points <= 1 and not OF_A_NOTE.search(text)
    return is_long or _is_inside(blocks, number)


def lines_of_block(block: Block | Candidate) -> Block:
    """Return the lines of a block, as it is or known to be prose."""
    return block if isinstance(block, list) else block.text.split("\n")


def _is_inside(blocks: Sequence[Block | Candidate], number: int) -> bool:
    """Tell whether prose stands on both sides of a block: it is behind a book's beginning and before its end."""
    before = range(number - 1, max(-1, number - NEAR - 1), -1)
    behind = range(number + 1, min(len(blocks), number + NEAR + 1))
    return all(_has_prose(blocks, places) for places in (before, behind))


def _has_prose(blocks: Sequence[Block | Candidate], places: range) -> bool:
    prose = 0
    for place in places:
        lines = lines_of_block(blocks[place])
        if sum(map(len, lines)) >= PROSE_LENGTH and is_running_text(lines):
            prose += not is_of_archive(" ".join(map(str.strip, lines)))
            if prose == PROSE_BLOCKS:
                return True
    return False
