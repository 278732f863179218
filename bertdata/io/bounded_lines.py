"""The lines of a file, each of bounded length, so that memory has room for it: a file without line ends is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, AnyStr

from bertdata.errors import InputError
from bertdata.io import files

LONGEST = 256 << 20
"""Bytes of the longest line, row or document of text (characters where text was decoded): about a hundred books."""


def bounded_lines(stream: IO[AnyStr], path: str, what: str, begin: int = 0) -> Iterator[AnyStr]:
    """Yield the lines of a stream, with their ends; raises InputError, with the number of the line, for a longer one.

    what: what the file should hold; begin: how many lines of the file precede the stream.
    """
    number = begin
    while line := stream.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST:
            raise too_long(path, number, what)
        yield line


def too_long(path: str, number: int, what: str) -> InputError:
    """Return the error for a line, or a row that begins in it, that is longer than `LONGEST`."""
    return InputError(
        f"what begins in line {number:,} goes on for over {LONGEST >> 20} MiB; expected {what}: see whether the file "
        "has line ends, and is what its name says",
        path=path,
    )


def lines_before(stream: IO[bytes], offset: int) -> int:
    """Return how many lines end in the next bytes of a stream; reads these."""
    count = 0
    while offset > 0 and (data := stream.read(min(files.CHUNK, offset))):
        count += data.count(b"\n")
        offset -= len(data)
    return count
