"""Arrow arrays and files whose offsets point where nothing is, for tests that they are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

LIES = {
    "past the end": [0, 4, 64],
    "far past the end": [0, 4, 1 << 30],
    "back": [0, 7, 4],
    "before the beginning": [-4, 0, 4],
    "within a character": [0, 1, 8],
}
"""Offsets of two strings in a buffer of 8 bytes, four characters of two bytes."""


def with_offsets(table: pa.Table, column: str, offsets: list[int]) -> pa.Table:
    """Return a table with other offsets in the last column that has those of `column`, as they come from a file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    data = _changed(sink.getvalue().to_pybytes(), table[column].combine_chunks(), offsets)
    return pa.ipc.open_stream(data).read_all()


def strings_of(offsets: list[int]) -> pa.Table:
    """Return a table of two strings that have these offsets."""
    return with_offsets(pa.table({"text": ["éé", "éé"]}), "text", offsets)


def write_strings(path: Path, offsets: list[int], *, stream: bool = True) -> Path:
    """Write a file with a column `text` of strings with these offsets, as a stream or a file of Arrow."""
    batch = pa.record_batch([pa.array(["éé", "éé"])], ["text"])
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as file, make(file, batch.schema) as writer:
        writer.write_batch(batch)
    path.write_bytes(_changed(path.read_bytes(), batch["text"], offsets))
    return path


def _changed(data: bytes, array: pa.Array, offsets: list[int]) -> bytes:
    """Return a file of an array with other offsets, which come after all metadata that may look like them."""
    right = np.frombuffer(array.buffers()[1], "<i4", len(array) + 1).tobytes()
    before, old, after = data.rpartition(right)
    assert old
    return before + np.array(offsets, "<i4").tobytes() + after
