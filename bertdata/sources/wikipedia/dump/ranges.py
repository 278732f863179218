"""Cut a dump into byte ranges that workers read independently, and decompress one range.

A range is a span of the file as stored. In a plain file the bytes of the span belong to it; in a bz2 file the
streams that start in it. Any cut is right: what a range owns depends on where bytes and streams start, not on an
index.
"""

from __future__ import annotations

import codecs
import contextlib
import itertools
import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from bertdata.errors import ConfigError, InputError
from bertdata.io.compression import compression, decompress
from bertdata.io.files import CHUNK, exists, open_raw, size

Chunk = tuple[int, bytes, bool]

_PROBE = 4 << 20
_HEAD = 1 << 20
_ROOT_WITHIN = 1 << 16
_STREAM = re.compile(rb"BZh[1-9]1AY&SY")
_HEAD_END = re.compile(rb"</siteinfo>|<page[\s>]|</mediawiki")
_INDEX_LINE = re.compile(rb"^(\d{1,18}):\d+:", re.MULTILINE)
_INDEX_STRIDE = 1 << 9  # some lines: a stream has about a hundred
_SIGNATURES = {"bz2": b"BZh", "gz": b"\x1f\x8b"}
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SUPPORTED = ".xml, .xml.bz2, .xml.gz or .xml.zst"


@dataclass(frozen=True)
class DumpRange:
    """The bytes `start` to `end` of a dump as stored; `end` is the file size for the last range."""

    path: str
    start: int
    end: int

    @property
    def weight(self) -> int:
        """Stored bytes in the range: what to balance workers by."""
        return self.end - self.start


@dataclass(frozen=True)
class DumpPlan:
    """The ranges of a dump in file order, and what the user should know about how it was cut."""

    ranges: tuple[DumpRange, ...]
    notes: tuple[str, ...] = ()


def plan_ranges(path: str, target_bytes: int) -> DumpPlan:
    """Cut a dump into ranges of about `target_bytes` stored bytes, reading only its first megabytes.

    A multistream bz2 file is cut at stream starts where its index is beside it, else anywhere. A single bz2 stream,
    .gz, .zst and UTF-16 cannot be cut: one range and a note. Raises InputError where the file is missing, empty or
    not a dump.
    """
    if target_bytes < 1:
        raise ConfigError(f"target_bytes is {target_bytes}; expected 1 or more")
    whole, utf16 = size(path), read_head(path)[1]
    kind = compression(path)
    if utf16:
        return _one(path, whole, "UTF-16 text: read by one worker; a UTF-8 dump is read by all")
    if kind in ("gz", "zst"):
        return _one(path, whole, f"{kind} file: read by one worker; a multistream bz2 dump is read by all")
    count = -(-whole // target_bytes)
    cuts = [whole * k // count for k in range(1, count)]
    notes: tuple[str, ...] = ()
    if kind == "bz2":
        with open_raw(path) as raw:
            multistream = _STREAM.search(raw.read(_PROBE), 4) is not None
        if not multistream:
            return _one(path, whole, "single bz2 stream: read by one worker; a multistream dump is read by all")
        if cuts and (index := _index_beside(path)):
            try:
                cuts = _cuts_by_index(path, index, cuts)
            except InputError as error:
                notes = (f"the index is not used, stream starts are found in the dump itself: {error}",)
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < whole}), whole]
    return DumpPlan(tuple(DumpRange(path, *pair) for pair in itertools.pairwise(edges)), notes)


def _one(path: str, whole: int, note: str) -> DumpPlan:
    return DumpPlan((DumpRange(path, 0, whole),), (note,))


def _index_beside(path: str) -> str | None:
    index = re.sub(r"multistream(\d*)\.xml(?=[^/]*$)", r"multistream-index\1.txt", path)
    if index == path:
        return None
    return next((name for name in (index, index.removesuffix(".bz2")) if exists(name)), None)


def _cuts_by_index(path: str, index: str, cuts: list[int]) -> list[int]:
    """Move each cut to a stream start that the index names and the dump has; raises InputError where they disagree."""
    found, last, left = [], 0, deque(cuts)
    with open_raw(index) as raw, open_raw(path) as dump:
        tail = b""
        for _, data in decompress(raw, compression(index), index):
            lines, position = tail + data, 0
            while left and (match := _INDEX_LINE.search(lines, position)):
                offset = int(match.group(1))
                if offset < last:
                    raise InputError(f"offset {offset} follows {last}; expected rising offsets", path=index)
                if offset >= left[0]:
                    dump.seek(offset)
                    if not _STREAM.match(dump.read(10)):
                        raise InputError(f"it names byte {offset}, where no bz2 stream starts", path=index)
                    found.append(offset)
                    while left and left[0] <= offset:
                        left.popleft()
                last, position = offset, match.end() + _INDEX_STRIDE
            if not left:
                break
            tail = lines[lines.rfind(b"\n") + 1 :][:_INDEX_STRIDE]
    if last == 0:
        raise InputError("it holds no line of the form offset:id:title", path=index)
    return [*found, *left]


def read_head(path: str) -> tuple[bytes, bool]:
    """Return (the first bytes in UTF-8 up to the end of `<siteinfo>`, whether the file is UTF-16).

    At most about 1 MiB is read. Raises InputError where the file is not a MediaWiki XML dump.
    """
    kind = compression(path)
    ending = os.path.splitext(path)[1].lower()
    if kind == "zip" or ending in (".7z", ".xz", ".rar", ".tar"):
        raise InputError(
            f"{ending} files cannot be read; expected {_SUPPORTED}: download the bz2 dump, or unpack this one",
            path=path,
        )
    head, looked = bytearray(), 0
    with open_raw(path) as raw:
        first = raw.read(16)
        if kind in _SIGNATURES and not first.startswith(_SIGNATURES[kind]):
            raise InputError(
                f"is named {ending} but begins with {first!r}, so it is not a {kind} file; download the dump again",
                path=path,
                offset=0,
            )
        raw.seek(0)
        for _, data in decompress(raw, kind, path, 1 << 16):
            head += data
            if len(head) >= 2 * looked:
                looked = len(head)
                if looked >= _HEAD or _HEAD_END.search(_as_utf8(head)):
                    break
    text = _as_utf8(head)
    if not re.search(rb"<mediawiki[\s>]", text[:_ROOT_WITHIN]):
        inside = next((name for name, mark in _SIGNATURES.items() if first.startswith(mark)), None)
        raise InputError(
            f"is not a MediaWiki XML dump: it begins with {text[:24]!r} and its first {_ROOT_WITHIN >> 10} KiB have no "
            + (
                f"<mediawiki; it is {inside}: name it so"
                if inside and inside != kind
                else f"<mediawiki; expected {_SUPPORTED}"
            ),
            path=path,
            offset=0,
        )
    return text, head.startswith(_UTF16)


def _as_utf8(head: bytearray) -> bytes:
    return head.decode("utf-16", "replace").encode() if head.startswith(_UTF16) else bytes(head)


def read_chunks(span: DumpRange) -> Iterator[Chunk]:
    """Yield (offset, UTF-8 bytes, exact) from what `span` owns on to the end of the file; the caller stops when done.

    Where `exact`, `offset` is the file offset of the first of the bytes, else of the compressed stream (or UTF-16
    piece) they came from; what starts at or after `span.end` belongs to the next range. A bz2 stream that is corrupt
    is reported by the range before it too, so that no reader can pass over it. Raises InputError.
    """
    kind = compression(span.path)
    utf16 = span.start == 0 and read_head(span.path)[1]
    with open_raw(span.path) as raw:
        first: int | None = span.start
        if kind == "bz2" and span.start:
            first = _first_stream(raw, span)
        if first is None:
            return
        raw.seek(first)
        decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")
        for offset, data in decompress(raw, kind, span.path):
            if utf16:
                yield offset, decoder.decode(data).encode("utf-8", "surrogatepass"), False
            else:
                yield offset, data, kind is None


def _first_stream(raw: BinaryIO, span: DumpRange) -> int | None:
    """Find the first bz2 stream that starts in a range: its magic number, and a block that decompresses."""
    position, tail = span.start, b""
    while position - len(tail) < span.end:
        raw.seek(position)
        data = raw.read(CHUNK)
        if not data:
            break
        window = tail + data
        for match in _STREAM.finditer(window):
            candidate = position - len(tail) + match.start()
            if candidate >= span.end:
                return None
            raw.seek(candidate)
            with contextlib.suppress(InputError):
                next(decompress(raw, "bz2", span.path), None)
                return candidate
        position += len(data)
        tail = window[-9:]
    return None
