"""What stands in the head of an Arrow IPC message, before anything reads its body.

A record batch may be compressed, so a file of a megabyte can ask for gigabytes when it is opened. Shards never are, and
pyarrow tells of it only once it has the memory. Heads are FlatBuffers (Message.fbs of the Arrow format 1.5): a table
begins with the distance back to the places of its fields, each a distance from the beginning of the table, 0 where the
field is not there.
"""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa

_HEADER_TYPE, _HEADER = 1, 2
"""Fields of a Message."""
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
"""Types of headers."""
_DATA, _COMPRESSION = 1, 3
"""Fields of a DictionaryBatch, which holds a RecordBatch, and of that."""


def is_compressed(message: Any) -> bool:
    """Tell whether the body of a `pyarrow.ipc.Message` is compressed; raises pyarrow.ArrowInvalid for a damaged head.

    >>> sink, batch = pa.BufferOutputStream(), pa.record_batch({"a": [1, 2]})
    >>> with pa.ipc.new_stream(sink, batch.schema) as writer:
    ...     writer.write_batch(batch)
    >>> [is_compressed(message) for message in pa.ipc.MessageReader.open_stream(sink.getvalue())]
    [False, False]
    """
    try:
        head = memoryview(message.metadata)
        table = _table(head, 0)
        kind = _field(head, table, _HEADER_TYPE)
        if not kind or head[kind] not in (_DICTIONARY_BATCH, _RECORD_BATCH):
            return False
        batch = _table(head, _field(head, table, _HEADER))
        if head[kind] == _DICTIONARY_BATCH:
            batch = _table(head, _field(head, batch, _DATA))
        return _field(head, batch, _COMPRESSION) != 0
    except (struct.error, IndexError) as error:
        raise pa.ArrowInvalid(f"the head of a message is damaged ({error})") from error


def require_uncompressed(message: Any) -> None:
    """Raise pyarrow.ArrowInvalid where the body of a message is compressed."""
    if is_compressed(message):
        raise pa.ArrowInvalid("its record batches are compressed, and those of shards are not")


def check_uncompressed(memory: Any) -> None:
    """Raise ArrowInvalid where a stream, a buffer or a memory-mapped file, has compressed messages."""
    for message in pa.ipc.MessageReader.open_stream(memory):
        require_uncompressed(message)


def read_uncompressed(memory: Any) -> pa.Table:
    """Return the table of a stream, a buffer or a memory-mapped file; raises ArrowInvalid where it is compressed."""
    check_uncompressed(memory)
    if not isinstance(memory, pa.Buffer):
        memory.seek(0)
    return pa.ipc.open_stream(memory).read_all()


def _table(head: memoryview, place: int) -> int:
    """Return where a table begins to which there is a distance at a place."""
    return place + int(struct.unpack_from("<I", head, place)[0])


def _field(head: memoryview, table: int, number: int) -> int:
    """Return where a field of a table is, 0 where it is not there."""
    places = table - struct.unpack_from("<i", head, table)[0]
    if places < 0:
        raise IndexError("a table has its places in front of the head")
    place = 4 + 2 * number
    if place + 2 > struct.unpack_from("<H", head, places)[0]:
        return 0
    distance = struct.unpack_from("<H", head, places + place)[0]
    return table + int(distance) if distance else 0
