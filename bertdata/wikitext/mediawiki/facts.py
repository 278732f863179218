"""Read `languages.bin`: a member for each language, read when it is first met, and some of all languages together.

The file begins with the sizes of its members. These follow, each compressed by itself with the English member as its
dictionary. `python -m bertdata.wikitext.mediawiki.facts pt` prints a member.

A language falls back on others: what it does not have is that of the first of these that has it, English last.
"""

from __future__ import annotations

import json
import struct
import sys
import zlib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

_ARCHIVE = Path(__file__).with_name("languages.bin")
_LENGTH = struct.Struct(">I")
_DICTIONARY = "en"
AUTONYMS, WIKIS, ALL = "-autonyms", "-wikis", "-all"
"""Members that are no language: names of languages, the wikis of Wikimedia, what all languages have together."""


@lru_cache(maxsize=1)
def _places() -> dict[str, tuple[int, int]]:
    """Return where each member begins, and its size."""
    with _ARCHIVE.open("rb") as file:
        (size,) = _LENGTH.unpack(file.read(_LENGTH.size))
        sizes: dict[str, int] = json.loads(zlib.decompress(file.read(size)))
    places, begin = {}, _LENGTH.size + size
    for name, length in sizes.items():
        places[name] = begin, length
        begin += length
    return places


@lru_cache(maxsize=1)
def _dictionary() -> bytes:
    return zlib.decompress(_stored(_DICTIONARY))


def _stored(name: str) -> bytes:
    begin, size = _places()[name]
    with _ARCHIVE.open("rb") as file:
        file.seek(begin)
        return file.read(size)


def archive(members: Mapping[str, Any]) -> bytes:
    """Return the bytes of an archive of members."""
    texts = {
        name: json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() for name, value in members.items()
    }
    parts = {_DICTIONARY: zlib.compress(texts[_DICTIONARY], 9)}
    for name, text in texts.items():
        if name != _DICTIONARY:
            packer = zlib.compressobj(9, zdict=texts[_DICTIONARY][-32768:])
            parts[name] = packer.compress(text) + packer.flush()
    head = zlib.compress(json.dumps({name: len(part) for name, part in parts.items()}).encode(), 9)
    return _LENGTH.pack(len(head)) + head + b"".join(parts.values())


@cache
def member(name: str) -> dict[str, Any]:
    """Return a member of the archive.

    >>> member("pt")["fallback"], member("-wikis")["aliases"]["ptwiki"]["14"]
    (['pt-br', 'en'], ['CAT'])
    """
    if name == _DICTIONARY:
        return dict(json.loads(_dictionary()))
    return dict(json.loads(zlib.decompressobj(zdict=_dictionary()[-32768:]).decompress(_stored(name))))


@lru_cache(maxsize=1)
def codes() -> frozenset[str]:
    """Return the codes of the languages that the table has."""
    return frozenset(name for name in _places() if not name.startswith("-"))


@lru_cache(maxsize=512)
def code_of(language: str) -> str:
    """Return the code by which MediaWiki knows the language of a wiki; "" where it knows none.

    >>> code_of("no"), code_of("zh-min-nan"), code_of("simple"), code_of("PT-BR"), code_of("de-x"), code_of("xx")
    ('nb', 'nan', 'en', 'pt-br', 'de', '')
    """
    code = language.lower().replace("_", "-")
    if not code:
        return ""
    languages = member(WIKIS)["languages"]
    while code and languages.get(code, code) not in codes():
        code = code.rpartition("-")[0]
    return str(languages.get(code, code))


@lru_cache(maxsize=64)
def chain(code: str) -> tuple[dict[str, Any], ...]:
    """Return the facts of a language, then those of the languages that it falls back on."""
    facts_of_code = member(code)
    return facts_of_code, *(member(other) for other in facts_of_code["fallback"])


def aliases_of_wiki(wiki: str) -> dict[int, list[str]]:
    """Return the names of namespaces that Wikimedia's settings add for a wiki: of files, categories and templates.

    >>> aliases_of_wiki("enwiki")
    {10: ['TM']}
    """
    return {int(number): names for number, names in member(WIKIS)["aliases"].get(wiki, {}).items()}


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        print(json.dumps(member(asked), ensure_ascii=False, indent=1))
