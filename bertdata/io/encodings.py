"""The encodings of texts: which encoding bytes are in that are not UTF-8, and files of other encodings read as UTF-8.

A file that is UTF-8 is read as such, whatever encoding is named for the others: text in another encoding is hardly
ever valid UTF-8. Encodings in which plain ASCII means something else, as UTF-16, are taken as they are named.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, cast

from bertdata.errors import InputError
from bertdata.io import compression
from bertdata.io.encoding_guess import guesses
from bertdata.io.languages import HEAD

GUESS = "guess"
SKIP = "skip"
"""In the place of the encoding of a file: it is left out."""
WITH_CP1252 = "UTF-8 with bytes of cp1252"
_CHUNK = 4 << 20
_STEP = 1 << 16
_UTF_8 = "utf-8"
_BOMS = (
    (codecs.BOM_UTF8, _UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NULS = 8
"""From one byte of so many on that is NUL, text is UTF-16 or UTF-32 without a mark: ASCII in these is valid UTF-8."""
_STRAY_BYTE = re.compile("[\udc80-\udcff]")
_FIRST_BYTES = bytes(range(0xC0, 256))
_NONE: Mapping[str, str] = MappingProxyType({})
_encoding_of: ContextVar[Mapping[str, str]] = ContextVar("encodings", default=_NONE)


class BadByte(NamedTuple):
    """The first byte of a text that is not UTF-8, and where it is."""

    offset: int
    byte: int


def of_mark(start: bytes) -> str | None:
    """Return the encoding that the byte order mark at the start of a text states, None without one."""
    return next((name for mark, name in _BOMS if start.startswith(mark)), None)


def iconv_name(encoding: str) -> str:
    """Return what iconv calls an encoding of Python.

    >>> iconv_name("koi8_r"), iconv_name("mac_roman"), iconv_name("iso8859_2")
    ('koi8-r', 'macintosh', 'iso8859-2')
    """
    return "macintosh" if encoding == "mac_roman" else codecs.lookup(encoding).name.replace("_", "-")


def is_utf_8_with_others(part: bytes, text: str) -> bool:
    """Return whether bytes are UTF-8 except for a few; `text` has these as surrogates."""
    return 10 * len(_STRAY_BYTE.findall(text)) <= len(part) - len(part.translate(None, _FIRST_BYTES))


def strays_from_cp1252(text: str) -> str:
    """Return a text with the surrogates in the place of bytes that are not UTF-8 read as cp1252."""
    return _STRAY_BYTE.sub(lambda match: match[0].encode("utf-8", "surrogateescape").decode("cp1252", "replace"), text)


def find_bad_byte(path: str, limit: int | None = None) -> BadByte | None:
    """Return the first byte of a file, after decompression, that is not UTF-8; looks at `limit` bytes or at all.

    Text with many NULs is not UTF-8: it is UTF-16 or UTF-32.
    """
    tail, offset = b"", 0
    with compression.open_decompressed(path) as stream:
        while data := stream.read(_CHUNK if limit is None else min(_CHUNK, limit - offset - len(tail))):
            data = tail + data
            try:
                used = codecs.utf_8_decode(data, "strict", False)[1]
            except UnicodeDecodeError as error:
                return BadByte(offset + error.start, data[error.start])
            if _NULS * data.count(0) > len(data):
                return BadByte(offset + data.index(0), 0)
            tail, offset = data[used:], offset + used
        if tail and limit is None:
            return BadByte(offset, tail[0])
    return None


def fitting(path: str, bad: BadByte) -> str:
    """Return the likeliest encoding that all of a file can be decoded by, "" where none is found."""
    with compression.open_decompressed(path) as stream:
        head = stream.read(HEAD)
    marked = of_mark(head)
    if marked not in (None, _UTF_8):
        return str(marked) if _decodes(path, str(marked)) else ""
    part = _part_at(path, bad)
    if b"\0" in part:
        return next((name for name in _without_mark(head) if _decodes(path, name)), "")
    if is_utf_8_with_others(part, part.decode(_UTF_8, "surrogateescape")):
        return WITH_CP1252
    return next((guess.encoding for guess in guesses(part, head) if _decodes(path, guess.encoding)), "")


def _without_mark(head: bytes) -> Iterator[str]:
    """Yield the encodings of two or four bytes a character in which the start of a text has ASCII, and no NUL."""
    for name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        text = head[: len(head) // 4 * 4].decode(name, "replace")
        if "\0" not in text and _NULS * sum(map(str.isascii, text)) > len(text):
            yield name


def is_marked(path: str) -> bool:
    """Return whether a file begins with the byte order mark of UTF-16 or UTF-32."""
    with compression.open_decompressed(path) as stream:
        return of_mark(stream.read(4)) not in (None, _UTF_8)


def is_mostly_utf_8(path: str, bad: BadByte) -> bool:
    """Return whether a file, about the first byte that is not UTF-8, is UTF-8 but for a few bytes."""
    part = _part_at(path, bad)
    return is_utf_8_with_others(part, part.decode(_UTF_8, "surrogateescape"))


def _part_at(path: str, bad: BadByte) -> bytes:
    """Return some MiB of a file about a byte."""
    part, before = b"", 0
    with compression.open_decompressed(path) as stream:
        while before + len(part) <= bad.offset and (data := stream.read(_CHUNK)):
            before, part = before + len(part), data
        return part + stream.read(_CHUNK)


def _decodes(path: str, encoding: str) -> bool:
    return find_undecodable(path, encoding) is None


def find_undecodable(path: str, encoding: str) -> BadByte | None:
    """Return a place near the first byte of a file that is none of an encoding, None where all of it can be decoded."""
    decoder, offset, data = codecs.getincrementaldecoder(encoding)(), 0, b""
    with compression.open_decompressed(path) as stream:
        try:
            while data := stream.read(_CHUNK):
                decoder.decode(data)
                offset += len(data)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            place = min(error.start, max(0, len(data) - 1))
            return BadByte(offset + place, error.object[error.start])
        except UnicodeError:  # of an encoding that asks for a byte order mark
            return BadByte(0, data[0])
    return None


@contextmanager
def encoded(encoding_of: Mapping[str, str]) -> Iterator[None]:
    """Let `open_text` read some files, by their paths, as text of an encoding; "" is UTF-8."""
    token = _encoding_of.set(
        {**_encoding_of.get(), **{path: encoding for path, encoding in encoding_of.items() if encoding}}
    )
    try:
        yield
    finally:
        _encoding_of.reset(token)


def is_stream(path: str) -> bool:
    """Return whether a file can be read from its beginning only: it is compressed, or decoded."""
    return compression.compression(path) is not None or path in _encoding_of.get()


def open_text(path: str) -> io.BufferedReader:
    """Open a file, decompressed, as UTF-8: of another encoding where `encoded` says so."""
    stream, encoding = compression.open_decompressed(path), _encoding_of.get().get(path, "")
    return io.BufferedReader(_Transcoded(stream, encoding, path), _CHUNK) if encoding else stream


def beginning_as_utf8(data: bytes, encoding: str) -> bytes:
    r"""Return the beginning of a text of an encoding, "" for UTF-8, as UTF-8, without a character that is cut off.

    >>> beginning_as_utf8(b"caf\xe9", "cp1252").decode(), beginning_as_utf8("né".encode("utf-16le")[:3], "utf-16le")
    ('café', b'n')
    """
    if not encoding:
        return data
    text = _decoder(encoding).decode(data)
    return (strays_from_cp1252(text) if encoding == WITH_CP1252 else text).encode(_UTF_8)


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    errors, name = ("surrogateescape", _UTF_8) if encoding == WITH_CP1252 else ("strict", encoding)
    return codecs.getincrementaldecoder(name)(errors)


class _Transcoded(io.RawIOBase):
    """The bytes of a text in another encoding as UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str, path: str) -> None:
        self._stream, self._path, self._held = stream, path, b""
        self._encoding, self._decoder = encoding, _decoder(encoding)
        self._at_end = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._held and not self._at_end:
            data = self._stream.read(_STEP)
            self._at_end = not data
            try:
                text = self._decoder.decode(data, final=self._at_end)
            except UnicodeError as error:
                raise InputError(f"is not {self._encoding} ({error}); name its encoding", path=self._path) from error
            self._held = (strays_from_cp1252(text) if self._encoding == WITH_CP1252 else text).encode(_UTF_8)
        view = cast("memoryview", buffer)
        taken = self._held[: len(view)]
        view[: len(taken)] = taken
        self._held = self._held[len(taken) :]
        return len(taken)

    def close(self) -> None:
        self._stream.close()
        super().close()
