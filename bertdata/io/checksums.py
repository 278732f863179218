"""Checksums of what is read of local files, by which the same bytes are read again and compared.

The times of a file do not say all: a program that writes through a memory map changes bytes and no time, and so may a
network drive. `checksums` notes the CRC-32 of all that its thread reads of some files, and what was read is then read
again, from the memory of the system where it still is.
"""

from __future__ import annotations

import contextlib
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bertdata.errors import InputError

_CHUNK = 1 << 20
_HERE = threading.local()


class Checksums:
    """The runs of bytes that were read of some files: of each where it begins, its length and its CRC-32."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._runs: dict[str, list[tuple[int, int, int]]] = {path: [] for path in paths}
        self._mapped: list[tuple[str, int, Callable[[], int]]] = []

    def watches(self, path: str) -> bool:
        """Return whether a file is one of those whose reads are noted."""
        return path in self._runs

    def add(self, path: str, begin: int, data: Any) -> None:
        """Note bytes that were read of a file from a place on; those that go on where the last ended lengthen its run.

        >>> (read := Checksums(["a"])).add("a", 0, b"rain")
        >>> read.add("a", 4, b"fall")
        >>> read._runs["a"] == [(0, 8, zlib.crc32(b"rainfall"))]
        True
        """
        runs = self._runs[path]
        length = len(data)
        if runs and sum(runs[-1][:2]) == begin:
            begin, before, checksum = runs.pop()
            runs.append((begin, before + length, zlib.crc32(data, checksum)))
        elif length:
            runs.append((begin, length, zlib.crc32(data)))

    def add_mapped(self, path: str, checksum: int, checksum_now: Callable[[], int]) -> None:
        """Note what was read of memory that a file is mapped to, and the function that reads it again."""
        self._mapped.append((path, checksum, checksum_now))

    def changed(self) -> Iterator[tuple[str, int | None]]:
        """Read everything again; yield the file and the place of each run that is another now, None of mapped memory.

        Raises OSError where a file cannot be read.
        """
        for path, runs in self._runs.items():
            if not runs:
                continue
            with open(path, "rb", buffering=0) as file:
                for begin, length, checksum in runs:
                    if _checksum(file, begin, length) != checksum:
                        yield path, begin
        for path, checksum, checksum_now in self._mapped:
            if _now(checksum_now) != checksum:
                yield path, None


def _now(checksum_now: Callable[[], int]) -> int | None:
    """Return the checksum of what is there now, None where it cannot be read any more."""
    try:
        return checksum_now()
    except InputError:
        return None


def _checksum(file: Any, begin: int, length: int) -> int:
    """Return the CRC-32 of a run of bytes of a file, or of what there is of it."""
    buffer, checksum = memoryview(bytearray(min(length, _CHUNK))), 0
    file.seek(begin)
    while length and (size := file.readinto(buffer[: min(length, _CHUNK)])):
        checksum = zlib.crc32(buffer[:size], checksum)
        length -= size
    return checksum


@contextlib.contextmanager
def checksums(paths: Iterable[str]) -> Iterator[Checksums]:
    """Note what this thread reads of some local files in a block, in the place of an outer block."""
    outer = getattr(_HERE, "checksums", None)
    _HERE.checksums = read = Checksums(paths)
    try:
        yield read
    finally:
        _HERE.checksums = outer


def checksums_of(path: str) -> Checksums | None:
    """Return where what this thread reads of a file is noted, None where it is not."""
    read: Checksums | None = getattr(_HERE, "checksums", None)
    return read if read is not None and read.watches(path) else None
