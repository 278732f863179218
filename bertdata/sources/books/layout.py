"""Prose out of plain text by its layout: paragraphs joined from wrapped lines; headings, tables and contents left out.

What is prose is read from the geometry of a block of lines (how full they are, how they begin and end) and not from its
language. Verse that reads as sentences is kept as one paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bertdata.sources.books.dehyphenate import BORDER, joined, one_line

Block = list[str]
PlainBlock = str
"""Lines that are known to be prose, separated by line feeds (see `prose_blocks`)."""


class Heading(NamedTuple):
    """A line that is a heading, and the number of paragraphs before it."""

    paragraphs: int
    line: str


_NUMBER = (
    r"(?:\d+(?:\.[\divxlc]+)*|[ivxlcdm]+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -]\w+)?|"
    r"(?:the\s+)?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|last))"
)
DIVISION = (
    r"(?:chapters?|books?|parts?|volumes?|vol\.?|cantos?|acts?|scenes?|letters?|sections?|stave|stanza|lesson|essay|"
    r"sonnet|tale|story|appendix|chapitre|livre|tome|partie|kapitel|buch|teil|cap[ií]tulo|libro|parte|capitolo)"
)
_ORNAMENT = r"^[\s*_=(\[#.—–-]*"
_BYLINE = re.compile(r"^\W*by\s+(?-i:[A-Z])", re.IGNORECASE)
_ROMAN = r"(?=[ivxlcdm])m{0,4}(?:c[md]|d?c{0,4})(?:x[cl]|l?x{0,4})(?:i[xv]|v?i{0,4})"
_LABEL = re.compile(
    rf"{_ORNAMENT}(?:{DIVISION}\s+{_NUMBER}|{_NUMBER}\s+{DIVISION}|{_ROMAN}|\d{{1,4}})[\s*_=)\].,:—–-]*$",
    re.IGNORECASE,
)
_DIVISION_TITLE = re.compile(
    rf"{_ORNAMENT}(?:the\s+)?{DIVISION}\s+(?:the\s+)?{_NUMBER}(?:\W*$|[.:;,\])—-]+\s*\S|\s+(?-i:[A-Z“\"]))",
    re.IGNORECASE,
)
_NUMBERED_TITLE = re.compile(_ORNAMENT + r"(?:[IVXLC]+|\d{1,3})[.):—-]+\s+\S")
_NAMED = re.compile(
    _ORNAMENT
    + r"(?:the\s+)?(?:preface|introduct(?:ion|ory)|prologue|epilogue|contents?|table\s+of\s+contents|index|conclusion|"
    r"list\s+of\s+(?:illustrations|plates|maps|figures|tables)|illustrations|footnotes?|endnotes|notes?|dedication|"
    r"foreword|afterword|glossary|errata|postscript|bibliography|appendix|finis?|"
    rf"end(?:\s+of\s+(?:the\s+)?(?:\w+\s+)?{DIVISION}\b.{{0,30}})?|"
    r"to\s+be\s+continued|advertisements?|frontispiece|cover|copyright.*|by\s+the\s+same\s+author|"
    r"table\s+des\s+mati[eè]res|inhalt(?:sverzeichnis)?|[ií]ndice|sommaire|pr[eé]face|vorwort)\W*$",
    re.IGNORECASE,
)
_CONTENTS = re.compile(
    r"^\W*(?:(?:table\s+of\s+|the\s+)?contents\b.{0,30}|list\s+of\s+\w+|(?:full[- ]page\s+)?illustrations|index|"
    r"table\s+des\s+mati[eè]res|inhalt(?:sverzeichnis)?|sommaire)\W*$",
    re.IGNORECASE,
)
_NOTES = re.compile(r"^\W*(?:(?:foot|end)notes?|index)\W*$", re.IGNORECASE)
_ENTRY = re.compile(rf"{_ORNAMENT}(?:{DIVISION}\b|(?:[ivxlcdm]+|\d{{1,3}})(?:[.):—-]|\s{{2,}}))", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"(?:\.[ .]{2,}|\s{2,}|[,_]\s?)(?:\d{1,4}|[ivxlc]+)$")
_COLUMNS = re.compile(r"\S(?:\s{3,}|\s*\|\s*)\S")
_MARK = r"[\W_]*(?:[\[({][\w*]{1,4}[\])}][\W_]*)?$"
_ENDS_SENTENCE = re.compile(r"[.!?…。！？]" + _MARK)
_ENDS_CLAUSE = re.compile(r"[.!?…。！？,;:—–-]" + _MARK)
_OPENS_SPEECH = re.compile(r"^[\s_(\[]*[\"`“”‘'«»„—–]")
_DASH = re.compile(r"--+|—|\s–\s")
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
WRAP_LIMIT = 120
_TAIL = 16
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


def prose_of(blocks: Sequence[Block | PlainBlock], width: int = 0) -> tuple[list[str], list[Heading]]:
    """Return the paragraphs of prose in blocks of wrapped lines, and the headings that were left out.

    `width` is where lines are wrapped, 0 where that is to be found; it is given where blocks are known to be prose.

    >>> blocks = blocks_of(["CHAPTER I", "", "It was a dark night, and no-", "body spoke for an hour.", "", "* * *"])
    >>> prose_of(blocks)
    (['It was a dark night, and nobody spoke for an hour.'], [Heading(paragraphs=0, line='CHAPTER I')])
    """
    width = width or width_of([len(line) for block in blocks if len(block) > 2 for line in block[:-1]])
    kept: list[str] = []
    waiting: list[str] = []
    found: list[Heading] = []
    contents, notes, headed, open_end = False, False, True, False
    for number, block in enumerate(_split_at_indents(blocks, width)):
        if isinstance(block, str):
            if kept and not (notes or headed or contents):
                paragraph = block.lstrip()
                if open_end and paragraph[0].islower():
                    kept[-1] += "\n" + paragraph
                else:
                    kept.append(paragraph)
                open_end = paragraph[-1].isalnum()
                continue
            block = block.split("\n")  # noqa: PLW2901
        late = number > len(blocks) // 2
        headings = _headings(block, width)
        for line in block[:headings]:
            contents = contents or bool(_CONTENTS.match(line))
            notes = (notes and not _DIVISION_TITLE.match(line)) or (late and bool(_NOTES.match(line)))
            headed = True
            waiting.clear()
            found.append(Heading(len(kept), line.strip()))
        lines = block[headings:]
        if notes or not lines or (headed and _is_synopsis(lines)):
            continue
        paragraph = "\n".join(map(str.strip, lines))
        kind = _kind(lines, paragraph.replace("\n", " "), width)
        if kind == "heading":
            headed = True
            waiting.clear()
            found += [Heading(len(kept), line) for line in paragraph.split("\n")]
        if kind not in ("prose", "verse") or (not kept and len(lines) == 1 and _is_on_title_page(lines[0])):
            continue
        if contents and not _is_running(paragraph, width):
            waiting.append(paragraph)
            continue
        kept += waiting
        waiting.clear()
        contents = headed = False
        if open_end and kind == "prose" and paragraph[0].islower():
            kept[-1] += "\n" + paragraph
        else:
            kept.append(paragraph)
        open_end = kind == "prose" and paragraph[-1].isalnum()
    return joined(kept), found


def lines_of(lines: Iterable[str]) -> tuple[list[str], list[Heading]]:
    """Return the lines that have words, each as a paragraph, and the lines that are chapter labels."""
    kept: list[str] = []
    found: list[Heading] = []
    for line in map(str.strip, one_line(BORDER.join(lines)).split(BORDER)):
        if _LABEL.match(line):
            found.append(Heading(len(kept), line))
        elif any(map(str.isalpha, line)):
            kept.append(line)
    return kept, found


def rank_of(heading: str) -> int:
    """Return how a heading divides a book: 0 before or after its chapters, 1 by name, 2 by number, 3 by its layout.

    4 does not divide it: the heading of a table of contents, or a line that ends in a comma, colon or semicolon.

    >>> [rank_of(line) for line in ("PREFACE", "CHAPTER IV. The Sea", "IV", "THE SEA", "CONTENTS")]
    [0, 1, 2, 3, 4]
    """
    if _CONTENTS.match(heading):
        return 4
    if _NAMED.match(heading):
        return 0
    if _DIVISION_TITLE.match(heading):
        return 1
    if _LABEL.match(heading):
        return 2 if len(_WORD.findall(heading)) < 2 else 1
    if _NUMBERED_TITLE.match(heading):
        return 2
    return 4 if heading[-1] in ",;:" else 3


def width_of(lengths: list[int]) -> int:
    """Return the column at which lines are wrapped: the 90th percentile of the lines that another follows."""
    lengths.sort()
    return min(max(lengths[len(lengths) * 9 // 10], 40), WRAP_LIMIT) if lengths else 72


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
        if not _is_heading(line.strip(), block[number + 1] if number + 1 < len(block) else None, width):
            return number
    return len(block)


def _is_heading(line: str, following: str | None, width: int) -> bool:
    short = len(line) < 0.8 * width
    if _LABEL.match(line) or _NAMED.match(line):
        return following is None or not following.strip()[0].islower()
    if line.isupper() and not _OPENS_SPEECH.match(line):
        return following is None or short
    return bool(short and _DIVISION_TITLE.match(line)) and (following is None or len(following) > 0.8 * width)


def _kind(lines: Block, text: str, width: int) -> str:
    """Return what lines with this text are: "prose", "verse", "heading", or "" for none of them."""
    solid = len(text) - text.count(" ")
    if not any(map(str.isalpha, text)) or (solid > 20 and _count_signs(text) > 0.4 * solid):
        return ""
    if len(lines) == 1:
        return _kind_of_line(text, len(lines[0]) - len(text), width)
    if text.isupper() and not _OPENS_SPEECH.match(text):
        return "heading"
    if ("   " in text or "|" in text) and sum(map(_has_columns, lines)) * 2 >= len(lines):
        return ""
    if _is_list(lines):
        return ""
    lengths = [*map(len, lines)]
    margin = max(0.8 * width, *lengths) * 0.9
    firsts = [line.split(None, 1)[0] for line in lines[1:]]
    full = sum([length + 1 + len(word) > margin for length, word in zip(lengths, firsts, strict=False)]) / len(firsts)
    lower = sum([word[0].islower() for word in firsts]) / len(firsts)
    if full >= 0.6 or (lower >= 0.5 and full >= 0.3):
        untitled = len(lines) > 3 or _ENDS_CLAUSE.search(text[-_TAIL:]) or not _is_title(text)
        return "prose" if untitled else "heading"
    words = text.count(" ") + 1
    reads = _ENDS_CLAUSE.search(text[-_TAIL:]) and words >= 3.5 * len(lines) and not _is_title(text)
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
    speech = _OPENS_SPEECH.match(text)
    if len(text) < 1.5 * width and (_DIVISION_TITLE.match(text) or (_NUMBERED_TITLE.match(text) and _is_title(text))):
        return "heading"
    if _ends_in_number(text) or (indent > 0.25 * width and words < 8):
        return ""
    if _ENDS_SENTENCE.search(text[-_TAIL:]):
        return "heading" if not speech and 2 <= words <= 8 and _is_title(text) else "prose"
    if _ENDS_CLAUSE.search(text[-_TAIL:]):
        return "prose" if words > 2 or speech else ""
    return "prose" if long and words > 7 and not _is_title(text) else "heading"


def _has_columns(line: str) -> bool:
    return ("   " in line or "|" in line) and bool(_COLUMNS.search(line.strip()))


def _ends_in_number(line: str) -> bool:
    return (line[-1].isdigit() or line[-1] in "ivxlc") and bool(_PAGE_NUMBER.search(line[-40:]))


def _is_on_title_page(line: str) -> bool:
    return not _ENDS_SENTENCE.search(line[-_TAIL:]) or (len(line) < 60 and bool(_BYLINE.match(line)))


def _is_running(paragraph: str, width: int) -> bool:
    """Tell whether a paragraph is prose that ends a table of contents, not a long entry of it."""
    text = paragraph.replace("\n", " ")
    return (
        len(text) > 1.3 * width
        and not _ENTRY.match(text)
        and bool(_ENDS_CLAUSE.search(text[-_TAIL:]))
        and not _is_synopsis([text])
    )


def _is_synopsis(lines: Block) -> bool:
    """Tell whether lines are a synopsis, as under a chapter's heading in old books: phrases separated by dashes."""
    phrases = _DASH.split(" ".join(lines))
    return len(phrases) > 2 and sum(phrase.count(" ") + 1 for phrase in phrases) < 7 * len(phrases)


def _is_title(text: str) -> bool:
    """Tell whether all words but short ones begin with a capital."""
    words = _WORD.findall(text)
    large = [word for word in words if len(word) > 3] or words
    return bool(words) and sum(word[0].isupper() for word in large) >= 0.8 * len(large) and words[0][0].isupper()
