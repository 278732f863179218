"""The third pass over wikitext, line by line: it drops lists, headings, table rows, code and sections without prose.

Templates, links and tables are resolved before. Bold and italic marks are removed here, as MediaWiki matches them
within a line, in a poem within a line of verse. `kernels/paragraphs` does the same, compiled.
"""

from __future__ import annotations

import re

from bertdata.wikitext import rules
from bertdata.wikitext.mediawiki.folding import fold_title
from bertdata.wikitext.mediawiki.site_config import SECTIONS_OF_NOTES, SECTIONS_WITHOUT_PROSE
from bertdata.wikitext.reference.inline import LINKED_ADDRESS
from bertdata.wikitext.rules import LINE_BREAK, PARAGRAPH_BREAK, PLACEHOLDER

_SENTENCE_ENDS = frozenset(rules.SENTENCE_ENDS)
_QUOTES = re.compile("''+")
_ADDRESS = re.compile(LINKED_ADDRESS, re.IGNORECASE | re.ASCII)
_TAG = re.compile("<[^<>]*+>")
_BLOCK_TAG = re.compile(
    rf"<(?:(?P<begins>{'|'.join(rules.BEGINS_BLOCK)})|{'|'.join(rules.ENDS_BLOCK)})(?!\w)", re.IGNORECASE | re.ASCII
)
_LETTER = re.compile(f"[A-Za-z{'-'.join(rules.LETTERS)}]")
_YEAR_OF_A_SOURCE = re.compile(r"[0-9]{4}(?! )")


def prose_lines(text: str) -> str:
    """Return the prose paragraphs of text, each on one line, separated by a blank line.

    A blank or dropped line, a heading or a list ends a paragraph. A section of notes has prose if it begins with it.

    >>> prose_lines("'''Rome''' is\\nold.\\n* a list\\n== See also ==\\nRemus.\\n== Age ==\\nIt is old.")
    'Rome is old.\\n\\nIt is old.'
    """
    blocks: list[str] = []
    block: list[str] = []
    skipped_level = 0
    undecided = inside = quoted = False
    for source_line in text.split("\n"):
        line, body = source_line, source_line.strip(rules.LINE_EDGES)
        first = body[:1]
        if first == "=" and (heading := _heading(body)) is not None:
            level, title, line = heading
            body, first = line, line[:1]
            if not skipped_level or level <= skipped_level:
                skipped_level = level if title in SECTIONS_WITHOUT_PROSE else 0
                undecided = title in SECTIONS_OF_NOTES
            else:
                undecided = False
            _end(block, blocks)
            inside = False
        elif body.startswith("----"):
            _end(block, blocks)
            inside = False
            line = body = body.lstrip("-").strip(rules.LINE_EDGES)
        elif not body and PLACEHOLDER in line and block and block[-1][-1:] not in _SENTENCE_ENDS:
            continue
        if undecided and body:
            undecided = False
            if _begins_notes(line, body):
                skipped_level = 0
        if skipped_level or not body or first in rules.LIST_MARKS:
            _end(block, blocks)
            continue
        tags = list(_BLOCK_TAG.finditer(body)) if "<" in body else []
        if tags:
            inside = all(tag["begins"] for tag in tags)
            quotes = [tag[0][1] for tag in tags if "blockquote" in tag[0].lower()]
            quoted = quotes[-1] != "/" if quotes else quoted
        code = not (tags or inside or quoted) and _is_preformatted(line, body)
        if code or _is_table_header(body):
            _end(block, blocks)
        else:
            if first in ",.)":
                line = PLACEHOLDER + body
            block.append(LINE_BREAK.join(map(strip_quotes, line.split(LINE_BREAK))) if "''" in line else line)
    _end(block, blocks)
    return PARAGRAPH_BREAK.join(blocks)


def strip_quotes(line: str) -> str:
    """Take the bold and italic marks out of one line, leaving the apostrophes that MediaWiki would show.

    >>> strip_quotes("The '''Beatles''''s album and L'''Oréal'' text.")
    "The Beatles's album and L'Oréal text."
    >>> strip_quotes("[http://example.org''Title''] and [sic''er'']")  # the marks end an address
    '[http://example.org Title] and [sicer]'
    """
    texts, runs = _QUOTES.split(line), [len(run) for run in _QUOTES.findall(line)]
    bold, italic = sum(run != 2 for run in runs), sum(run == 2 or run >= 5 for run in runs)
    apostrophe = _bold_that_is_an_apostrophe(texts, runs) if bold % 2 and italic % 2 else -1
    out = [texts[0]]
    for index, run in enumerate(runs):
        apostrophes = "'" * (run - 5 if run > 5 else (run == 4) + (index == apostrophe))
        out.append(apostrophes)
        if _ends_with_address(texts[index] + apostrophes):
            out.append(" ")
        out.append(texts[index + 1])
    return "".join(out)


def _ends_with_address(text: str) -> bool:
    """Tell whether a text ends inside the address of an external link."""
    address = _ADDRESS.match(text, max(text.rfind("["), 0))
    return address is not None and address.end() == len(text)


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


def _end(block: list[str], blocks: list[str]) -> None:
    if block:
        blocks.append(" ".join(block))
        block.clear()


def _is_preformatted(line: str, body: str) -> bool:
    """Tell whether a space-indented line shows code or a drawing; a long one that ends as a sentence does is prose."""
    return line[0] == " " and (body[-1] not in _SENTENCE_ENDS or body.count(" ") < rules.SPACES_OF_PROSE)


def _begins_notes(line: str, body: str) -> bool:
    """Tell whether the first line below a heading such as "Notes" is a paragraph of prose; a footnote has a mark."""
    return (
        _LETTER.match(line) is not None
        and body[-1] in _SENTENCE_ENDS
        and body.count(" ") >= rules.SPACES_OF_NOTES
        and _YEAR_OF_A_SOURCE.search(body) is None
    )


def _is_table_header(body: str) -> bool:
    return body[0] == "!" and (body[1:2] == " " or "!!" in body)


def _heading(line: str) -> tuple[int, str, str] | None:
    """Split a line that begins with "=" into the level, the lower-case title and what is after the heading."""
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
    title = _TAG.sub("", _QUOTES.sub("", title.replace(PLACEHOLDER, "")))
    return level, fold_title(title.strip(rules.TITLE_EDGES)), rest.strip(rules.LINE_EDGES)
