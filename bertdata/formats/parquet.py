"""Shards as Parquet files with the same rows, types and metadata."""

from __future__ import annotations

from typing import BinaryIO

import pyarrow as pa

from bertdata.formats.base import ExportFormat
from bertdata.formats.shard import ExportedShard

ROW_GROUP_BYTES = 32 << 20


def write_parquet(shard: ExportedShard, file: BinaryIO) -> None:
    """Write a shard as Parquet (zstd, row groups of about 32 MiB) with its schema's metadata."""
    import pyarrow.parquet as pq

    batches_of_group: list[pa.RecordBatch] = []
    size = 0
    with pq.ParquetWriter(file, shard.schema, compression="zstd", write_statistics=False) as writer:
        for batch in shard.batches():
            batches_of_group.append(batch)
            size += batch.nbytes
            if size >= ROW_GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(batches_of_group))
                batches_of_group, size = [], 0
        if batches_of_group:
            writer.write_table(pa.Table.from_batches(batches_of_group))


PARQUET = ExportFormat(help="the rows, zstd, row groups of about 32 MiB", suffix=".parquet", write=write_parquet)
