"""Documents of files as a build reads them."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bertdata.documents import ROWS_OF, cut_ranges, read_range
from bertdata.engine.parts import Counters, PartMetadata, Task
from bertdata.sources.formats import write_documents
from bertdata.sources.source_rows import with_rows
from tests.sources.planned import plan_documents


def documents_of(
    paths: Sequence[str], text_column: str = "text", target: int = 1 << 30, columns: tuple[str, ...] = ()
) -> tuple[list[dict[str, Any]], list[Counters]]:
    """Return the documents of files of --documents, in ranges of `target` bytes, and the counts of each part.

    Texts that are no part of it are read again.
    """
    rows: list[dict[str, Any]] = []
    tallies = []
    for task in plan_documents(paths, "out", target, text_column, columns):
        file = io.BytesIO()
        tallies.append(write_documents(task, file))
        rows += documents_in(task, file.getvalue(), tallies[-1])
        tallies[-1].details.pop(ROWS_OF, None)
    return rows, tallies


def documents_in(task: Task, data: bytes, counters: Counters) -> list[dict[str, Any]]:
    """Return the documents of a part, whether it has their texts or not."""
    if ROWS_OF not in counters.details:
        rows: list[dict[str, Any]] = pq.read_table(io.BytesIO(data)).to_pylist()
        return rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.parquet"
        path.write_bytes(data)
        _, record = with_rows((task, PartMetadata("part", "f", len(data), "s", 0.0, {}, {}, counters.details)))
        tables = [table for part in cut_ranges([(str(path), record)]) for table in read_range(part)]
        return [row for table in tables for row in table.to_pylist()]
