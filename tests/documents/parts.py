"""Documents written to bytes, and read from them as they are stored."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq

from bertdata.documents import (
    DocumentWriter,
)
from bertdata.engine.parts import Counters

Row = tuple[str, str, str, str, str]


def written(rows: list[Row]) -> tuple[bytes, Counters]:
    file, counters = io.BytesIO(), Counters()
    with DocumentWriter(file, counters) as writer:
        for row in rows:
            writer.add(*row)
    return file.getvalue(), counters


def stored(data: bytes) -> list[Row]:
    columns = pq.read_table(pa.BufferReader(data)).to_pydict().values()
    return list(zip(*columns, strict=True))
