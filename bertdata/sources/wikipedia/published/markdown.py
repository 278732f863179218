"""Articles as text with Markdown, as in HuggingFaceFW/finewiki: its headings, lists, tables and marks are taken out.

A file of FineWiki also has the page's wikitext; with `--text-column wikitext` that is cleaned as a page of a dump is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bertdata.sources.names import NO_TEXT
from bertdata.sources.wikipedia.published.form import (
    Article,
    ArticleRules,
    Form,
    Skipped,
    finished,
    plain,
    title_reason,
    whole,
)
from bertdata.sources.wikipedia.published.pages import from_wikitext
from bertdata.wikitext.rules import FORMULA_LENGTH, NOT_IN_FORMULAS, PLACEHOLDER

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_LIST_OR_TABLE = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s|\Z)|\|")
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,}|={3,})\s*\Z")
_FENCE = re.compile(r"```|~~~|\$\$\s*\Z")
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(?=\S)([^$\n]*?\S)\$(?![0-9])")
_OPENS_BOLD = re.compile(r"(\*\*|__)(?=\S)")
_BOLD = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKS = ("wikiname", "page_id", "in_language")


class FineWikiForm(Form):
    """Rows whose `text` is Markdown."""

    name = "finewiki"
    text_column = "text"
    mark = _MARKS
    revision = 3
    others = ("id", "title", "url", "has_math")

    def article(self, row: Mapping[str, Any], rules: ArticleRules) -> Article:
        """Return the prose of the text."""
        metadata = _identity(row)
        if not isinstance(text := row.get("text"), str):
            return metadata._replace(reason=NO_TEXT)
        if reason := title_reason(metadata, rules, mostly_list=_is_mostly_list(text)):
            return metadata._replace(reason=reason)
        lines = list(prose_of_markdown(text, formulas=bool(row.get("has_math"))))
        return finished(metadata._replace(text=plain(lines)), rules)


class FineWikiWikitextForm(FineWikiForm):
    """The same rows, read from their `wikitext`."""

    name = "finewiki-wikitext"
    text_column = "wikitext"

    def article(self, row: Mapping[str, Any], rules: ArticleRules) -> Article:
        """Return the prose of the wikitext."""
        metadata = _identity(row)
        if not isinstance(source := row.get("wikitext"), str):
            return metadata._replace(reason="no wikitext")
        return from_wikitext(metadata, source, rules)


FINEWIKI = FineWikiForm()
FINEWIKI_WIKITEXT = FineWikiWikitextForm()


def prose_of_markdown(text: str, *, formulas: bool = False) -> Iterator[str]:
    """Yield the lines of Markdown that are prose, without their marks; a line is a paragraph.

    Headings, lists, tables, code and sections without prose are left out. With `formulas`, what is between dollar signs
    is TeX: it is left out, but for a short formula without commands.

    >>> list(prose_of_markdown("# Rome\\nIt is **old**.\\n\\n## See also\\n- Remus\\nHe fell.\\n## Age\\n> Very."))
    ['It is old.', 'Very.']
    """
    skipped, sections = False, Skipped()
    fence = ""
    for raw in text.splitlines():
        line = raw.strip()
        if fence:
            fence = "" if line.startswith(fence) else fence
            continue
        if opening := _FENCE.match(line):
            fence = opening[0].strip()
            continue
        if heading := _HEADING.match(line):
            skipped = sections.enter(len(heading[1]), heading[2].rstrip().rstrip("#").rstrip().replace("*", ""))
            continue
        line = line.lstrip("> ") if line.startswith(">") else line
        if skipped or not line or _LIST_OR_TABLE.match(line) or _RULE.match(line):
            continue
        if formulas:
            line = _FORMULA.sub(_formula, line)
        yield _LINK.sub(r"\1", _without_bold(line))


def _is_mostly_list(text: str) -> bool:
    """Tell whether at least as much text is in lists and tables as in other lines, but headings.

    >>> _is_mostly_list("It is salt.\\n- a\\n- b"), _is_mostly_list("Salts:\\n- halite\\n- sylvite")
    (False, True)
    """
    lines = [line.strip() for line in text.splitlines()]
    listed = sum(len(line) for line in lines if _LIST_OR_TABLE.match(line))
    return listed >= sum(len(line) for line in lines if not _LIST_OR_TABLE.match(line) and not _HEADING.match(line))


def _without_bold(line: str) -> str:
    """Take out the marks of bold text, in time linear in the line: none is looked for after the last that closes one.

    >>> _without_bold("It is **very** __old__, **not so.")
    'It is very old, **not so.'
    """
    last = {mark: _last_closing(line, mark) for mark in ("**", "__")}
    texts, done, position = [], 0, 0
    while opening := _OPENS_BOLD.search(line, position):
        position = opening.start() + 1
        if opening.end() < last[opening[1]] and (bold := _BOLD.match(line, opening.start())):
            texts += [line[done : bold.start()], bold[2]]
            done = position = bold.end()
    return "".join([*texts, line[done:]])


def _last_closing(line: str, mark: str) -> int:
    """Return where the last mark is that has no space before it, -1 where there is none."""
    place = line.rfind(mark)
    while place > 0 and line[place - 1].isspace():
        place = line.rfind(mark, 0, place + 1)
    return place


def _formula(match: re.Match[str]) -> str:
    formula = (match[1] or match[2]).strip()
    return formula if len(formula) <= FORMULA_LENGTH and not set(formula) & set(NOT_IN_FORMULAS) else PLACEHOLDER


def _identity(row: Mapping[str, Any]) -> Article:
    """Return the article of a row without its text; the id, "enwiki/7" there, is that of the page in a dump."""
    number, wiki = whole(row.get("page_id")), row.get("wikiname")
    title, url, row_id = (row.get(name) for name in ("title", "url", "id"))
    language = row.get("in_language")
    return Article(
        f"{wiki}:{number}" if wiki and number is not None else str(row_id or ""),
        title if isinstance(title, str) else "",
        url if isinstance(url, str) else "",
        language=language if isinstance(language, str) else "",
    )
