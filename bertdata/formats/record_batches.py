"""The record batches of one shard, read one after another."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.io import files


def read_batches(path: str) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of one shard, one in memory at a time; raises InputError where it is damaged."""
    try:
        with files.open_raw(path) if files.is_remote(path) else pa.memory_map(path) as source:
            yield from pa.ipc.open_stream(source)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not a whole Arrow stream ({error}); build again", path=path) from error
