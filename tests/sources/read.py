"""Documents of files as a build reads them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pyarrow.parquet as pq

from bertdata.engine.parts import Counters
from bertdata.sources.formats import write_documents
from tests.sources.planned import plan_documents


def documents_of(
    paths: Sequence[str], text_column: str = "text", target: int = 1 << 30, columns: tuple[str, ...] = ()
) -> tuple[list[dict[str, Any]], list[Counters]]:
    """Return the documents of files of --documents, in ranges of `target` bytes, and the counts of each part."""
    rows: list[dict[str, Any]] = []
    tallies = []
    for task in plan_documents(paths, "out", target, text_column, columns):
        file = io.BytesIO()
        tallies.append(write_documents(task, file))
        rows += pq.read_table(io.BytesIO(file.getvalue())).to_pylist()
    return rows, tallies
