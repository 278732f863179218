"""Languages by their codes: their English names, letters beyond ASCII, "and" and "or" (`languages.toml`, from CLDR)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from bertdata.io.package_data import toml_beside

_PARAMETERS = Path(__file__).parents[1] / "sentences" / "parameters"
HEAD = 1 << 16
"""The bytes at the beginning of a file in which a header is looked for."""
_LANGUAGE = re.compile(rb"^[ \t>*|#]*languages?[ \t]*:[ \t]*([^\r\n]+)", re.IGNORECASE | re.MULTILINE)


@cache
def known_languages() -> dict[str, dict[str, str]]:
    """Return the languages by their codes.

    >>> known_languages()["de"]["and"], known_languages()["eo"]["letters"]
    ('und', 'ĉĝĥĵŝŭ')
    """
    return toml_beside(__file__)


def languages_of(head: bytes) -> tuple[str, ...]:
    r"""Return the codes of the languages that a header names.

    >>> languages_of(b"Title: X\r\nLanguage: Esperanto, French\r\n"), languages_of(b"Language: de"), languages_of(b"")
    (('eo', 'fr'), ('de',), ())
    """
    if not (match := _LANGUAGE.search(head[:HEAD])):
        return ()
    table = known_languages()
    codes = {language["name"].casefold(): code for code, language in table.items()} | {code: code for code in table}
    names = re.split(r"[,;/&+]|\band\b|\(", match[1].decode("latin_1"))
    return tuple(codes[name] for name in (raw.strip(" )\t.").casefold() for raw in names) if name in codes)


@cache
def frequent_words(codes: tuple[str, ...]) -> frozenset[str]:
    """Return words of languages in lower case, those of the sentence parameters that ship; none without these.

    >>> "something" in frequent_words(("en",)), len(frequent_words(("eo",)))
    (True, 0)
    """
    words: set[str] = set()
    for code in codes:
        path = _PARAMETERS / known_languages()[code]["name"].lower() / "ortho_context.tab"
        if path.exists():
            lines = path.read_text(encoding="utf-8", errors="surrogatepass").split("\n")
            words.update(line.rpartition("\t")[0] for line in lines if line)
    return frozenset(words)
