"""Shards as Parquet files with the same rows, types and metadata."""

from __future__ import annotations

from typing import BinaryIO

import pyarrow as pa

from bertdata.formats.record_batches import read_batches
from bertdata.formats.registry import ExportFormat

ROW_GROUP_BYTES = 32 << 20


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


PARQUET = ExportFormat(help="the rows, zstd, row groups of about 32 MiB", suffix=".parquet", write=write_parquet)
