"""Tell a paragraph of a book's own text from what an archive, a printer or a transcriber added, which begins alike.

An addition says who made what, in names and without a story, before the first paragraphs of prose or after the last
ones. A paragraph that only begins with such a word, or only names an archive, is the author's if it is speech in
quotes, or is made of sentences in small letters and is inside the book, tells of somebody, or has no other words that
archives use. Inside the book the sentences may be short, as those of a play.
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
_TELLS_OF_SOMEBODY = re.compile(r"\b(?:he|she|they|him|his|her|said|asked|replied|cried|answered)\b", re.IGNORECASE)
_SPEECH = re.compile(r"^[\s_—-]*+[\"“”‘'«„»](?=\w)[^\"“”«»]*?[.,!?…—][\"”“’'»]")
_NAME_OF_FIELD = re.compile(r"^[\W_]*+[\w ]{1,30}+:[\W_]*+")
_INITIAL = re.compile(r"\b(?:[A-Z]|[JS]r|Esq|D|Ph)\.\W*$")
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
    text = " ".join(map(str.strip, lines))
    if is_speech(text):
        return True
    if not is_running_text(lines):
        return _is_sentence(text) and _is_inside(blocks, number)
    if tells_of_somebody(text):
        return True
    points = 2 * points_of(text, DIGITAL) + points_of(text, OF_RIGHTS)
    if points <= 2 and not strict:
        return True
    is_long = len(text) >= LONG_SENTENCE and points <= 1 and not OF_A_NOTE.search(text)
    return is_long or _is_inside(blocks, number)


def is_speech(text: str) -> bool:
    """Tell whether a paragraph begins with what somebody says, in quotes, to a mark of a sentence.

    >>> [is_speech(text) for text in ("“All rights reserved,” read Ann.", "“Printed in London”", "'Tis late.")]
    [True, False, False]
    """
    return bool(_SPEECH.match(text))


def tells_of_somebody(text: str) -> bool:
    """Tell whether a paragraph has a word for somebody, or for what is said: no archive's licence has one."""
    return bool(_TELLS_OF_SOMEBODY.search(text))


def _is_sentence(text: str) -> bool:
    """Tell whether some words end as a sentence does, and are no name: most are in small letters, or they ask or call.

    >>> sentences = ("Author: I know it.", "Translator: Never!", "Transcribed by hand, every line.")
    >>> [_is_sentence(text) for text in (*sentences, "Author: N. N. Smith.", "Printed by I. Watts.")]
    [True, True, True, False, False]
    """
    mark = text.rstrip(_AFTER_END)[-1:]
    if not mark or mark not in _END or _INITIAL.search(text):
        return False
    if field := _NAME_OF_FIELD.match(text):
        return mark in "!?！？" or is_mostly_small(text[field.end() :], 0.6)
    return is_mostly_small(text, 0.65)


def is_story(lines: Sequence[str]) -> bool:
    """Tell whether lines are a paragraph of prose without a word that archives or transcribers use."""
    text = " ".join(map(str.strip, lines))
    if len(text) < PROSE_LENGTH or not is_running_text(lines):
        return False
    return not (OF_A_NOTE.search(text) or points_of(text, DIGITAL) or points_of(text, OF_RIGHTS))


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
