"""Read `languages.zip`: a member for each language, read when it is first met, and some of all languages together.

A language falls back on others: what it does not have is that of the first of these that has it, English last.
"""

from __future__ import annotations

import json
import zipfile
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

_ARCHIVE = Path(__file__).with_name("languages.zip")
AUTONYMS, WIKIS, ALL = "-autonyms", "-wikis", "-all"
"""Members that are no language: names of languages, the wikis of Wikimedia, what all languages have together."""


@lru_cache(maxsize=1)
def _archive() -> zipfile.ZipFile:
    return zipfile.ZipFile(_ARCHIVE)


@cache
def member(name: str) -> dict[str, Any]:
    """Return a member of the archive.

    >>> member("pt")["fallback"], member("-wikis")["aliases"]["ptwiki"]["14"]
    (['pt-br', 'en'], ['CAT'])
    """
    return dict(json.loads(_archive().read(f"{name}.json")))


@lru_cache(maxsize=1)
def codes() -> frozenset[str]:
    """Return the codes of the languages of which something is known."""
    return frozenset(name.removesuffix(".json") for name in _archive().namelist() if not name.startswith("-"))


@lru_cache(maxsize=512)
def code_of(language: str) -> str:
    """Return the code by which MediaWiki knows the language of a wiki; "" where it knows none.

    >>> code_of("no"), code_of("zh-min-nan"), code_of("simple"), code_of("PT-BR"), code_of("de-x"), code_of("xx")
    ('nb', 'nan', 'en', 'pt-br', 'de', '')
    """
    code = language.lower().replace("_", "-")
    languages = member(WIKIS)["languages"]
    while code and languages.get(code, code) not in codes():
        code = code.rpartition("-")[0]
    return str(languages.get(code, code))


@lru_cache(maxsize=64)
def chain(code: str) -> tuple[dict[str, Any], ...]:
    """Return the facts of a language, then those of the languages that it falls back on."""
    own = member(code)
    return own, *(member(other) for other in own["fallback"])


def aliases_of_wiki(wiki: str) -> dict[int, list[str]]:
    """Return the names of namespaces that Wikimedia's settings add for a wiki: of files, categories and templates.

    >>> aliases_of_wiki("enwiki")
    {10: ['TM']}
    """
    return {int(number): names for number, names in member(WIKIS)["aliases"].get(wiki, {}).items()}
