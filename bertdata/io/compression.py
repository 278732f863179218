"""Compressed files (gz, bz2, zst, xz), read as one stream of bytes, even if they hold several compressed streams.

Reading a damaged or truncated file raises an `InputError` with the byte offset.
"""

from __future__ import annotations

import bz2
import io
import re
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.os_errors import input_error
from bertdata.kernels.warmup import compiling_pays

_MAX_OUTPUT = 4 << 20
_FEED = {"gz": 1 << 16, "zlib": 1 << 16, "bz2": 1 << 16, "zst": 1 << 12, "xz": 1 << 16}

_DEFLATED = {"gz": 31, "zlib": 15}
"""Kinds that zlib reads, and the wbits by which it does."""
_STARTS = {"gz": b"\x1f\x8b", "bz2": b"BZh", "zst": b"\x28\xb5\x2f\xfd", "xz": b"\xfd7zXZ\0", "zip": b"PK\x03\x04"}
_SKIPPED = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
"""What a frame of zst begins with that holds no text."""
_XZ_MEMORY = 1 << 30
_OVER_MEMORY = "Memory usage limit"
"""What lzma says of a stream that takes more."""
"""The most bytes that xz may take to read a file; its highest preset takes 65 MiB."""
BY_NAME = "by the name"
ENDINGS = (".gz", ".zst", ".bz2", ".xz")
"""The endings of names of compressed files, whatever is in them."""


def compression(path: str) -> str | None:
    """Return the compression that the ending of a file's name stands for: gz, bz2, zst, xz, zip, or None."""
    ending = files.name(path).rsplit(".", 1)[-1].lower()
    return {"bgz": "gz", "zstd": "zst"}.get(ending, ending if ending in _STARTS else None)


def endings(*kinds: str) -> tuple[str, ...]:
    """Return the endings of names of files of some kinds, plain and compressed.

    >>> endings(".txt")
    ('.txt', '.txt.gz', '.txt.zst', '.txt.bz2', '.txt.xz')
    """
    return tuple(kind + ending for kind in kinds for ending in ("", *ENDINGS))


def compression_of(start: bytes) -> str | None:
    """Return the compression of a file with these first bytes: gz, bz2, zst, xz, zip, or None.

    >>> compression_of(b"BZh91AY"), compression_of(b"Salt")
    ('bz2', None)
    """
    if _SKIPPED.match(start):
        return "zst"
    return next((kind for kind, begin in _STARTS.items() if start.startswith(begin)), None)


def _decompressor(kind: str) -> Any:
    if kind == "bz2":
        return bz2.BZ2Decompressor()
    if kind in _DEFLATED:
        return zlib.decompressobj(_DEFLATED[kind])
    if kind == "xz":
        import lzma

        return lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)
    import zstandard

    return zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()


def _outputs(machine: Any, kind: str, data: bytes) -> Iterator[bytes]:
    """Feed a decompressor; gz, bz2 and xz return at most 4 MiB at a time, so that a few bytes cannot fill the memory.

    zst has no such limit, so it is fed 4 KiB at a time, which gives at most 128 MiB.
    """
    if kind == "zst":
        yield machine.decompress(data)
        return
    full = True
    while not machine.eof and (full or (data if kind in _DEFLATED else not machine.needs_input)):
        output = machine.decompress(data, _MAX_OUTPUT)
        full = len(output) == _MAX_OUTPUT
        data = machine.unconsumed_tail if kind in _DEFLATED else b""
        yield output


def decompress(
    raw: BinaryIO, kind: str | None, path: str, chunk: int = files.CHUNK, *, compiled: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, bytes) of a decompressed file, where offset is that of the compressed stream of the bytes.

    Concatenated streams are read as one. Zero bytes after a stream are padding. `compiled` says whether bz2 is
    decoded by kernels, which changes only the speed, and how the bytes are cut. Raises InputError with the byte offset
    where a stream is corrupt or truncated.
    """
    given = 0
    if kind == "bz2" and compiled:
        from bertdata.io.bzip2.streams import read_streams

        stopped_at = yield from read_streams(raw, path, _MAX_OUTPUT)
        if stopped_at is None:
            return
        stream, given = stopped_at
        raw.seek(stream)
    for offset, data in _decompress(raw, kind, path, chunk):
        if len(data) > given:
            yield offset, data[given:]
        given = max(0, given - len(data))


def _decompress(raw: BinaryIO, kind: str | None, path: str, chunk: int) -> Iterator[tuple[int, bytes]]:
    position = raw.tell()
    if kind is None:
        while data := _read(raw, chunk, path):
            yield position, data
            position += len(data)
        return
    if kind not in _FEED:
        remedy = "unpack it (unzip FILE -d FOLDER) and give the files in it"
        raise InputError(f"{kind} archives are not read here; {remedy}", path=path)
    chunk = min(chunk, _FEED[kind])
    machine, stream, pending = _decompressor(kind), position, b""
    while True:
        data = pending or _read(raw, chunk, path)
        pending = b""
        if not data:
            break
        if position == stream and stream:
            stripped = data.lstrip(b"\0")
            position = stream = position + len(data) - len(stripped)
            if not stripped:
                continue
            data = stripped
        try:
            for output in _outputs(machine, kind, data):
                if output:
                    yield stream, output
        except MemoryError:
            raise
        except Exception as error:
            if not position and (other := _other_than(kind, data)):
                raise InputError(other, path=path) from error
            if _OVER_MEMORY in str(error):
                raise InputError(
                    "the xz stream that starts here has a dictionary of over 1 GiB, more than is read here: unpack the "
                    "file (xz -dk FILE) and give what is in it",
                    path=path,
                    offset=stream,
                ) from error
            raise InputError(
                f"the {kind} stream that starts here is corrupt; get the file again and check its checksum",
                path=path,
                offset=stream,
            ) from error
        position += len(data)
        if machine.eof:
            pending = machine.unused_data
            position -= len(pending)
            stream, machine = position, _decompressor(kind)
    if position != stream:
        raise InputError(
            f"the file ends at byte {position}, inside the {kind} stream that starts here: it was cut off; "
            "get it again and check its size",
            path=path,
            offset=stream,
        )


def _other_than(kind: str, start: bytes) -> str | None:
    """Return what a file that begins so is, and what to do, where it is not of the kind that its name says."""
    other = compression_of(start)
    if other == kind or kind not in _STARTS:
        return None
    if other:
        return f"is compressed by {other}, and its name says {kind}; rename it to end in .{other}"
    if any(byte < 32 and byte not in b"\t\n\f\r" for byte in start[:1000]):
        return None
    return (
        f"is not compressed, and its name says {kind}; programs that unpack what they download may keep the name: "
        "rename it without that ending"
    )


def _read(raw: BinaryIO, chunk: int, path: str) -> bytes:
    try:
        return raw.read(chunk)
    except OSError as error:
        raise input_error(error, path) from error


class _Stream(io.RawIOBase):
    """The decompressed bytes as a file."""

    def __init__(self, raw: BinaryIO, kind: str | None, path: str, compiled: bool) -> None:
        self._raw, self._chunks, self._rest = raw, decompress(raw, kind, path, compiled=compiled), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = next(self._chunks, (0, b""))[1]
        taken = self._rest[: len(buffer)]
        buffer[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)

    def close(self) -> None:
        self._raw.close()
        super().close()


def open_decompressed(path: str, kind: str | None = BY_NAME) -> io.BufferedReader:
    """Open a plain, .gz, .bz2, .zst or .xz file for reading its decompressed bytes, by the ending of its name.

    kind: how it is compressed whatever its name, also zlib; None for not at all.
    """
    kind = compression(path) if kind == BY_NAME else kind
    compiled = kind == "bz2" and compiling_pays(4 * files.size(path), None)
    return io.BufferedReader(_Stream(files.open_raw(path), kind, path, compiled), files.CHUNK)
