"""What an archive and its transcribers add to a book: header, licence, credits, notes, and marks inside the text.

The forms are those of Project Gutenberg from 1991 on; other archives that write `*** START OF ... EBOOK` are served
too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bertdata.sources.books.headings import COPYRIGHT
from bertdata.sources.books.running_text import (
    is_own_text,
    is_running_text,
    is_speech,
    is_story,
    lines_of_block,
    tells_of_somebody,
)

if TYPE_CHECKING:
    from bertdata.sources.books.prose_blocks import Candidate

Block = list[str]

_AFTER_STARS = r"(?:[^\w*]*+\*++)*+(?<=\*\*)\s*+"
_START = re.compile(
    rf"^(?:{_AFTER_STARS}START OF TH(?:IS|E)\b.*\bE-?(?:BOOK|TEXT)\b|"
    r"\W*+START OF (?:TH(?:IS|E) )?PROJECT GUTENBERG)",
    re.IGNORECASE,
)
_END = re.compile(
    rf"^(?:{_AFTER_STARS}END OF TH(?:IS|E)\b.*\bE-?(?:BOOK|TEXT)\b|\W*+(?:END OF (?:TH(?:IS|E) )?PROJECT GUTENBERG|"
    r"START: FULL LICEN[SC]E|START\W+THE SMALL PRINT|INFORMATION ABOUT PROJECT GUTENBERG\b.{0,30}$))",
    re.IGNORECASE,
)
_SMALL_PRINT_END = re.compile(r"^\W*END\W+(?:OF )?THE SMALL PRINT", re.IGNORECASE)
_ORNAMENT = " \t*-_#=<>.\"'“\ufeff"
_MARKERS = ("START", "END", "INFORMATION")
_MARKER_LETTERS = frozenset("SEIsei") | {"ı", "ſ"}
_FIELD = re.compile(r"^(Title|Author):\s*(\S.*)$", re.IGNORECASE)

_OF_LICENCES = r"This\s+e-?(?:book|text)\s+is\s+(?:for\s+the\s+use\s+of\s+anyone|made\s+available\s+at\s+no\s+cost)"
_LICENCE = re.compile(
    rf"(?<![\"“”‘'«„»]){_OF_LICENCES}\b[^.\"“”«»]{{0,90}}?\bwith\s+(?:very\s+few|almost\s+no)\s+restrictions",
    re.IGNORECASE,
)
"""The sentence with which a licence begins, wherever it stands: a book that quotes or tells of it has other words."""
_ARCHIVE = re.compile(
    rf"\bProject\s+Gutenberg|gutenberg\.(?:org|net|ca)\b|\bpgdp\.net|Distributed\s+Proofread|fadedpage\.(?:com|net)|"
    rf"{_OF_LICENCES}",
    re.IGNORECASE,
)
_ARCHIVE_WORDS = ("gutenberg", "pgdp", "proofread", "fadedpage", "for the use of", "at no cost")
_BEGIN = r"^(?:[\W_]+|(?-i:(?=[^\W\d_a-z])))"
"""What lines of an archive begin with: a mark or a capital. A line of a sentence may begin with any of their words."""
_HEADER_FIELD = re.compile(
    _BEGIN + r"(?:Title|Author|Translator|Editor|Illustrator|Contributor|Release\s+date|Posting\s+date|Last\s+updated|"
    r"Most\s+recently\s+updated|Language|Cha[rt]acter\s+set\s+encoding|Encoding|Edition|Credits|Produced\s+by):",
    re.IGNORECASE,
)
_CREDIT = re.compile(
    _BEGIN
    + r"(?:(?:this\s+)?(?:e-?book|e-?text|file|text)\s+(?:was\s+)?(?:originally\s+)?(?:prepared|produced|scanned|"
    r"transcribed|typed|created|proofread|converted)\b|transcribed\s+(?:from|by)\b|(?:e-?text\s+)?(?:produced|prepared|"
    r"scanned|proof(?:read|ed)|digiti[sz]ed|html\s+version|typed|formatted)\b[^.]{0,80}?\b(?:by|from)\b:?\s+(?-i:[^a-z]))",
    re.IGNORECASE,
)
_NOTICE = re.compile(
    _BEGIN + rf"(?:\[?{COPYRIGHT}|all rights reserved|alle rechte(?:,[^.]{{0,60}},)? vorbehalten|"
    r"tous droits r[ée]serv[ée]s|"
    r"der (?:verfasser|autor|verleger) behält sich\b[^.]{0,40}\b(?:recht|(?:ue|ü)bersetzung)|"
    r"entered,?\s+according\s+to\s+(?:the\s+)?act\b|in\s+the\s+(?:\S+\s)?office\s+of\s+(?:the\s+)?"
    r"(?:clerk|district|librarian|minister|regist|stationer)|"
    r"(?:re)?printed\s+(?:and\s+(?:bound|published)\s+)?(?:in|by|at)\b)",
    re.IGNORECASE,
)
_TELLS = re.compile(r"\b(?:was|were|had|he|she|they|him|his|her|them|their)\b")
"""Words of sentences that tell a story: a paragraph with one of them is not a notice of the printer or of rights."""
_TITLE_PAGE = re.compile(
    r"^[\W_]*(?:author\s+of\s+_?[\"“'‘]|(?:produced|prepared|scanned|typed|digiti[sz]ed)\s+from\b)", re.IGNORECASE
)
_NOTE_HEAD = re.compile(
    _BEGIN + r"(?:(?:original\s+|e-?text\s+)*(?:transcriber|proofreader|typist)\S{0,10}(?:\s+\w+)?\s+(?:(?:end)?note|"
    r"amendment|"
    r"correction|errata)|typographical\s+errors\s+(?:were\s+)?corrected|note\s+from\s+the\s+original\s+file|"
    r"project\s+gutenberg\s+editor)",
    re.IGNORECASE,
)
_AFTER_NOTE_HEAD = re.compile(r"\w*+\W{0,3}(?:\w++\W{0,3}){0,2}?(?:[:.—–]|--|\s-)|\w*+\W*+$")
"""What follows the heading of a note in its line: a mark, or nothing."""
_SIDE_NOTE = re.compile(
    r"\[\s*(?:[*†]\s*)?(?:Illustrations?|Headnotes?|Footnotes?|Sidenotes?|Side-note|Transcriber|Transcription|Original\s+Transcriber|Transcriber's|"
    r"Editor['’]s\s+note|Frontispiece|Decoration|Picture|Map(?!p)|Plate|Facsimile|Image(?!r)|Portrait|Music(?!ian)|Blank\s+page|"
    r"Tailpiece|Headpiece|Handwritten|Cover(?!e|i)|Pg\.?\s*\d|Page\s*\d|p\.\s*[\divxlc]+\s*\]|Project\s+Gutenberg|Greek:?\s*\])",
    re.IGNORECASE,
)
_FOOTNOTE_MARK = re.compile(
    r"[ \t]?(?:\[(?:\d{1,4}[a-z]?|[A-Za-z]|[*†‡§#+]{1,4})\](?![A-Za-z])|\{(?:Pg\.?\s*|p\.\s*)?\d{1,4}[a-z]?\})"
)
_ROUND_MARK = re.compile(r"\((?<=[a-z.,;:”’\"]\()(?:\d{1,3}|\*{1,3})\)(?=[\s.,;:”]|$)")
_FOOTNOTE_BLOCK = re.compile(
    r"^\s*(?:\[(?:\d{1,4}[a-z]?|[A-Z]|[*†‡§]{1,4})\]:?\s+\S|\{\d{1,4}[a-z]?\}\s+\S|\((?:\*{1,3}|[†‡])\)\s*\S|"
    r"(?!\*(?=[^\W\d_])[^*\n]{1,80}+(?<=\w|[.!?,])\*(?!\w))(?:[*†‡]{1,4}|§)\s?(?![*\s\d])|Footnote\s+(?:\d{1,4}[a-z]?|[ivxlc]{1,4}|[A-Z]{1,4})[.:]|\[Linenotes?:|\d{1,4}\s\(return\))"
)
_STAR_MARK = re.compile(r"(?<=[\w.,;:!?\"'”’)])(?:\*{1,3}|[†‡])(?![\w*])")
_STARS = re.compile(r"(?<!\s)\s*+\*(?:\s++\*){2,}+\s*+")
_SECTION_MARK = re.compile(r"^§+\s*\d+[.:]?\s*")
_ACCENT = re.compile(r"\[(?:[=)(^:`'~]([A-Za-z])|([AEOaeo][Ee]))\]")
_EMPHASIS = re.compile(
    r"_(?:(?<![^\W_]_)(?=[^\s_])([^_]+)_|(?<=[^\W_]_)([^\W_]+)_(?![^\W_])|(?<=[a-z]_)([a-z]{1,3})_(?=[a-z]))"
)
_STRAY = re.compile(r"_(?:(?<![^\W_]_)|(?![^\W_]))")
_PAIRED = re.compile(r"(?<![\w=~*])([=~*])(?=[^\s=~*])([^=~*]*[^\s=~*])\1(?![\w=~*])")
_TAG = re.compile(r"</?(?:i|b|em|u|sc|small|sup|sub|tt|strong)>", re.IGNORECASE)
_EXPONENT = re.compile(r"\^\{([-+−]?\d{1,18})\}|(?<=\d)<sup>([-+−]?\d{1,18})</sup>", re.IGNORECASE)
"""A raised number, which is not one with the digits or the letter before it."""
_RAISED = re.compile(r"[_^]\{([^{}\n]{1,20})\}|\^(?=[^\W\d])")


TITLE_PAGE_BLOCKS = 30
"""Blocks at the start of a book in which what only a title page has is taken for that: in the story it is text."""
_NOTE_BLOCKS = 20
BLOCK_LIMIT = 5000
"""Characters of the longest block that may be a credit, boilerplate or a footnote; a longer one is text that has words
of these. The longest in Project Gutenberg's novels has 1,753."""
BRACKET_LIMIT = 20_000
"""Characters of the longest note in brackets, of several paragraphs; that of Project Gutenberg's novels has 3,735."""


def title_and_author(head: str) -> tuple[str, str]:
    """Return what the first lines say after `Title:` and `Author:`, empty where they say nothing.

    >>> title_and_author("The Project Gutenberg eBook\\n\\nTitle: A Book\\n  Of Ours\\n\\nAuthor: N. N.\\n")
    ('A Book Of Ours', 'N. N.')
    """
    fields = {"title": "", "author": ""}
    name = ""
    for line in head.splitlines()[:300]:
        match = _FIELD.match(line)
        if match and not fields[match[1].lower()]:
            name = match[1].lower()
            fields[name] = match[2].strip()
        elif name and line[:1] in (" ", "\t") and line.strip():
            fields[name] += " " + line.strip()
        else:
            name = ""
    return fields["title"], fields["author"]


def body_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines that are neither archive header nor licence; several books in one file keep all their bodies."""
    marks = [
        (number, kind)
        for number, line in enumerate(lines)
        if line.lstrip(_ORNAMENT)[:1] in _MARKER_LETTERS and (kind := _marker(line))
    ]
    begins = "start" if any(kind == "start" for _, kind in marks) else "small print"
    inside = not marks or marks[0][1] == "end"
    if begins == "small print" and _small_print_is_first(lines, marks):
        inside = False
    body: list[str] = []
    since = 0
    for number, kind in [*marks, (len(lines), "end")]:
        if inside:
            body += [*lines[since:number], ""]
        inside, since = kind == begins, number + 1
    return body


def _marker(line: str) -> str | None:
    if not line.lstrip(_ORNAMENT)[:11].upper().startswith(_MARKERS) or len(line) > 300:
        return None
    if _SMALL_PRINT_END.match(line):
        return "small print"
    if _START.match(line):
        return "start"
    return "end" if _END.match(line) else None


def _small_print_is_first(lines: Sequence[str], marks: Sequence[tuple[int, str]]) -> bool:
    """Tell whether the small print comes before the text, as until 2002, or after it."""
    closing = next((number for number, kind in marks if kind == "small print"), None)
    if closing is None:
        return False
    following = next((number for number, _ in marks if number > closing), len(lines))
    return sum(map(len, lines[closing + 1 : following])) > sum(map(len, lines[: marks[0][0]])) // 2


def without_notes(text: str) -> str:
    """Take out `[Illustration ...]`, `[Footnote 3: ...]` and their like, over any number of lines, brackets nested.

    A note that is never closed ends with its paragraph. A bracket that is closed only after `BRACKET_LIMIT` characters,
    or never and whose paragraph has over `BLOCK_LIMIT`, is text.

    >>> without_notes("He rose.[Footnote 1: See [A].] She sat.\\n\\n[Illustration:\\n\\nA CAT]\\n")
    'He rose. She sat.\\n\\n\\n'
    """
    openings = [match.start() for match in _SIDE_NOTE.finditer(text)]
    if not openings:
        return text
    closing: dict[int, int] = {}
    stack: list[int] = []
    for match in re.finditer(r"[\[\]]", text):
        if match[0] == "[":
            stack.append(match.start())
        elif stack:
            closing[stack.pop()] = match.end()
    pieces, position, blank = [], 0, 0
    for opening in openings:
        if opening >= position:
            end = closing.get(opening)
            limit = BRACKET_LIMIT
            if end is None:
                if 0 <= blank < opening:  # else that of the opening before is the next one of this
                    blank = text.find("\n\n", opening)
                end, limit = len(text) if blank < 0 else blank, BLOCK_LIMIT
            if end - opening > limit:
                continue
            pieces.append(text[position:opening])
            position = end
    return "".join([*pieces, text[position:]])


def without_credits(blocks: Sequence[Block | Candidate]) -> Iterator[Block | Candidate]:
    """Yield the blocks that are neither boilerplate of an archive, nor credits, nor transcriber's notes.

    A note under its own heading reaches to the next heading or to prose without a word that notes use, an indented one
    as far as it is indented; near the end of the book, to the end. A `Candidate` is not checked itself, but may be
    inside a note.
    """
    noted, indent = 0, 0
    for number, whole in enumerate(blocks):
        if not isinstance(whole, list) and not noted:
            yield whole
            continue
        block = lines_of_block(whole)
        if not _is_long(block) and _heads_note(block):
            if number > max(20, 0.9 * len(blocks)):
                return
            noted, indent = _NOTE_BLOCKS, 0
            continue
        if noted == _NOTE_BLOCKS and not indent:
            indent = _indent(block)
        goes_on = noted and not _is_long(block) and _indent(block) >= indent
        if goes_on and (indent or not (_is_short(block) or is_story(block))):
            noted -= 1
            continue
        noted = 0
        if _is_long(block):
            yield whole
            continue
        added = _addition(block, is_early=number < TITLE_PAGE_BLOCKS)
        if added and (added == "licence" or not is_own_text(blocks, number, strict=added == "credit")):
            continue
        yield whole


def _heads_note(block: Block) -> bool:
    """Tell whether a block is the heading of a note, or begins with one: a sentence only begins with its words."""
    first = block[0].strip()
    heading = _NOTE_HEAD.match(first)
    if heading is None or is_speech(" ".join(map(str.strip, block))):
        return False
    return bool(_AFTER_NOTE_HEAD.match(first, heading.end())) or not is_running_text(block)


def _addition(block: Block, *, is_early: bool) -> str:
    """Return what a block looks like by the words in it: a "licence", a "name", "field" or "credit"; "" for none."""
    first, joined = block[0].strip(), " ".join([line.strip() for line in block[:12]])
    if _names_archive(joined):
        return "licence" if _LICENCE.search(joined) and not tells_of_somebody(joined) else "name"
    if _HEADER_FIELD.match(first):
        return "field"
    if len(block) >= 12:
        return ""
    is_notice = _NOTICE.match(joined) and not _TELLS.search(joined)
    return (
        "credit"
        if _CREDIT.match(joined) or _NOTE_HEAD.match(first) or is_notice or (is_early and _TITLE_PAGE.match(joined))
        else ""
    )


def _is_long(block: Block) -> bool:
    return sum(map(len, block)) > BLOCK_LIMIT


def _names_archive(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in _ARCHIVE_WORDS) and bool(_ARCHIVE.search(text))


def _indent(block: Block) -> int:
    return min([len(line) - len(line.lstrip()) for line in block])


def _is_short(block: Block) -> bool:
    text = block[0].strip()
    return len(block) == 1 and len(text) < 50 and (text.isupper() or text[-1] not in ".,;:")


def is_footnote(block: Block | Candidate) -> bool:
    """Tell whether a block is a note to the text: it begins with a mark such as `[12]` or `*`."""
    return isinstance(block, list) and bool(_FOOTNOTE_BLOCK.match(block[0])) and not _is_long(block)


def without_marks(paragraph: str) -> str:
    """Take out footnote marks and the signs of italics, bold and raised letters, keeping the words.

    >>> without_marks("The _Maison Vauquer_[3] was =old=,* they say; snake_case stays.")
    'The Maison Vauquer was old, they say; snake_case stays.'
    """
    if "^" in paragraph or "_{" in paragraph or "<" in paragraph:
        paragraph = _RAISED.sub(r"\1", _EXPONENT.sub(r"^\1\2", paragraph))
    if "[" in paragraph or "{" in paragraph:
        paragraph = _FOOTNOTE_MARK.sub("", _ACCENT.sub(r"\1\2", paragraph))
    if ")" in paragraph:
        paragraph = _ROUND_MARK.sub("", paragraph)
    if "<" in paragraph:
        paragraph = _TAG.sub("", paragraph)
    if "_" in paragraph:
        paragraph = re.sub(r"_{2,}", "—", paragraph)
        paragraph = _STRAY.sub("", _EMPHASIS.sub(r"\1\2\3", paragraph))
    if "=" in paragraph or "~" in paragraph or "*" in paragraph:
        paragraph = _STAR_MARK.sub("", _PAIRED.sub(r"\2", _STARS.sub(" ", paragraph)))
    if "†" in paragraph or "‡" in paragraph:
        paragraph = _STAR_MARK.sub("", paragraph)
    if paragraph[:1] == "§":
        paragraph = _SECTION_MARK.sub("", paragraph)
    return paragraph
