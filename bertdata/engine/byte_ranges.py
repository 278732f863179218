"""Several Arrow streams in one file of a stage, and references to them, which a runner groups instead of the rows.

A reference has the path and the SHA-256 of the file, and the offset and the length of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.io import files, remote
from bertdata.io.arrow_data import checked

Decoded = TypeVar("Decoded", pa.Table, pa.RecordBatch)


@dataclass(frozen=True)
class ByteRange:
    """Where some bytes lie in a file; `sha256` is that of the file."""

    path: str
    sha256: str
    offset: int
    length: int


Place = TypeVar("Place", bound=ByteRange)


class Stream(ByteRange):
    """Where one Arrow stream lies in a file."""


def write_stream(file: BinaryIO, table: pa.Table) -> list[int]:
    """Append a table to a file; returns the offset and the length of its stream."""
    begin = file.tell()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return [begin, file.tell() - begin]


def read_stream(stream: Stream) -> pa.Table:
    """Return the table of one stream; raises InputError where the file is damaged."""
    return read_at(stream, lambda data: pa.ipc.open_stream(data).read_all(), "this part of a build")


def read_streams(streams: Sequence[Stream]) -> Iterator[pa.Table]:
    """Yield the tables of streams, as `read_stream` returns them: at URLs the next ones are read meanwhile."""
    return each_read(read_stream, streams)


def each_read(read: Callable[[Place], Decoded], places: Sequence[Place]) -> Iterator[Decoded]:
    """Yield what a function reads at each place, in order: at URLs it reads at the next ones meanwhile."""
    return remote.ahead(read, places) if any(files.is_remote(place.path) for place in places) else map(read, places)


def read_at(place: ByteRange, decode: Callable[[pa.Buffer], Decoded], what: str) -> Decoded:
    """Return the bytes of a reference, decoded; raises InputError, with `what` the file is, where they are damaged."""
    data = files.read_part(place.path, place.offset, place.length)
    try:
        return checked(decode(pa.py_buffer(data)))
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{what} is damaged ({error}); delete this file and run again", path=place.path, offset=place.offset
        ) from error
