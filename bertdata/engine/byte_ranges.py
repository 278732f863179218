"""Arrow streams in a row in one file of a stage, and references to them: what a runner groups in place of the rows.

A reference names the file, its SHA-256 and where the stream lies, so that whoever gets it reads those bytes and no
others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.io import files

Decoded = TypeVar("Decoded", pa.Table, pa.RecordBatch)


@dataclass(frozen=True)
class ByteRange:
    """Where some bytes lie in a file; `sha256` is that of the file."""

    path: str
    sha256: str
    offset: int
    length: int


class Stream(ByteRange):
    """Where one Arrow stream lies in a file."""


def write_stream(file: BinaryIO, table: pa.Table) -> list[int]:
    """Write a table after what is in a file; returns the offset and the length of its stream."""
    begin = file.tell()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return [begin, file.tell() - begin]


def read_stream(stream: Stream) -> pa.Table:
    """Return the table of one stream; raises InputError where the file is not what it was."""
    return read_at(stream, lambda data: pa.ipc.open_stream(data).read_all(), "this part of a build")


def read_at(place: ByteRange, decode: Callable[[pa.Buffer], Decoded], what: str) -> Decoded:
    """Return what `decode` makes of the bytes of a reference; raises InputError where `what` they are of is damaged."""
    with files.open_raw(place.path) as file:
        file.seek(place.offset)
        data = file.read(place.length)
    try:
        found = decode(pa.py_buffer(data))
        found.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{what} is damaged ({error}); delete this file and run again", path=place.path, offset=place.offset
        ) from error
    return found
