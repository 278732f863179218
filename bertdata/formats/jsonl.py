"""Shards as JSON lines, an object for each row."""

from __future__ import annotations

import json
from typing import BinaryIO

from bertdata.formats.base import ExportFormat
from bertdata.formats.shard import ExportedShard


def write_jsonl(shard: ExportedShard, file: BinaryIO) -> None:
    """Write a shard as JSON lines, an object with the names of the columns in each."""
    for batch in shard.batches():
        lines = (json.dumps(row, separators=(",", ":")) for row in batch.select(shard.schema.names).to_pylist())
        file.write("".join(f"{line}\n" for line in lines).encode())


JSONL = ExportFormat(help="the rows, a JSON object a line", suffix=".jsonl", write=write_jsonl)
