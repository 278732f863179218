"""Languages by their codes: their English names, letters beyond ASCII, "and" and "or" (`languages.toml`, from CLDR)."""

from __future__ import annotations

import re
from functools import cache

from bertdata.io.package_data import toml_beside

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
    codes = {one["name"].casefold(): code for code, one in table.items()} | {code: code for code in table}
    names = re.split(r"[,;/&+]|\band\b|\(", match[1].decode("latin_1"))
    return tuple(codes[name] for name in (one.strip(" )\t.").casefold() for one in names) if name in codes)
