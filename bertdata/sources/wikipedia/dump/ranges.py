"""Cut a dump into byte ranges that workers read independently, and decompress one range.

A range is a span of the file as stored. In a plain file the bytes of the span belong to it; in a bz2 file, of one
stream or many, the blocks that begin in it. Any cut is right: what a range owns depends on where bytes and blocks
begin.
"""

from __future__ import annotations

import codecs
import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO

from bertdata.errors import ConfigError, InputError
from bertdata.io.bzip2.block_reader import read_blocks
from bertdata.io.compression import compression, compression_of, decompress
from bertdata.io.files import CHUNK, identity, name, open_raw, size

Chunk = tuple[int, bytes | None, bool]

_HEAD = 1 << 20
_ROOT_WITHIN = 1 << 16
_AHEAD = 8 << 20
"""Bytes that a request to a URL gets at once, at most."""
_NAMES_WIKI = ", and has the head of the dump, which names the wiki and its namespaces"
_PAGE_END = b"</page>"
_HEAD_END = re.compile(rb"</siteinfo>|<page[\s>]|</mediawiki")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SUPPORTED = ".xml, .xml.bz2, .xml.gz, .xml.zst or .xml.xz"
"""The endings of names of dumps."""


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

    A bz2 file is cut at its blocks. gz, zst, xz and UTF-16 cannot be cut: one range and a note. Raises InputError
    where the file is missing, empty or not a dump.
    """
    if target_bytes < 1:
        raise ConfigError(f"target_bytes is {target_bytes}; expected 1 or more")
    whole, utf16 = size(path), read_head(path)[1]
    kind = compression(path)
    if utf16:
        return _one(path, whole, "UTF-16 text: read by one worker; a UTF-8 dump is read by all")
    if kind in ("gz", "zst", "xz"):
        return _one(path, whole, f"{kind} file: read by one worker; a bz2 dump is read by all")
    count = -(-whole // target_bytes)
    cuts = [whole * k // count for k in range(1, count)]
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < whole}), whole]
    return DumpPlan(tuple(DumpRange(path, *pair) for pair in itertools.pairwise(edges)))


def _one(path: str, whole: int, note: str) -> DumpPlan:
    return DumpPlan((DumpRange(path, 0, whole),), (note,))


def read_head(path: str) -> tuple[bytes, bool]:
    """Return (the first bytes in UTF-8 up to the end of `<siteinfo>`, whether the file is UTF-16).

    At most about 1 MiB is read, once in a process, for every range of a dump needs its head. Raises InputError where
    the file is not a MediaWiki XML dump.
    """
    return _read_head(path, identity(path))


@lru_cache(maxsize=16)
def _read_head(path: str, _: str) -> tuple[bytes, bool]:
    kind = compression(path)
    ending = os.path.splitext(name(path))[1].lower()
    if kind == "zip" or ending in (".7z", ".rar", ".tar"):
        raise InputError(
            f"{ending} files cannot be read; expected {SUPPORTED}: download the bz2 dump, or unpack this one",
            path=path,
        )
    head, looked = bytearray(), 0
    with open_raw(path, CHUNK) as raw:
        first = raw.read(16)
        inside = compression_of(first)
        if kind not in (None, inside):
            raise InputError(
                f"is named {ending} but begins with {first!r}, so it is not a {kind} file; download the dump again",
                path=path,
                offset=0,
            )
        raw.seek(0)
        for offset, data in _stored_chunks(raw, DumpRange(path, 0, size(path)), chunk=1 << 16):
            head += _whole(data, path, offset, _NAMES_WIKI)
            if len(head) >= 2 * looked:
                looked = len(head)
                if looked >= _HEAD or _HEAD_END.search(as_utf8(head)):
                    break
    text = as_utf8(head)
    if not re.search(rb"<mediawiki[\s>]", text[:_ROOT_WITHIN]):
        raise InputError(
            f"is not a MediaWiki XML dump: it begins with {text[:24]!r} and its first {_ROOT_WITHIN >> 10} KiB have no "
            + (
                f"<mediawiki; it is {inside}: name it so"
                if inside and inside != kind
                else f"<mediawiki; expected {SUPPORTED}"
            ),
            path=path,
            offset=0,
        )
    return text, head.startswith(_UTF16)


def whole_pages(text: bytes) -> bytes:
    """Return the beginning of a dump as a dump: its head and whole pages, none where no page ends in it.

    >>> whole_pages(b"<mediawiki><page>1</page> <page>2")
    b'<mediawiki><page>1</page></mediawiki>'
    """
    end = text.rfind(_PAGE_END)
    return text[: end + len(_PAGE_END)] + b"</mediawiki>" if end >= 0 else b""


def as_utf8(head: bytes | bytearray) -> bytes:
    """Return the first bytes of a dump as UTF-8; UTF-16 may end inside a character."""
    return head.decode("utf-16", "replace").encode() if head.startswith(_UTF16) else bytes(head)


def read_chunks(span: DumpRange, *, compiled: bool = False) -> Iterator[Chunk]:
    """Yield (offset, UTF-8 bytes, exact) from what `span` owns on to the end of the file; the caller stops when done.

    Where `exact`, `offset` is the file offset of the first of the bytes, else of the bz2 block, the compressed stream
    or the UTF-16 piece they came from; what starts at or after `span.end` belongs to the next range. The bytes are None
    where blocks of a bz2 file are damaged: what they held is missing there, in the range of the bytes before.
    `compiled` says whether kernels decode them, which changes only the speed. Raises InputError.
    """
    kind = compression(span.path)
    with open_raw(span.path, min(span.weight, _AHEAD)) as raw:
        head, chunks = _peeked(_stored_chunks(raw, span, compiled=compiled))
        if span.start or not head.startswith(_UTF16):
            for offset, data in chunks:
                if data is None or len(data) <= CHUNK:
                    yield offset, data, kind is None
                else:
                    for begin in range(0, len(data), CHUNK):
                        yield offset + begin * (kind is None), data[begin : begin + CHUNK], kind is None
            return
        decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")
        for offset, data in chunks:
            text = decoder.decode(_whole(data, span.path, offset))
            yield offset, text.encode("utf-8", "surrogatepass"), False


def _stored_chunks(
    raw: BinaryIO, span: DumpRange, *, chunk: int = CHUNK, compiled: bool = False
) -> Iterator[tuple[int, bytes | None]]:
    """Yield (offset, decompressed bytes) of a file from where a range starts on, None for damaged blocks of bz2."""
    kind = compression(span.path)
    if kind == "bz2":
        yield from read_blocks(raw, span.path, span.start, span.end, compiled=compiled)
    else:
        raw.seek(span.start)
        yield from decompress(raw, kind, span.path, chunk)


def _whole(data: bytes | None, path: str, offset: int, what: str = "") -> bytes:
    """Return data; raises InputError, which says `what` was in it, where it is that of a damaged block."""
    if data is None:
        raise InputError(
            f"the bz2 block that starts here is corrupt{what}; get the file again and check its checksum",
            path=path,
            offset=offset,
        )
    return data


def _peeked(chunks: Iterator[tuple[int, bytes | None]]) -> tuple[bytes, Iterator[tuple[int, bytes | None]]]:
    """Return at least the first two bytes, fewer where the file is shorter, and all chunks."""
    seen, head = [], b""
    for offset, data in chunks:
        seen.append((offset, data))
        head += data or b""
        if data is None or len(head) > 1:
            break
    return head, itertools.chain(seen, chunks)
