"""Arrow streams in a row in one file of a stage, and references to them: what a runner groups in place of the rows.

A reference names the file, its SHA-256 and where the stream lies, so that whoever gets it reads those bytes and no
others. What it does not do: grouping, and the parts and records of a stage (`records`).
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa

from bertdata import files
from bertdata.errors import InputError


@dataclass(frozen=True)
class Stream:
    """Where one Arrow stream lies in a file; `sha256` is that of the file."""

    path: str
    sha256: str
    offset: int
    length: int


def write_stream(file: BinaryIO, table: pa.Table) -> list[int]:
    """Write a table behind what is in a file; returns the offset and the length of its stream."""
    begin = file.tell()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return [begin, file.tell() - begin]


def read_stream(stream: Stream) -> pa.Table:
    """Return the table of one stream; raises InputError where the file is not what it was."""
    with files.open_raw(stream.path) as file:
        file.seek(stream.offset)
        data = file.read(stream.length)
    try:
        table = pa.ipc.open_stream(io.BytesIO(data)).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"this part of a build is damaged ({error}); delete this file and run again",
            path=stream.path,
            offset=stream.offset,
        ) from error
    return table
