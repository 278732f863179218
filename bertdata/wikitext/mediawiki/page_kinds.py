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
_MORE: dict[str, dict[str, list[str]]] = toml_beside(__file__, "disambiguation_names")
"""Names of further languages, which hold where the language is known: `scripts/disambiguation_names.py`."""
DISAMBIGUATION, SOFT_REDIRECT = "disambiguation", "soft redirect"
KINDS = (DISAMBIGUATION, SOFT_REDIRECT)
"""The kinds of pages that their templates tell."""
_LOOKED_AT = 16 << 10
_BEGIN, _END = 256, 1024
"""Bytes in which a switch is looked for."""
_UNDERSCORE = ord("_")
_BEGINS_LIST = frozenset([b"*", b"#", b":", b";"])
_BEFORE_TABLE = frozenset([b"{", b" ", b"\t", *_BEGINS_LIST])
_BEGINS_NO_PROSE = frozenset([b"", b"|", b"!", b"=", b"{", b"}", b"<", b"[", b" ", b"\t"])


@lru_cache(maxsize=64)
def page_kinds(language: str) -> Mapping[str, str]:
    """Return from a template's folded name why a page that calls it holds no article, in the wikis of a language.

    >>> page_kinds("de")["bkl"], "bkl" in page_kinds("fr"), "bkl" in page_kinds(""), page_kinds("fr")["disambig"]
    ('disambiguation', False, True, 'disambiguation')
    """
    kind_of: dict[str, str] = {}
    for table, kind in (("soft_redirect", SOFT_REDIRECT), ("disambiguation", DISAMBIGUATION)):
        names = {name.strip() for text in _of(table, language) for name in re.split("[,\n]", text)} - {""}
        kind_of.update(dict.fromkeys(case_variants([*names, *_more(table, language)]), kind))
    return kind_of


def title_kind(title: str, language: str) -> str:
    """Return what a page is by its title: "disambiguation", "list" where it may be one, else "".

    >>> title_kind("Salz (Begriffsklärung)", "de"), title_kind("Liste der Salze", "de"), title_kind("Salz", "de")
    ('disambiguation', 'list', '')
    >>> title_kind("Lista Schindlera", "pl"), title_kind("Lista Schindlera", "en")
    ('list', '')
    """
    disambiguation, lists = _titles(language)
    if ")" in title and disambiguation.search(title):
        return DISAMBIGUATION
    return "list" if lists.match(title) else ""


@lru_cache(maxsize=64)
def _titles(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return expressions for the titles of disambiguation pages and for those of lists."""
    begins, ends = "|".join(_of("list_titles", language)), "|".join(_of("list_title_ends", language))
    lists = rf"\A(?:(?:{begins}) " + (rf"|.*(?:{ends})(?: \([^()]*\))?\Z" if ends else "") + ")"
    words = "|".join([*_of("disambiguation_titles", language), *_more("disambiguation_titles", language)])
    disambiguation = rf"\((?:{words})\)\s*\Z"
    return re.compile(disambiguation, re.IGNORECASE), re.compile(lists, re.IGNORECASE)


def _more(table: str, language: str) -> list[str]:
    """Return the names of a table for one of the further languages."""
    return _MORE.get(table, {}).get(_code(language), [])


def _code(language: str) -> str:
    return facts.code_of(language).partition("-")[0]


def _of(table: str, language: str) -> Iterator[str]:
    """Yield the entries of a table for a language and for English, those of all languages where none is known."""
    code = _code(language)
    yield from (text for entry_code, text in _TABLES[table].items() if not code or entry_code in (code, "en"))


def has_disambiguation_switch(wikitext: bytes, language: str) -> bool:
    """Tell whether a page says at one of its ends that it is a disambiguation, by the switch of Wikimedia's wikis.

    >>> has_disambiguation_switch(b"* A salt\\n__DISAMBIG__", "de"), has_disambiguation_switch(b"A salt.", "de")
    (True, False)
    """
    ends = wikitext[:_BEGIN] + b"\n" + wikitext[-_END:]
    if _UNDERSCORE not in ends or b"__" not in ends:  # as in most pages, and one byte is found in a tenth of the time
        return False
    return any(switch in ends for switch in _switches(language))


@lru_cache(maxsize=64)
def _switches(language: str) -> tuple[bytes, ...]:
    return tuple(switch.encode() for switch in _of("disambiguation_switches", language))


def is_mostly_list(wikitext: bytes) -> bool:
    """Tell whether the first 16 KiB of a page have at least as much text in lists and tables as in lines of prose.

    >>> is_mostly_list(b"These are salts.\\n* Halite\\n* Sylvite\\n* Borax"), is_mostly_list(b"It is a film.\\n* Ann")
    (True, False)
    """
    listed = prose = 0
    in_table = False
    for line in wikitext[:_LOOKED_AT].split(b"\n"):
        first = line[:1]
        if in_table:
            listed += len(line)
            in_table = line[:2] != b"|}"
        elif first in _BEFORE_TABLE and line.lstrip(b" \t:*#;")[:2] == b"{|":
            listed, in_table = listed + len(line), True
        elif first in _BEGINS_LIST:
            listed += len(line)
        elif first not in _BEGINS_NO_PROSE:
            prose += len(line)
    return listed >= prose
