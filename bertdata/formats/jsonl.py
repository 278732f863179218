"""Shards as JSON lines, an object for each row."""

from __future__ import annotations

import json
from typing import BinaryIO

import pyarrow as pa

from bertdata.formats.record_batches import read_batches
from bertdata.formats.registry import ExportFormat


def write_jsonl(path: str, schema: pa.Schema, file: BinaryIO) -> int:
    """Write a shard as JSON lines, an object with the columns' names in each; returns the rows."""
    rows = 0
    for batch in read_batches(path):
        lines = (json.dumps(row, separators=(",", ":")) for row in batch.select(schema.names).to_pylist())
        file.write("".join(f"{line}\n" for line in lines).encode())
        rows += batch.num_rows
    return rows


JSONL = ExportFormat(help="the rows, a JSON object a line", suffix=".jsonl", write=write_jsonl)
