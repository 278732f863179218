"""Shards as they are, in a folder that `datasets.load_from_disk` opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from bertdata.formats.record_batches import read_batches
from bertdata.formats.registry import ExportFormat
from bertdata.io import compression, files
from bertdata.shards import Shards
from bertdata.shards.manifest import write_dataset_files


def copy_shard(path: str, schema: pa.Schema, file: BinaryIO) -> int:
    """Write the bytes of a shard; returns the rows."""
    with files.open_raw(path) as source:
        for _, data in compression.decompress(source, None, path):
            file.write(data)
    return sum(batch.num_rows for batch in read_batches(path))


def finish_hf(output: str, splits: Sequence[Shards], entries: Mapping[str, Any]) -> None:
    """Write what makes the folder one that `datasets.load_from_disk` opens."""
    manifest = splits[0].manifest
    chosen = {shards.split: manifest["splits"][shards.split] for shards in splits}
    write_dataset_files(output, manifest | {"splits": chosen}, splits[0].info)


HF = ExportFormat(help="a folder for `datasets.load_from_disk`", suffix=".arrow", write=copy_shard, finish=finish_hf)
