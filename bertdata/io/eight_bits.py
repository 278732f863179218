"""The encodings of 8 bits that Python knows, as what their bytes mean."""

from __future__ import annotations

import codecs
import encodings.aliases
import re
from functools import cache

USUAL = (
    *("cp1252", "latin_1", "iso8859_15", "cp1250", "iso8859_2", "cp1251", "koi8_r", "iso8859_5", "cp1253", "iso8859_7"),
    *("cp1254", "iso8859_9", "cp1255", "iso8859_8", "cp1256", "iso8859_6", "cp1257", "iso8859_13", "iso8859_4"),
    *("cp1258", "iso8859_3", "iso8859_10", "iso8859_14", "iso8859_16", "koi8_u", "cp874"),
)
CONTROLS = re.compile("[\x80-\x84\x86-\x9f]")


def keeps_ascii(encoding: str) -> bool:
    """Return whether ASCII means itself in an encoding, so that a file of it is UTF-8 only where it is ASCII alone.

    >>> [keeps_ascii(name) for name in ("cp1252", "shift_jis", "utf-16", "iso2022_jp", "utf-7", "cp037")]
    [True, True, False, False, False, False]
    """
    every = bytes(range(128)) + b"\x1b$B0!\x1b(B"
    try:
        return every.decode(encoding) == every.decode("ascii")
    except UnicodeError:
        return False


def _high_signs(name: str) -> list[str]:
    """Return what each byte from 128 on means in an encoding of 8 bits, "" for nothing; [] for one of other bits."""
    signs = [bytes([byte]).decode(name, "ignore") for byte in range(128, 256)]
    pairs = bytes(byte for low in range(128, 256) for byte in (low, 65))
    return signs if len(pairs.decode(name, "replace")) == len(pairs) and any(signs) else []


@cache
def eight_bits() -> dict[str, list[str]]:
    """Return Python's encodings of 8 bits that contain ASCII, the usual ones first.

    Each has what its bytes from 128 on mean, "" for nothing.
    """
    signs: dict[str, list[str]] = {}
    for name in [*USUAL, *sorted(set(encodings.aliases.aliases.values()))]:
        try:
            is_text = codecs.lookup(name)._is_text_encoding
        except LookupError:
            continue
        if is_text and name not in signs and keeps_ascii(name) and (high := _high_signs(name)):
            signs[name] = high
    return signs


def is_text_in(part: bytes, encoding: str) -> bool:
    """Return whether bytes are text in an encoding: all of them can be decoded, and none is a control character."""
    try:
        return not CONTROLS.search(part.decode(encoding))
    except UnicodeError:
        return False
