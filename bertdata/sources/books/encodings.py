"""The bytes of books as text: UTF-8, else the encoding that a mark states or that the bytes look like."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ENCODINGS = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "iso8859_2", "koi8_r", "mac_roman"),
    *("cp437", "cp850", "big5", "gb18030", "shift_jis", "euc_jp", "euc_kr"),
]
_SAMPLE = 1 << 16
_HIGH_LINE = re.compile(rb"^[^\n\x80-\xff]*+[\x80-\xff][^\n]*+\n?", re.MULTILINE)
_STRAY_BYTE = re.compile("[\udc80-\udcff]")


def as_utf8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Pass bytes on; those of a file that begins with a UTF-16 or UTF-32 byte-order mark are transcoded."""
    head = b""
    for data in chunks:
        head += data
        if len(head) >= 4:
            break
    encoding = next((name for mark, name in _BOMS if head.startswith(mark)), None)
    if encoding in (None, "utf-8"):
        yield head.removeprefix(codecs.BOM_UTF8)
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(str(encoding))("replace")
    yield decoder.decode(head).encode()
    for data in chunks:
        yield decoder.decode(data).encode()
    yield decoder.decode(b"", final=True).encode()


def decode(part: bytes, notes: Counter[str]) -> str | None:
    """Decode UTF-8, else what the bytes look like; a few stray bytes in UTF-8 text are read as cp1252."""
    part = part.replace(b"\0", b"")
    try:
        return part.decode()
    except UnicodeDecodeError:
        text = part.decode("utf-8", "surrogateescape")
    stray = len(_STRAY_BYTE.findall(text))
    if 10 * stray <= sum(1 for letter in part if letter >= 0xC0):
        notes["UTF-8 with bytes of cp1252"] += 1
        return _STRAY_BYTE.sub(_from_cp1252, text)
    for encoding in guesses(part):
        try:
            text = part.decode(encoding)
        except UnicodeDecodeError:
            continue
        notes[encoding] += 1
        return text
    return None


def _from_cp1252(match: re.Match[str]) -> str:
    return match[0].encode("utf-8", "surrogateescape").decode("cp1252", "replace")


def guesses(part: bytes) -> list[str]:
    """Return the encodings that a sample of the lines with bytes above 127 may have, the likeliest first."""
    from charset_normalizer import from_bytes

    sample = bytearray()
    for match in _HIGH_LINE.finditer(part):
        sample += match[0]
        if len(sample) > _SAMPLE:
            break
    matches = list(from_bytes(bytes(sample[: 2 * _SAMPLE]), cp_isolation=_ENCODINGS))
    names = [match.encoding for match in matches]
    western = next((match for match in matches if match.encoding == "cp1252"), None)
    if western is not None and western.chaos <= matches[0].chaos + 0.02:
        names = ["cp1252", "latin_1", *names]
    return names
