"""Shards as Parquet, as JSON lines, and as they are in a folder that `datasets.load_from_disk` opens.

What this module does not do: change a row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.io import compression, files
from bertdata.shards import Shards

ROW_GROUP_BYTES = 32 << 20


def read_batches(path: str) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of one shard, one in memory at a time; raises InputError where it is damaged."""
    try:
        with files.open_raw(path) if files.is_remote(path) else pa.memory_map(path) as source:
            yield from pa.ipc.open_stream(source)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not a whole Arrow stream ({error}); build again", path=path) from error


def write_parquet(path: str, schema: pa.Schema, file: BinaryIO) -> int:
    """Write a shard as Parquet (zstd, row groups of about 32 MiB) with its schema's metadata; returns the rows."""
    import pyarrow.parquet as pq

    rows = size = 0
    held: list[pa.RecordBatch] = []
    with pq.ParquetWriter(file, schema, compression="zstd", write_statistics=False) as writer:
        for batch in read_batches(path):
            held.append(batch)
            rows += batch.num_rows
            size += batch.nbytes
            if size >= ROW_GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(held))
                held, size = [], 0
        if held:
            writer.write_table(pa.Table.from_batches(held))
    return rows


def write_jsonl(path: str, schema: pa.Schema, file: BinaryIO) -> int:
    """Write a shard as JSON lines, an object with the columns' names in each; returns the rows."""
    rows = 0
    for batch in read_batches(path):
        lines = (json.dumps(row, separators=(",", ":")) for row in batch.select(schema.names).to_pylist())
        file.write("".join(f"{line}\n" for line in lines).encode())
        rows += batch.num_rows
    return rows


def copy_shard(path: str, schema: pa.Schema, file: BinaryIO) -> int:
    """Write a shard as it is, the same bytes; returns the rows."""
    with files.open_raw(path) as source:
        for _, data in compression.decompress(source, None, path):
            file.write(data)
    return sum(batch.num_rows for batch in read_batches(path))


def finish_hf(output: str, splits: Sequence[Shards], entries: Mapping[str, Any]) -> None:
    """Write what makes the folder one that `datasets.load_from_disk` opens."""
    from bertdata.shards.manifest import write_dataset_files

    manifest = splits[0].manifest
    chosen = {shards.split: manifest["splits"][shards.split] for shards in splits}
    write_dataset_files(output, manifest | {"splits": chosen}, splits[0].info)
