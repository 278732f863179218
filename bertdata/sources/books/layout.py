"""Prose out of plain text by its layout: paragraphs joined from wrapped lines; headings, tables and contents left out.

`block_kinds` tells what a block of lines is. Verse that reads as sentences is kept as one paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bertdata.sources.books.block_kinds import (
    ENDS_CLAUSE,
    ENDS_SENTENCE,
    ENTRY,
    LAYOUT_LIMIT,
    SPACELESS,
    TAIL,
    Block,
    has_columns,
    is_list,
    is_synopsis,
    kind_of,
)
from bertdata.sources.books.dehyphenate import BORDER, joined, one_line
from bertdata.sources.books.headings import (
    CONTENTS,
    DIVISION_TITLE,
    LABEL,
    NOTES,
    Heading,
    is_heading,
    is_mostly_small,
)
from bertdata.sources.names import LeftOut

PlainBlock = str
"""Lines that are known to be prose, separated by line feeds (see `prose_blocks`)."""


_BYLINE = re.compile(r"^\W*by\s+(?-i:[A-Z])", re.IGNORECASE)
WRAP_LIMIT = 120
"""Characters of the widest page: a longer line is a paragraph that was not wrapped."""
TITLE_LINES = 4
"""Lines that may be an author and a title where a text has a paragraph a line."""
_INDENTS = " \u3000"
"""What a paragraph is indented with: spaces, in Chinese and Japanese ideographic ones."""
_FIRST_CHARACTERS = 4000
"""Characters by which a script is known."""
_CHINESE_NUMBER = re.compile(r"[〇一二三四五六七八九十百]{1,6}")
"""A line that is a number is a chapter's label."""
_FEWEST_ENTRIES, _ENTRY_LIMIT = 6, 300
"""How many entries are contents, and the characters of the longest."""
_NARROWEST_APART = 40
"""The width from which on lines that a blank line parts may be those of prose."""
_MANY_LINES = 10
"""Lines inside of paragraphs from which on these tell prose from verse."""
NARROWEST = 12
"""Characters of the narrowest column that is taken for one."""


def blocks_of(lines: Sequence[str]) -> list[Block]:
    """Return the runs of lines between blank ones, tabs expanded; each line alone where lines are whole paragraphs.

    These lose the margin that half of them have: it says nothing of one that is indented like the others.
    """
    full = [line for line in lines if line.strip()]
    single = _is_unwrapped(full)
    margin = " " * (sorted(len(line) - len(line.lstrip(" ")) for line in full)[len(full) // 2] if single else 0)
    blocks: list[Block] = [[]]
    for line in lines:
        stripped = (line.expandtabs() if "\t" in line else line).rstrip().removeprefix(margin)
        if blocks[-1] and (single or not stripped):
            blocks.append([])
        if stripped:
            blocks[-1].append(stripped)
    return blocks if blocks[-1] else blocks[:-1]


def is_line_by_line(lines: Sequence[str]) -> bool:
    """Tell whether text has one sentence or paragraph a line and no blank lines, as BookCorpus has."""
    full = [line for line in lines if line.strip()]
    return not len(lines) - len(full) > len(full) / 12 and _are_whole(full)


def _are_whole(full: Sequence[str]) -> bool:
    """Tell whether lines are whole paragraphs, or most end as sentences do."""
    worded = [line for line in full if any(map(str.isalpha, line))]
    return _is_unwrapped(full) or sum(bool(ENDS_SENTENCE.search(line[-TAIL:])) for line in worded) > len(worded) / 2


def is_line_by_line_without_spaces(text: str, *, with_blanks: bool = False) -> bool:
    """Tell whether Chinese or Japanese text has a paragraph a line: there a blank line divides chapters alone.

    with_blanks: blank lines say nothing, as in texts of Aozora Bunko.
    """
    if text.isascii():
        return False
    first = text[:_FIRST_CHARACTERS]
    if len(SPACELESS.findall(first)) * 2 <= len(first) - first.count("\n"):
        return False
    lines = text.split("\n")
    full = [line for line in lines if line.strip()]
    return (with_blanks or len(lines) - len(full) <= len(full) / 2) and _are_whole(full)


def _is_unwrapped(full: Sequence[str]) -> bool:
    """Tell whether lines are whole paragraphs: most of the text is in lines longer than any page is wide."""
    return sum(len(line) for line in full if len(line) > WRAP_LIMIT) > sum(map(len, full)) / 2


class Cut(NamedTuple):
    """Where a part of a long text was cut out of it: whether text is before it, and where a cut is in a paragraph."""

    is_later: bool = False
    begins_inside: bool = False
    ends_inside: bool = False


WHOLE = Cut()
"""A text that was not cut."""


def prose_of(
    blocks: Sequence[Block | PlainBlock], width: int = 0, cut: Cut = WHOLE, left_out: Counter[str] | None = None
) -> tuple[list[str], list[Heading]]:
    """Return the paragraphs of prose in blocks of wrapped lines, and the headings that were left out.

    `width` is where lines are wrapped, 0 where that is to be found; it is given where blocks are known to be prose.
    `cut` says of a part of a text how it was cut: text that a cut divides is prose, and only the first part has a title
    page. `left_out` counts the bytes of the lines of the title page in UTF-8, which are left out before other prose.

    >>> blocks = blocks_of(["CHAPTER I", "", "It was a dark night, and no-", "body spoke for an hour.", "", "* * *"])
    >>> prose_of(blocks)
    (['It was a dark night, and nobody spoke for an hour.'], [Heading(paragraphs=0, line='CHAPTER I')])
    """
    apart = _width_of_lines_apart(blocks)
    width = apart or width or width_of([len(line) for block in blocks if len(block) > 2 for line in block[:-1]])
    paragraphs: list[str] = []
    waiting: list[str] = []
    headings: list[Heading] = []
    front: list[str] = []
    contents, notes, headed, open_end = False, False, True, False
    divided = list(_split_at_indents(blocks, width))
    running = {0} if cut.begins_inside else set()
    running |= {len(divided) - 1} if cut.ends_inside else set()
    for number, block in enumerate(divided):
        if isinstance(block, str):
            if paragraphs and not (notes or headed or contents):
                paragraph = block.lstrip()
                if open_end and paragraph[0].islower():
                    paragraphs[-1] += "\n" + paragraph
                else:
                    paragraphs.append(paragraph)
                open_end = paragraph[-1].isalnum()
                continue
            block = block.split("\n")  # noqa: PLW2901
        late = number > len(blocks) // 2
        heading_lines = 0 if number in running else _headings(block, width)
        for line in block[:heading_lines]:
            contents = contents or bool(CONTENTS.match(line))
            notes = (notes and not DIVISION_TITLE.match(line)) or (late and bool(NOTES.match(line)))
            headed = True
            waiting.clear()
            headings.append(Heading(len(paragraphs), line.strip()))
        lines = block[heading_lines:]
        if notes or not lines or (headed and number not in running and is_synopsis(lines)):
            continue
        paragraph = "\n".join(map(str.strip, lines))
        goes_on = open_end and not headed and len(lines) == 1 and paragraph[0].islower()
        is_last = number == len(divided) - 1
        cut_off = is_last or (bool(paragraphs) and not (headed or contents) and _is_begun(lines, divided[number + 1]))
        if goes_on or (cut_off and _is_unfinished(lines, paragraph)):
            running.add(number)
        kind = "prose" if number in running else kind_of(lines, paragraph.replace("\n", " "), width)
        if kind == "heading":
            headed = True
            waiting.clear()
            headings += [Heading(len(paragraphs), line) for line in paragraph.split("\n")]
        if kind not in ("prose", "verse"):
            continue
        if not (paragraphs or cut.is_later or number in running or len(lines) > 1) and _is_on_title_page(
            paragraph, width, are_lines_apart=bool(apart)
        ):
            front.append(paragraph)
            continue
        if contents and number not in running and not _is_running(paragraph, width):
            waiting.append(paragraph)
            continue
        paragraphs += waiting
        waiting.clear()
        contents = headed = False
        if open_end and kind == "prose" and paragraph[0].islower():
            paragraphs[-1] += "\n" + paragraph
        else:
            paragraphs.append(paragraph)
        open_end = kind == "prose" and paragraph[-1].isalnum()
    if paragraphs and left_out is not None:
        left_out[LeftOut.FRONT_MATTER] += sum(len(line.encode("utf-8", "surrogatepass")) for line in front)
    entries = 0 if cut.is_later else _entries_before(paragraphs)
    if entries:
        paragraphs = paragraphs[entries:]
        headings = [Heading(max(0, heading.paragraphs - entries), heading.line) for heading in headings]
    return joined(paragraphs), headings


def _entries_before(paragraphs: Sequence[str]) -> int:
    """Return how many paragraphs are contents without a heading: the first ones, none of which ends as a clause does.

    There are several, and those after them are text.
    """

    def is_entry(paragraph: str) -> bool:
        return len(paragraph) <= _ENTRY_LIMIT and not ENDS_CLAUSE.search(paragraph[-TAIL:])

    entries = next((number for number, paragraph in enumerate(paragraphs) if not is_entry(paragraph)), len(paragraphs))
    following = paragraphs[entries : 2 * entries]
    return entries if entries >= _FEWEST_ENTRIES and sum(map(is_entry, following)) * 4 < len(following) else 0


def lines_of(lines: Iterable[str]) -> tuple[list[str], list[Heading]]:
    """Return the lines that have words, each as a paragraph, and the lines that are chapter labels.

    Some short lines without a mark of a sentence before the first label are the author and the title.
    """
    paragraphs: list[str] = []
    headings: list[Heading] = []
    for line in map(str.strip, one_line(BORDER.join(lines)).split(BORDER)):
        if LABEL.match(line) or _CHINESE_NUMBER.fullmatch(line):
            if not headings and len(paragraphs) <= TITLE_LINES and not any(map(_is_text, paragraphs)):
                paragraphs.clear()
            headings.append(Heading(len(paragraphs), line))
        elif any(map(str.isalpha, line)):
            paragraphs.append(line)
    return paragraphs, headings


def _is_text(line: str) -> bool:
    """Tell whether a line before all labels is text: it is long, or ends as a clause does."""
    return len(line) > WRAP_LIMIT or bool(ENDS_CLAUSE.search(line[-TAIL:]))


def width_of(lengths: list[int]) -> int:
    """Return the column at which lines are wrapped: the 90th percentile of the lines that another follows."""
    lengths.sort()
    return min(max(lengths[len(lengths) * 9 // 10], NARROWEST), WRAP_LIMIT) if lengths else 72


def _split_at_indents(blocks: Iterable[Block | PlainBlock], width: int) -> Iterator[Block | PlainBlock]:
    """Split a block into paragraphs where only an indented first line begins one.

    Where one begins, most lines that are not indented fill the page. In a long block these are the lines inside of
    paragraphs, for last lines are of any length; where many lines are indented, as in speech, verse is told by last
    lines that are as long as the others. A line that begins with a small letter goes on with the one before: a space in
    front of it is a slip.
    """
    for block in blocks:
        if isinstance(block, str) or not any(line[0] in _INDENTS for line in block[1:]):
            yield block
            continue
        indented = [line[0] in _INDENTS for line in block]
        full = [len(line) > 0.7 * width for line in block]
        inside = [is_full for is_full, ends in zip(full, indented[1:], strict=False) if not ends]
        last = [is_full for is_full, ends in zip(full, indented[1:], strict=False) if ends]
        is_long = len(inside) >= _MANY_LINES
        if not is_long:
            margin = [is_full for is_full, begins in zip(full, indented, strict=True) if not begins]
            is_prose = len(last) <= len(block) // 3 and sum(margin) >= 0.6 * (len(block) - len(last))
        else:
            is_prose = sum(inside) >= 0.8 * len(inside) and (len(last) <= len(block) // 3 or 2 * sum(last) <= len(last))
        if not is_prose:
            yield block
            continue
        start = 0
        for number in range(1, len(block)):
            ends = not indented[number - 1] or (is_long and ENDS_SENTENCE.search(block[number - 1][-TAIL:]))
            if indented[number] and ends and not block[number].lstrip()[:1].islower():
                yield block[start:number]
                start = number
        yield block[start:]


def _headings(block: Block, width: int) -> int:
    """Return how many lines at the top of a block are headings."""
    for number, line in enumerate(block):
        if not is_heading(line.strip(), block[number + 1] if number + 1 < len(block) else None, width):
            return number
    return len(block)


def _width_of_lines_apart(blocks: Sequence[Block | PlainBlock]) -> int:
    """Return how long lines of a text are where a blank line stands between most of them, 0 of another text."""
    lengths = sorted(len(block if isinstance(block, str) else block[0]) for block in blocks if _is_one_line(block))
    widest = lengths[len(lengths) * 9 // 10] if 5 * len(lengths) > 4 * len(blocks) else 0
    return widest if _NARROWEST_APART <= widest < WRAP_LIMIT else 0


def _is_one_line(block: Block | PlainBlock) -> bool:
    return "\n" not in block if isinstance(block, str) else len(block) == 1


def _is_on_title_page(line: str, width: int, *, are_lines_apart: bool) -> bool:
    """Tell whether a line before the prose belongs to a title page, whose lines are no wider than the page.

    Where lines of prose are apart, one of small letters that nearly fills the page is prose.
    """
    if len(line) > width or (are_lines_apart and 5 * len(line) > 4 * width and is_mostly_small(line, 0.5)):
        return False
    return not ENDS_SENTENCE.search(line[-TAIL:]) or (len(line) < 60 and bool(_BYLINE.match(line)))


def _is_unfinished(lines: Block, text: str) -> bool:
    """Tell whether the last block of a text is a sentence without its mark: it heads nothing, so it is not a title."""
    return is_mostly_small(text, 0.5) and not (any(map(has_columns, lines)) or is_list(lines))


def _is_begun(lines: Block, following: Block | PlainBlock) -> bool:
    """Tell whether a line is the beginning of a sentence that a blank line cut: it goes on in small letters below."""
    below = following if isinstance(following, str) else following[0]
    return len(lines) == 1 and lines[0][-1].isalnum() and below.lstrip()[:1].islower()


def _is_running(paragraph: str, width: int) -> bool:
    """Tell whether a paragraph is prose that ends a table of contents, not a long entry of it."""
    text = paragraph.replace("\n", " ")
    return (
        len(text) > 1.3 * width
        and not ENTRY.match(text)
        and (len(text) > LAYOUT_LIMIT or bool(ENDS_CLAUSE.search(text[-TAIL:])))
        and not is_synopsis([text])
    )
