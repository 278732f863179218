"""XML of any size for builds: the pages of a dump again and again, each time under new ids and with new words."""

from __future__ import annotations

import bz2
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

_CHANGED = re.compile(
    rb"(?<=</ns>)(\s*<id>)(?P<id>\d+)|(?<![\w<>/&\"'=|{\[:.-])(?P<word>[a-z]{4,})(?![\w>/;=|}\]\"':-])", re.S
)
_ONE_IN = 50
_SYLLABLES = [consonant + vowel for consonant in "bdfghklmnprst" for vowel in "aeiou"]


def write_xml(dump: Path, path: Path, size: int, *, compress: bool) -> int:
    """Write copies of the pages of a dump until it has about `size` bytes of XML; returns how many it has."""
    text = bz2.decompress(dump.read_bytes())
    begin, end = text.index(b"<page>"), text.rindex(b"</mediawiki>")
    written = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for piece in (text[:begin], *copies(text[begin:end], size), text[end:]):
            written += len(piece)
            file.write(bz2.compress(piece) if compress else piece)
    return written


def copies(pages: bytes, size: int) -> Iterator[bytes]:
    """Yield the pages under new ids and with new words, as often as fits into a size, the last time cut at a page.

    The words that are replaced are chosen by a hash, so one is replaced wherever it occurs.
    """
    fixed: list[bytes] = []
    changed: list[bytes] = []
    position = 0
    for match in _CHANGED.finditer(pages):
        name = "id" if match["id"] else "word"
        if name == "id" or (zlib.crc32(match["word"]) % _ONE_IN == 0 and match["word"] != b"wikitext"):
            fixed.append(pages[position : match.start(name)])
            changed.append(match[name])
            position = match.end()
    for number in range(-(-size // len(pages))):
        ending = syllables(number)
        new = (b"%d" % (int(group) + number * 10**9) if group[:1].isdigit() else group + ending for group in changed)
        copy = b"".join(piece for pair in zip(fixed, new, strict=True) for piece in pair) + pages[position:]
        left = size - number * len(pages)
        yield copy if left >= len(copy) else copy[: copy.rindex(b"<page>", 0, max(left, copy.index(b"</page>")))]


def syllables(number: int) -> bytes:
    """Return the ending of the new words of one copy: nothing for the first.

    >>> syllables(0), syllables(1), syllables(65 * 3)
    (b'', b'be', b'babo')
    """
    ending = ""
    while number:
        number, rest = divmod(number, len(_SYLLABLES))
        ending += _SYLLABLES[rest]
    return ending.encode()
