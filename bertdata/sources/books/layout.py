"""Prose out of plain text by its layout: paragraphs joined from wrapped lines; headings, tables and contents left out.

What is prose is read from the geometry of a block of lines (how full they are, how they begin and end) and not from its
language. Verse that reads as sentences is kept as one paragraph. What layout calls a title, an entry or a synopsis is
short: a long line is always prose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bertdata.sources.books.dehyphenate import BORDER, joined, one_line
from bertdata.sources.books.headings import (
    CONTENTS,
    DIVISION,
    DIVISION_TITLE,
    LABEL,
    NOTES,
    NUMBERED_TITLE,
    OPENS_SPEECH,
    ORNAMENT,
    TITLE_LIMIT,
    Heading,
    is_heading,
    is_mostly_small,
    is_title,
)
from bertdata.sources.names import LeftOut

Block = list[str]
PlainBlock = str
"""Lines that are known to be prose, separated by line feeds (see `prose_blocks`)."""


_ENTRY = re.compile(
    rf"{ORNAMENT}(?:{DIVISION}\b(?!\s+(?!the\b|of\b|on\b|to\b|from\b)(?-i:[a-z]))|(?:[ivxlcdm]+|\d{{1,3}})(?:[.):—-]|\s{{2,}}))",
    re.IGNORECASE,
)
_PAGE_NUMBER = re.compile(r"(?:\.[ .]{2,40}|\s{2,40}|[,_]\s?)(?:\d{1,4}|[ivxlc]+)$")
_COLUMNS = re.compile(r"\S(?:\s{3,}|\s*\|\s*)\S")
_TAIL = 16
"""The characters at the end of a line in which an end mark is looked for."""
_MARK = rf"[\W_]{{0,{_TAIL}}}(?:[\[({{][\w*]{{1,4}}[\])}}][\W_]{{0,{_TAIL}}})?$"
_ENDS_SENTENCE = re.compile(r"[.!?…。！？]" + _MARK)
_ENDS_CLAUSE = re.compile(r"[.!?…。！？,;:—–-]" + _MARK)
_BYLINE = re.compile(r"^\W*by\s+(?-i:[A-Z])", re.IGNORECASE)
_DASH = re.compile(r"--+|—|\s–\s")
_SUBJECT = re.compile(r"\b(?:he|she|they|we)\b")
_ONE_CAPITAL = re.compile(r"[\W_]*[^\W\d_]+(?:[\W_]+[^\W\d_A-Z]+)*[\W_]*")
"""Words of which only the first may begin with a capital: "That was all.", not "The Sea." or "May 24."."""
_DIGIT = re.compile(r"\d")
WRAP_LIMIT = 120
"""Characters of the widest page: a longer line is a paragraph that was not wrapped."""
LAYOUT_LIMIT = 2000
"""Characters of the longest synopsis, row of a table or heading of several lines: a synopsis of Project Gutenberg's
novels has 824 at most."""
NARROWEST = 12
"""Characters of the narrowest column that is taken for one."""
SIGNS = b"0123456789.,;:'-_=*|#/\\~<>+()[]{}^&%$"
_OTHER_SIGNS = "£"


def blocks_of(lines: Sequence[str]) -> list[Block]:
    """Return the runs of lines between blank ones, tabs expanded; each line alone where lines are whole paragraphs."""
    single = _is_unwrapped([line for line in lines if line.strip()])
    blocks: list[Block] = [[]]
    for line in lines:
        stripped = (line.expandtabs() if "\t" in line else line).rstrip()
        if blocks[-1] and (single or not stripped):
            blocks.append([])
        if stripped:
            blocks[-1].append(stripped)
    return blocks if blocks[-1] else blocks[:-1]


def is_line_by_line(lines: Sequence[str]) -> bool:
    """Tell whether text has one sentence or paragraph a line and no blank lines, as BookCorpus has."""
    full = [line for line in lines if line.strip()]
    if len(lines) - len(full) > len(full) / 12:
        return False
    worded = [line for line in full if any(map(str.isalpha, line))]
    return _is_unwrapped(full) or sum(bool(_ENDS_SENTENCE.search(line[-_TAIL:])) for line in worded) > len(worded) / 2


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
    width = width or width_of([len(line) for block in blocks if len(block) > 2 for line in block[:-1]])
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
        if notes or not lines or (headed and number not in running and _is_synopsis(lines)):
            continue
        paragraph = "\n".join(map(str.strip, lines))
        goes_on = open_end and not headed and len(lines) == 1 and paragraph[0].islower()
        is_last = number == len(divided) - 1
        cut_off = is_last or (bool(paragraphs) and not (headed or contents) and _is_begun(lines, divided[number + 1]))
        if goes_on or (cut_off and _is_unfinished(lines, paragraph)):
            running.add(number)
        kind = "prose" if number in running else _kind(lines, paragraph.replace("\n", " "), width)
        if kind == "heading":
            headed = True
            waiting.clear()
            headings += [Heading(len(paragraphs), line) for line in paragraph.split("\n")]
        if kind not in ("prose", "verse"):
            continue
        if not (paragraphs or cut.is_later or number in running or len(lines) > 1) and _is_on_title_page(
            paragraph, width
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
    return joined(paragraphs), headings


def lines_of(lines: Iterable[str]) -> tuple[list[str], list[Heading]]:
    """Return the lines that have words, each as a paragraph, and the lines that are chapter labels."""
    paragraphs: list[str] = []
    headings: list[Heading] = []
    for line in map(str.strip, one_line(BORDER.join(lines)).split(BORDER)):
        if LABEL.match(line):
            headings.append(Heading(len(paragraphs), line))
        elif any(map(str.isalpha, line)):
            paragraphs.append(line)
    return paragraphs, headings


def width_of(lengths: list[int]) -> int:
    """Return the column at which lines are wrapped: the 90th percentile of the lines that another follows."""
    lengths.sort()
    return min(max(lengths[len(lengths) * 9 // 10], NARROWEST), WRAP_LIMIT) if lengths else 72


def _split_at_indents(blocks: Iterable[Block | PlainBlock], width: int) -> Iterator[Block | PlainBlock]:
    """Split a block into paragraphs where only an indented first line begins one."""
    for block in blocks:
        if isinstance(block, str) or "\n " not in "\n".join(block):
            yield block
            continue
        indented = [line[0] == " " for line in block]
        count = sum(indented[1:])
        margin = sum(len(line) > 0.7 * width for line, inner in zip(block, indented, strict=True) if not inner)
        if count > len(block) // 3 or margin < (len(block) - count) * 0.6:
            yield block
            continue
        start = 0
        for number in range(1, len(block)):
            if indented[number] and not indented[number - 1]:
                yield block[start:number]
                start = number
        yield block[start:]


def _headings(block: Block, width: int) -> int:
    """Return how many lines at the top of a block are headings."""
    for number, line in enumerate(block):
        if not is_heading(line.strip(), block[number + 1] if number + 1 < len(block) else None, width):
            return number
    return len(block)


def _kind(lines: Block, text: str, width: int) -> str:
    """Return what lines with this text are: "prose", "verse", "heading", or "" for none of them."""
    solid = len(text) - text.count(" ")
    if not any(map(str.isalpha, text)) or (solid > 20 and _count_signs(text) > 0.4 * solid):
        return ""
    if len(lines) == 1:
        return "prose" if len(text) > TITLE_LIMIT else _kind_of_line(text, len(lines[0]) - len(text), width)
    if len(text) <= LAYOUT_LIMIT and text.isupper() and not OPENS_SPEECH.match(text):
        return "heading"
    if ("   " in text or "|" in text) and sum(map(_has_columns, lines)) * 2 >= len(lines):
        return ""
    if max(map(len, lines)) > TITLE_LIMIT:
        return "prose"
    if _is_list(lines):
        return ""
    lengths = [*map(len, lines)]
    margin = max(0.8 * width, *lengths) * 0.9
    firsts = [line.split(None, 1)[0] for line in lines[1:]]
    full = sum([length + 1 + len(word) > margin for length, word in zip(lengths, firsts, strict=False)]) / len(firsts)
    lower = sum([word[0].islower() for word in firsts]) / len(firsts)
    if full >= 0.6 or (lower >= 0.5 and full >= 0.3):
        untitled = len(lines) > 3 or _ENDS_CLAUSE.search(text[-_TAIL:]) or not is_title(text)
        return "prose" if untitled else "heading"
    words = text.count(" ") + 1
    reads = _ENDS_CLAUSE.search(text[-_TAIL:]) and words >= 3.5 * len(lines) and not is_title(text)
    return "verse" if reads and len(_DIGIT.findall(text)) < 0.03 * solid else ""


def _count_signs(text: str) -> int:
    plain = text.encode("ascii", "ignore")
    return len(plain) - len(plain.translate(None, SIGNS)) + text.count(_OTHER_SIGNS)


def _is_list(lines: Block) -> bool:
    """Tell whether more than half of the lines end in a number or begin as entries do."""
    others = len(lines) - len(lines) // 2
    for line in lines:
        if not (_ends_in_number(line) or _ENTRY.match(line)):
            others -= 1
            if not others:
                return False
    return True


def _kind_of_line(text: str, indent: int, width: int) -> str:
    words = text.count(" ") + 1
    long = len(text) > 0.75 * width
    speech = OPENS_SPEECH.match(text)
    if len(text) < 1.5 * width and (DIVISION_TITLE.match(text) or (NUMBERED_TITLE.match(text) and is_title(text))):
        return "heading"
    if _ends_in_number(text) or (indent > 0.25 * width and words < 8):
        return ""
    if _ENDS_SENTENCE.search(text[-_TAIL:]):
        titled = 2 <= words <= 8 and is_title(text) and not (_ONE_CAPITAL.fullmatch(text) or _SUBJECT.search(text))
        return "heading" if titled and not speech else "prose"
    if _ENDS_CLAUSE.search(text[-_TAIL:]):
        return "prose" if words > 2 or speech else ""
    return "prose" if long and words > 7 and not is_title(text) else "heading"


def _has_columns(line: str) -> bool:
    return len(line) <= LAYOUT_LIMIT and ("   " in line or "|" in line) and bool(_COLUMNS.search(line.strip()))


def _ends_in_number(line: str) -> bool:
    return (line[-1].isdigit() or line[-1] in "ivxlc") and bool(_PAGE_NUMBER.search(line[-40:]))


def _is_on_title_page(line: str, width: int) -> bool:
    """Tell whether a line before all prose is of a title page, whose lines are no wider than the page."""
    if len(line) > width:
        return False
    return not _ENDS_SENTENCE.search(line[-_TAIL:]) or (len(line) < 60 and bool(_BYLINE.match(line)))


def _is_unfinished(lines: Block, text: str) -> bool:
    """Tell whether the last block of a text is a sentence without its mark: it heads nothing, so it is not a title."""
    return is_mostly_small(text, 0.5) and not (any(map(_has_columns, lines)) or _is_list(lines))


def _is_begun(lines: Block, following: Block | PlainBlock) -> bool:
    """Tell whether a line is the beginning of a sentence that a blank line cut: it goes on in small letters below."""
    below = following if isinstance(following, str) else following[0]
    return len(lines) == 1 and lines[0][-1].isalnum() and below.lstrip()[:1].islower()


def _is_running(paragraph: str, width: int) -> bool:
    """Tell whether a paragraph is prose that ends a table of contents, not a long entry of it."""
    text = paragraph.replace("\n", " ")
    return (
        len(text) > 1.3 * width
        and not _ENTRY.match(text)
        and (len(text) > LAYOUT_LIMIT or bool(_ENDS_CLAUSE.search(text[-_TAIL:])))
        and not _is_synopsis([text])
    )


def _is_synopsis(lines: Block) -> bool:
    """Tell whether lines are a synopsis, as under a chapter's heading in old books: phrases separated by dashes."""
    text = " ".join(lines)
    if len(text) > LAYOUT_LIMIT:
        return False
    phrases = _DASH.split(text)
    return len(phrases) > 2 and sum(phrase.count(" ") + 1 for phrase in phrases) < 7 * len(phrases)
