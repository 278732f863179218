"""JSON lines as columns, some MiB at a time, by a kernel; the lines that it does not read come as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.arrays import Bytes
from bertdata.io.bounded_lines import LONGEST

PIECE = 4 << 20
BEYOND = 1 << 16
"""Bytes after the end of a range that are read with it: its last line mostly ends in them."""
_NEWLINE = 10
_ACTION = "index"


@dataclass(frozen=True)
class Lines:
    """Some lines of a file: rows that were read, as columns, or one line that was not, with its end.

    place: that of the first byte in the file; places: those of the rows, int64 (N,); columns: string (N,), "" where a
    row has none.
    """

    place: int
    line: bytes = b""
    places: NDArray[np.int64] | None = None
    columns: tuple[pa.StringArray, ...] = ()


def read_columns(stream: BinaryIO, place: int, end: int, names: Sequence[str]) -> Iterator[Lines]:
    """Yield the lines of a stream that begin before `end`, in order, without those of ASCII white space alone.

    place: that of the stream in its file, where a line begins. names: of the columns; a row has a string in the last. A
    line of over `LONGEST` bytes is cut one byte after that, and is the last.
    """
    from bertdata.kernels.simd import BLOCK  # numba is for those that read, not for those that start a build
    from bertdata.sources import json_lines_kernel as kernel

    room, unread, whole = np.empty(0, np.uint8), np.empty(0, np.uint8), False
    while place < end and not whole:
        wanted = max(min(PIECE, max(end - place - len(unread), 0) + BEYOND), len(unread))
        room = _moved(unread, room, len(unread) + wanted + 1 + BLOCK)
        more = _read_into(stream, room[len(unread) : len(unread) + wanted])
        whole = not more
        size = len(unread) + more
        data = room[: size + 1 + BLOCK]
        data[size:] = _NEWLINE
        used = kernel.last_line_end(data, len(unread), size)
        if used < 0:
            used = size + 1 if whole and size else 0
        if used:
            yield from _read(data, place, min(end - place, size, used), min(size, used), names)
        unread, place = data[used:size], place + used
        if len(unread) > LONGEST and place < end:
            yield Lines(place, unread[: LONGEST + 1].tobytes())
            return


def _moved(unread: Bytes, room: Bytes, size: int) -> Bytes:
    """Return room for so many bytes that begins with those that are unread, which may lie in it."""
    if len(room) < size:
        room = np.empty(size, np.uint8)
    room[: len(unread)] = unread
    return room


def _read_into(stream: BinaryIO, room: Bytes) -> int:
    """Fill an array from a stream, as far as that goes; returns the bytes."""
    size = 0
    while size < len(room) and (more := stream.readinto(room[size:].data)):  # type: ignore[attr-defined]
        size += more
    return size


def _read(data: Bytes, place: int, limit: int, size: int, names: Sequence[str]) -> Iterator[Lines]:
    """Yield the lines that begin before a limit; after `size` bytes are a line feed and BLOCK more."""
    from bertdata.sources import json_lines_kernel as kernel

    wanted = [name.encode("utf-8", "surrogatepass") for name in (*names, _ACTION)]
    name_ends = np.cumsum([0, *map(len, wanted)])
    most = kernel.count_line_ends(data, size + 1)
    kinds, begins = np.empty(most, np.uint8), np.empty(most + 1, np.int64)
    out = np.frombuffer(pa.allocate_buffer(kernel.FIELDS * len(data)), np.uint8).reshape(kernel.FIELDS, -1)
    ends = np.zeros((kernel.FIELDS, most + 1), np.int32)
    written = np.zeros(kernel.FIELDS, np.int64)
    joined = np.frombuffer(b"".join(wanted), np.uint8)
    count = kernel.read_lines(data, limit, joined, name_ends, written, kinds, begins, out, ends)
    kinds, begins = kinds[:count], begins[: count + 1]
    for row in _not_utf8(data, begins, kinds == kernel.ROW).tolist():
        kinds[row] = kernel.OTHER
    kinds[np.diff(begins) > LONGEST] = kernel.OTHER
    columns = [
        pa.StringArray.from_buffers(count, pa.py_buffer(ends[number]), pa.py_buffer(out[number]))
        for number in range(kernel.FIELDS)
    ]
    others = np.flatnonzero(kinds == kernel.OTHER)
    for first, last in zip([0, *(others + 1).tolist()], [*others.tolist(), count], strict=True):
        rows = np.flatnonzero(kinds[first:last] == kernel.ROW) + first
        if len(rows) == last - first:
            chosen = [column.slice(first, last - first) for column in columns]
        else:
            chosen = [column.take(pa.array(rows)) for column in columns]
        if len(rows):
            yield Lines(place + int(begins[rows[0]]), places=begins[rows] + place, columns=tuple(chosen))
        if last < count:
            line = data[begins[last] : min(begins[last + 1], size)].tobytes()
            if line.strip():
                yield Lines(place + int(begins[last]), line)


def _not_utf8(data: Bytes, begins: NDArray[np.int64], rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return those of some lines that are not UTF-8."""
    offsets = begins.astype(np.int32)

    def are_valid(first: int, last: int) -> bool:
        ends = pa.py_buffer(offsets[first : last + 1])
        try:
            pa.StringArray.from_buffers(last - first, ends, pa.py_buffer(data)).validate(full=True)
        except pa.ArrowInvalid:
            return False
        return True

    if are_valid(0, len(rows)):
        return np.zeros(0, np.int64)
    return np.array([row for row in np.flatnonzero(rows).tolist() if not are_valid(row, row + 1)], np.int64)
