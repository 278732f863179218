"""Parquet as documents: those of a large file are made of columns, without an object of Python for a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from bertdata.documents import DocumentGroups, open_parquet, read_batches
from bertdata.engine.parts import Counters
from bertdata.io import files
from bertdata.kernels.warmup import compiling_pays
from bertdata.sources.formats import FileRange, Layout, Request, SourceFile
from bertdata.sources.table_rows import Rows
from bertdata.sources.tabular import TableFormat, are_columns_enough, columns_read, require_strings

_UNPACKED = 3
"""How many times as large as its file the text of Parquet is taken to be."""


class ParquetFormat(TableFormat):
    """Parquet; a range is a run of row groups."""

    name = "parquet"
    suffixes = (".parquet",)
    signatures = (b"PAR1",)
    described = "Parquet"

    def layout(self, source: SourceFile, request: Request) -> Layout:
        """Return the column of the text, which holds strings where they are taken as they are."""
        layout = super().layout(source, request)
        with files.open_raw(source.path) as raw:
            require_strings(open_parquet(raw, source.path).schema_arrow, layout, source.path)
        return layout

    def ranges(self, path: str, target_bytes: int, text_column: str) -> Iterator[tuple[int, int, int]]:
        """Yield runs of row groups."""
        with files.open_raw(path) as raw:
            parquet = open_parquet(raw, path)
            sizes = [parquet.metadata.row_group(i).total_byte_size for i in range(parquet.metadata.num_row_groups)]
        first, run_bytes = 0, 0
        for number, size in enumerate(sizes):
            run_bytes += size
            if run_bytes >= target_bytes or number == len(sizes) - 1:
                yield first, number + 1, run_bytes
                first, run_bytes = number + 1, 0

    def names_of(self, path: str) -> list[str]:
        """Return the columns of a file."""
        with files.open_raw(path) as raw:
            names: list[str] = open_parquet(raw, path).schema_arrow.names
            return names

    columns_of = names_of

    def reads_again(self, chosen: FileRange) -> bool:
        """Tell whether the rows are made of columns."""
        return are_columns_enough(chosen) and compiling_pays(_UNPACKED * files.size(chosen.path), None)

    def read(self, chosen: FileRange, writer: DocumentGroups, counters: Counters) -> None:
        """Write the documents of one range: those of a large file by columns, where these are enough."""
        if not self.reads_again(chosen):
            super().read(chosen, writer, counters)
            return
        rows = Rows(chosen, writer, counters)
        for place, batch in _batches_of(chosen):
            rows.add_batch(place, batch)
        counters.details["broken"] = rows.broken

    def rows(self, chosen: FileRange) -> Iterator[tuple[int, dict[str, Any] | str]]:
        """Yield the rows of a range."""
        for place, batch in _batches_of(chosen):
            yield from enumerate(batch.to_pylist(), place)


PARQUET = ParquetFormat()


def _batches_of(chosen: FileRange) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the rows of a range of Parquet, some at a time, with the place of the first of them."""
    with files.open_raw(chosen.path) as raw:
        parquet = open_parquet(raw, chosen.path)
        names = columns_read(chosen, parquet.schema_arrow.names)
        before = range(min(chosen.start, parquet.metadata.num_row_groups))
        place = sum(parquet.metadata.row_group(number).num_rows for number in before)
        groups = range(chosen.start, chosen.end)
        for batch in read_batches(raw, chosen.path, columns=names, row_groups=groups):
            yield place, batch
            place += len(batch)
