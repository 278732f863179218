"""What tells that a page is no article: its title and the templates that it calls, by the words of the wiki's language.

A title that is one of a list is not enough: films and novels begin as lists do, so the page is looked at, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from bertdata.io.package_data import toml_beside
from bertdata.wikitext.mediawiki import facts
from bertdata.wikitext.mediawiki.folding import case_variants

_TABLES: dict[str, dict[str, str]] = toml_beside(__file__)
DISAMBIGUATION, SOFT_REDIRECT = "disambiguation", "soft redirect"
KINDS = (DISAMBIGUATION, SOFT_REDIRECT)
"""The kinds of pages that their templates tell."""
_TABLE = re.compile(rb"^[ \t:*#;]*\{\|.*?(?:\n\|\}|\Z)", re.MULTILINE | re.DOTALL)
_LOOKED_AT = 16 << 10
_BEGIN, _END = 256, 1024
"""Bytes in which a switch is looked for."""
_LIST_LINE = re.compile(rb"^[*#:;].*", re.MULTILINE)
_PROSE_LINE = re.compile(rb"^[^*#:;|!={}<\[ \t\n].*", re.MULTILINE)


@lru_cache(maxsize=64)
def page_kinds(language: str) -> Mapping[str, str]:
    """Return from a template's folded name why a page that calls it holds no article, in the wikis of a language.

    >>> page_kinds("de")["bkl"], "bkl" in page_kinds("fr"), "bkl" in page_kinds(""), page_kinds("fr")["disambig"]
    ('disambiguation', False, True, 'disambiguation')
    """
    kind_of: dict[str, str] = {}
    for table, kind in (("soft_redirect", SOFT_REDIRECT), ("disambiguation", DISAMBIGUATION)):
        names = {name.strip() for text in _of(table, language) for name in re.split("[,\n]", text)} - {""}
        kind_of.update(dict.fromkeys(case_variants(names), kind))
    return kind_of


def title_kind(title: str, language: str) -> str:
    """Return what a page is by its title: "disambiguation", "list" where it may be one, else "".

    >>> title_kind("Salz (Begriffsklärung)", "de"), title_kind("Liste der Salze", "de"), title_kind("Salz", "de")
    ('disambiguation', 'list', '')
    >>> title_kind("Lista Schindlera", "pl"), title_kind("Lista Schindlera", "en")
    ('list', '')
    """
    disambiguation, lists = _titles(language)
    if disambiguation.search(title):
        return DISAMBIGUATION
    return "list" if lists.match(title) else ""


@lru_cache(maxsize=64)
def _titles(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return expressions for the titles of disambiguation pages and for those of lists."""
    begins, ends = "|".join(_of("list_titles", language)), "|".join(_of("list_title_ends", language))
    lists = rf"\A(?:(?:{begins}) " + (rf"|.*(?:{ends})(?: \([^()]*\))?\Z" if ends else "") + ")"
    disambiguation = rf"\((?:{'|'.join(_of('disambiguation_titles', language))})\)\s*\Z"
    return re.compile(disambiguation, re.IGNORECASE), re.compile(lists, re.IGNORECASE)


def _of(table: str, language: str) -> Iterator[str]:
    """Yield the entries of a table for a language and for English, those of all languages where none is known."""
    code = facts.code_of(language).partition("-")[0]
    yield from (text for entry_code, text in _TABLES[table].items() if not code or entry_code in (code, "en"))


def has_disambiguation_switch(wikitext: bytes, language: str) -> bool:
    """Tell whether a page says at one of its ends that it is a disambiguation, by the switch of Wikimedia's wikis.

    >>> has_disambiguation_switch(b"* A salt\\n__DISAMBIG__", "de"), has_disambiguation_switch(b"A salt.", "de")
    (True, False)
    """
    ends = wikitext[:_BEGIN] + b"\n" + wikitext[-_END:]
    return any(switch in ends for switch in _switches(language))


@lru_cache(maxsize=64)
def _switches(language: str) -> tuple[bytes, ...]:
    return tuple(switch.encode() for switch in _of("disambiguation_switches", language))


def is_mostly_list(wikitext: bytes) -> bool:
    """Tell whether the first 16 KiB of a page have at least as much text in lists and tables as in lines of prose.

    >>> is_mostly_list(b"These are salts.\\n* Halite\\n* Sylvite\\n* Borax"), is_mostly_list(b"It is a film.\\n* Ann")
    (True, False)
    """
    begin = wikitext[:_LOOKED_AT]
    without_tables = _TABLE.sub(b"", begin)
    listed = len(begin) - len(without_tables) + sum(map(len, _LIST_LINE.findall(without_tables)))
    return listed >= sum(map(len, _PROSE_LINE.findall(without_tables)))
