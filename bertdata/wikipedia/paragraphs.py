"""Prose paragraphs out of text whose templates, links and tables are already resolved.

First by lines: lists, headings, table rows, code and whole sections without prose go. Then inline markup: quote marks,
HTML tags, external links, character entities. Whatever has no letter or digit left is no paragraph.
"""

from __future__ import annotations

import html
import re

from bertdata.wikipedia.healing import HOLE, heal
from bertdata.wikipedia.tags import LINE_BREAK, PARAGRAPH_BREAK
from bertdata.wikipedia.wikis import SECTIONS_WITHOUT_PROSE

_EDGES = f" \t{HOLE}"
_QUOTES = re.compile("''+")
_SENTENCE_ENDS = frozenset(".!?:;\"'”’»)]…。！？")
_BEHAVIOUR_SWITCH = re.compile(r"__[^\W\d_]{4,40}__")
_EXTERNAL_LINK = re.compile(
    r"\[(?:(?:https?|ftps?|ircs?|news|gopher|git|mailto|tel|geo|magnet|urn):|//)[^\s\[\]<>\"]*+"
    r"[ \t]*+((?:[^\[\]\n]|\[[^\[\]\n]*+\])*+)\]",
    re.IGNORECASE,
)
_BREAK = re.compile(r"</?[ ]?(?:br|wbr|hr)\b[^<>]*+>", re.IGNORECASE)
_BLOCK = re.compile(r"</?(?:p|div|blockquote|center|li|dd|dt|tr|td|th|table|ul|ol|dl)(?:[\s/][^<>]*+)?>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:abbr|b|bdi|bdo|big|caption|cite|code|col|colgroup|data|del|dfn|em|font|gallery|h[1-6]|i|includeonly|ins|kbd|"
    r"mark|math|nobr|noinclude|nowiki|onlyinclude|poem|pre|q|rb|ref|references|rp|rt|rtc|ruby|s|samp|section|small|"
    r"span|strike|strong|sub|sup|syntaxhighlight|tbody|templatestyles|thead|tfoot|time|tt|u|var|chem|ce|hiero|source|"
    r"langconvert|translate|tvar|languages|img|a)(?:[\s/][^<>]*+)?>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_ODD_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\t]")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
_LINE_BREAKS = re.compile(rf"[\s{HOLE}]*{LINE_BREAK}[\s{HOLE}{LINE_BREAK}]*")
_SPACE_RUN = re.compile(r"[ \n]{2,}|\n")
_PARAGRAPH_BREAK = re.compile(r"\n[ \n]*\n")
_WORD = re.compile(r"\w")
_ONLY_URL = re.compile(r"\w{3,6}://\S+")


def prose_paragraphs(text: str) -> str:
    """Return the paragraphs of prose, parted by a blank line; "" if there are none.

    >>> prose_paragraphs("'''Rome''' is old.\\n* a list\\n== See also ==\\nRemus.\\n== Age ==\\nIt is not&nbsp;young.")
    'Rome is old.\\n\\nIt is not young.'
    """
    text = _inline(PARAGRAPH_BREAK.join(_prose_blocks(text)))
    paragraphs = (_finish(paragraph) for paragraph in _PARAGRAPH_BREAK.split(text))
    return PARAGRAPH_BREAK.join(
        paragraph for paragraph in paragraphs if _WORD.search(paragraph) and not _ONLY_URL.fullmatch(paragraph)
    )


def strip_quotes(line: str) -> str:
    """Take the bold and italic marks out of one line, leaving the apostrophes that MediaWiki would show.

    >>> strip_quotes("The '''Beatles''''s album and L'''Oréal'' text.")
    "The Beatles's album and L'Oréal text."
    """
    texts, runs = _QUOTES.split(line), [len(run) for run in _QUOTES.findall(line)]
    bold, italic = sum(run != 2 for run in runs), sum(run == 2 or run >= 5 for run in runs)
    apostrophe = _bold_that_is_an_apostrophe(texts, runs) if bold % 2 and italic % 2 else -1
    out = [texts[0]]
    for index, run in enumerate(runs):
        out.append("'" * (run - 5 if run > 5 else (run == 4) + (index == apostrophe)))
        out.append(texts[index + 1])
    return "".join(out)


def _bold_that_is_an_apostrophe(texts: list[str], runs: list[int]) -> int:
    """Choose, where bold and italic are both odd, the bold mark that is an apostrophe and an italic mark.

    MediaWiki prefers one after a word of one letter, then one after a longer word, then one after a space.
    """
    word = space = -1
    for index, run in enumerate(runs):
        before = texts[index] + "'" * (run == 4)
        if run not in (3, 4):
            continue
        if before.endswith(" "):
            space = index if space < 0 else space
        elif before[-2:-1] == " ":
            return index
        elif word < 0:
            word = index
    return word if word >= 0 else space


def _prose_blocks(text: str) -> list[str]:
    """Group the lines of prose: a blank or dropped line, a heading and a list part two blocks."""
    blocks: list[str] = []
    block: list[str] = []
    skipped_level = 0
    for source_line in text.split("\n"):
        line, body = source_line, source_line.strip(_EDGES)
        first = body[:1]
        if first == "=" and (heading := _heading(body)) is not None:
            level, title, line = heading
            body, first = line, line[:1]
            if not skipped_level or level <= skipped_level:
                skipped_level = level if title in SECTIONS_WITHOUT_PROSE else 0
            _end(block, blocks)
        elif body.startswith("----"):
            _end(block, blocks)
            line = body = body.lstrip("-")
        elif not body and HOLE in line and block and block[-1][-1:] not in _SENTENCE_ENDS:
            continue
        if skipped_level or not body or first in "*#:;|" or _is_preformatted(line, body) or _is_table_header(body):
            _end(block, blocks)
        else:
            if first in ",.;)":
                line = HOLE + body
            block.append(strip_quotes(line) if "''" in line else line)
    _end(block, blocks)
    return blocks


def _end(block: list[str], blocks: list[str]) -> None:
    if block:
        blocks.append(" ".join(block))
        block.clear()


def _is_preformatted(line: str, body: str) -> bool:
    """Tell whether a space-indented line shows code or a drawing; a long one that ends as a sentence does is prose."""
    return line[0] == " " and (body[-1] not in _SENTENCE_ENDS or body.count(" ") < 8)


def _is_table_header(body: str) -> bool:
    return body[0] == "!" and (body[1:2] == " " or "!!" in body)


def _heading(line: str) -> tuple[int, str, str] | None:
    """Split a line that begins with "=" into the level, the lower-case title and what stands after the heading."""
    level = min(len(line) - len(line.lstrip("=")), 6)
    closing = min(len(line) - len(line.rstrip("=")), level)
    if closing:
        level = max(1, min(closing, (len(line) - 1) // 2))
        title, rest = line[level:-level], ""
    else:
        end = line.find("=" * level, level)
        if level < 2 or end < 0:
            return None
        title, rest = line[level:end], line[end + level :]
    return level, _TAG.sub("", _QUOTES.sub("", title.replace(HOLE, ""))).strip(" \t:").lower(), rest.strip(_EDGES)


def _inline(text: str) -> str:
    """Resolve inline markup; every pass is one substitution over the whole text."""
    if "__" in text:
        text = _BEHAVIOUR_SWITCH.sub("", text)
    if "[" in text:
        text = _EXTERNAL_LINK.sub(lambda match: match[1] or HOLE, text)
    if "<" in text:
        text = _TAG.sub("", _BLOCK.sub(PARAGRAPH_BREAK, _BREAK.sub(" ", text)))
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return _INVISIBLE.sub("", _ODD_SPACE.sub(" ", text))


def _finish(paragraph: str) -> str:
    """Heal one paragraph and lay its spaces; the lines of verse stay lines."""
    paragraph = heal(_SPACE_RUN.sub(" ", paragraph)).strip()
    return _LINE_BREAKS.sub("\n", paragraph).strip() if LINE_BREAK in paragraph else paragraph
