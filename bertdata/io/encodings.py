"""The encodings of texts: which one bytes that are not UTF-8 are in, and files of another one read as UTF-8.

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
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from bertdata.errors import InputError
from bertdata.io import compression

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

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
_CANDIDATES = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "iso8859_2", "koi8_r", "mac_roman"),
    *("cp437", "cp850", "big5", "gb18030", "shift_jis", "euc_jp", "euc_kr"),
]
_SAMPLE = 1 << 16
_HIGH_LINE = re.compile(rb"^[^\n\x80-\xff]*+[\x80-\xff][^\n]*+\n?", re.MULTILINE)
_STRAY_BYTE = re.compile("[\udc80-\udcff]")
_ODD_LETTERS = re.compile(r"[^\W\d_][^\w\s'’‘\-–—./,:;@&]+[^\W\d_]|[a-zà-öø-ÿа-яα-ω][A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]")
_FIRST_BYTES = bytes(range(0xC0, 256))
_TIE = 0.02
"""A chaos of charset-normalizer that is so much higher is as good."""
_NONE: Mapping[str, str] = MappingProxyType({})
_encoding_of: ContextVar[Mapping[str, str]] = ContextVar("encodings", default=_NONE)


class BadByte(NamedTuple):
    """The first byte of a text that is not UTF-8, and where it is."""

    offset: int
    byte: int


def of_mark(start: bytes) -> str | None:
    """Return the encoding that the byte order mark at the start of a text states, None without one."""
    return next((name for mark, name in _BOMS if start.startswith(mark)), None)


def _matches(part: bytes) -> list[CharsetMatch]:
    """Return what charset-normalizer says of a sample of the lines with bytes above 127, the likeliest first."""
    from charset_normalizer import from_bytes

    sample = bytearray()
    for match in _HIGH_LINE.finditer(part):
        sample += match[0]
        if len(sample) > _SAMPLE:
            break
    return list(from_bytes(bytes(sample[: 2 * _SAMPLE]), cp_isolation=_CANDIDATES))


def guesses(part: bytes) -> list[str]:
    """Return the encodings that a sample of the lines with bytes above 127 may have, the likeliest first."""
    matches = _matches(part)
    names = [match.encoding for match in matches]
    western = next((match for match in matches if match.encoding == "cp1252"), None)
    if western is not None and western.chaos <= matches[0].chaos + _TIE:
        names = ["cp1252", "latin_1", *names]
    return names


def likeliest(part: bytes) -> list[str]:
    r"""Return the encodings that a short text may have, the likeliest first, cp1252 before others that fit as well.

    Those that charset-normalizer finds alike are told apart by their words: a sign inside a word, or a capital after a
    small letter, is a sign of the wrong one. latin1 is none: it has control characters at 0x80 to 0x9f.

    >>> likeliest("Это текст по-русски, и он короткий.".encode("koi8_r"))[0]
    'koi8_r'
    >>> likeliest(b"We met \x96 late.")[0], likeliest(b"Das M\xe4dchen kam sp\xe4t nach Hause.")[0]
    ('cp1252', 'cp1252')
    """
    matches = _matches(part)
    if not matches:
        return []
    near = [match for match in matches if match.chaos <= matches[0].chaos + _TIE]
    ordered = sorted(near, key=lambda match: (len(_ODD_LETTERS.findall(str(match))), not _is_western(match)))
    names = [name for match in ordered for name in (["cp1252"] * _is_western(match) + match.could_be_from_charset)]
    return list(dict.fromkeys([*names, *(match.encoding for match in matches)]))


def iconv_name(encoding: str) -> str:
    """Return what iconv calls an encoding of Python.

    >>> iconv_name("koi8_r"), iconv_name("mac_roman"), iconv_name("iso8859_2")
    ('koi8-r', 'macintosh', 'iso8859-2')
    """
    return "macintosh" if encoding == "mac_roman" else codecs.lookup(encoding).name.replace("_", "-")


def _is_western(match: CharsetMatch) -> bool:
    return "cp1252" in match.could_be_from_charset


def is_utf_8_with_others(part: bytes, text: str) -> bool:
    """Return whether bytes are UTF-8 but for a few; `text` has these as surrogates."""
    return 10 * len(_STRAY_BYTE.findall(text)) <= len(part) - len(part.translate(None, _FIRST_BYTES))


def strays_from_cp1252(text: str) -> str:
    """Return a text with the surrogates in the place of bytes that are not UTF-8 read as cp1252."""
    return _STRAY_BYTE.sub(lambda match: match[0].encode("utf-8", "surrogateescape").decode("cp1252", "replace"), text)


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


def find_bad_byte(path: str, limit: int | None = None) -> BadByte | None:
    """Return the first byte of a file, after decompression, that is not UTF-8; looks at `limit` bytes or at all."""
    tail, offset = b"", 0
    with compression.open_decompressed(path) as stream:
        while data := stream.read(_CHUNK if limit is None else min(_CHUNK, limit - offset - len(tail))):
            data = tail + data
            try:
                used = codecs.utf_8_decode(data, "strict", False)[1]
            except UnicodeDecodeError as error:
                return BadByte(offset + error.start, data[error.start])
            tail, offset = data[used:], offset + used
        if tail and limit is None:
            return BadByte(offset, tail[0])
    return None


def fitting(path: str, bad: BadByte) -> str:
    """Return the likeliest encoding that all of a file can be decoded by, "" where none is found."""
    with compression.open_decompressed(path) as stream:
        marked = of_mark(stream.read(4))
    if marked not in (None, _UTF_8):
        return str(marked) if _decodes(path, str(marked)) else ""
    part = _part_at(path, bad)
    if b"\0" in part:
        return ""
    if is_utf_8_with_others(part, part.decode(_UTF_8, "surrogateescape")):
        return WITH_CP1252
    return next((name for name in likeliest(part) if _decodes(path, name)), "")


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
    token = _encoding_of.set({**_encoding_of.get(), **{path: one for path, one in encoding_of.items() if one}})
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
