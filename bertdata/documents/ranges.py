"""Ranges of documents: consecutive row groups of a part, which a worker reads one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from bertdata.documents.document import COLUMNS, SCHEMA, WITH_COLUMNS
from bertdata.documents.reread import CHECKSUM, ROW, ROWS_OF, SourceRows, read_again
from bertdata.documents.row_batches import open_parquet
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.int_rows import Ints
from bertdata.engine.parts import PartMetadata, Task, part_name
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.arrow_data import checked

RANGE_BYTES = 32 << 20


@dataclass(frozen=True)
class DocumentRange:
    """Consecutive row groups of one part of documents; `sha256` is that of the whole part.

    dropped: rows to be skipped, counted from the first row of the range. rows_of: where their texts are, if not in the
    part.
    """

    path: str
    sha256: str
    first: int
    last: int
    text_bytes: int
    dropped: Sequence[int] = ()
    rows_of: SourceRows | None = None

    @property
    def made_from(self) -> dict[str, Any]:
        """What fingerprints have of it: all but where it is."""
        names = ("sha256", "first", "last", "text_bytes", "dropped")
        return {"path": "", **{name: getattr(self, name) for name in names}}


def first_rows(record: PartMetadata) -> list[int]:
    """Return the first row of each row group of a part, and then the number of its rows.

    >>> first_rows(PartMetadata("x", "f", 1, "s", 0.0, {}, {}, {"row_groups": [[3, 90], [2, 50]]}))
    [0, 3, 5]
    """
    return list(accumulate((rows for rows, _ in record.details["row_groups"]), initial=0))


def cut_ranges(parts: Sequence[tuple[str, PartMetadata]], target_bytes: int = RANGE_BYTES) -> list[DocumentRange]:
    """Cut parts into ranges of about `target_bytes` of text, what a worker holds at a time.

    Dropped documents do not move the cuts; a range without documents is left out.
    """
    result: list[DocumentRange] = []
    for path, record in parts:
        first, range_bytes, begins = 0, 0, first_rows(record)
        groups = record.details["row_groups"]
        dropped, rows_of = np.asarray(record.details.get("dropped", ()), np.int64), record.details.get(ROWS_OF)
        for number, (_, size) in enumerate(groups):
            range_bytes += size
            if range_bytes >= target_bytes or number == len(groups) - 1:
                start, end = begins[first], begins[number + 1]
                inside = dropped[slice(*np.searchsorted(dropped, [start, end]))]
                if len(inside) < end - start:
                    result.append(
                        DocumentRange(
                            path, record.sha256, first, number + 1, range_bytes, Ints(inside - start), rows_of
                        )
                    )
                first, range_bytes = number + 1, 0
    return result


def range_tasks(ranges: Sequence[DocumentRange], directory: str, *made_from: Any) -> list[Task]:
    """Return one task for each range of documents, named after the directory; fingerprints do not depend on paths."""
    return [
        Task(
            directory,
            part_name(files.name(directory), number),
            ".arrow",
            fingerprint(*made_from, documents.made_from),
            documents.text_bytes,
            documents,
        )
        for number, documents in enumerate(ranges)
    ]


def _opened(path: str) -> Any:
    """Return a file of documents, a local one as a file of Arrow, which copies what it reads once less.

    Raises InputError where it is missing or empty.
    """
    file = files.open_raw(path)
    if files.is_remote(path):
        return file
    file.close()
    return pa.OSFile(path)


def read_range(documents: DocumentRange, *, columns: bool = False) -> Iterator[pa.Table]:
    """Yield the row groups of a range as tables of `SCHEMA`, without the dropped rows.

    With `columns` there is a column of that name, further columns as a JSON object, null where a document has none.
    Raises InputError where the file is damaged, or a source of which texts are read again has changed.
    """
    dropped = np.array(documents.dropped, np.int64)
    begin = 0
    for table in _groups_again(documents) if documents.rows_of else _groups(documents, columns=columns):
        if columns and COLUMNS not in table.column_names:
            table = table.append_column(WITH_COLUMNS.field(COLUMNS), pa.nulls(table.num_rows, pa.string()))  # noqa: PLW2901
        end = begin + table.num_rows
        if len(inside := dropped[(dropped >= begin) & (dropped < end)]):
            table = table.take(pa.array(np.delete(np.arange(table.num_rows), inside - begin)))  # noqa: PLW2901
        if table.num_rows:
            yield table
        begin = end


def _groups(documents: DocumentRange, *, columns: bool) -> Iterator[pa.Table]:
    """Yield the row groups of a range that has texts, and its further columns if it has any and they are asked."""
    with _opened(documents.path) as raw:
        parquet = open_parquet(raw, documents.path)
        with_columns = columns and COLUMNS in parquet.schema_arrow.names
        schema = WITH_COLUMNS if with_columns else SCHEMA
        for number in range(documents.first, documents.last):
            with _reading(number, documents.path):
                table = checked(parquet.read_row_group(number, columns=schema.names).cast(schema))
            yield table


def _groups_again(documents: DocumentRange) -> Iterator[pa.Table]:
    """Yield the row groups of a range whose texts are read from its source."""
    assert documents.rows_of is not None
    groups = []
    with _opened(documents.path) as raw:
        parquet = open_parquet(raw, documents.path)
        for number in range(documents.first, documents.last):
            with _reading(number, documents.path):
                table = checked(parquet.read_row_group(number, columns=[ROW, CHECKSUM]))
                groups.append((table[ROW].to_numpy(), table[CHECKSUM][0]))
    yield from read_again(documents.rows_of, groups, documents.path)


@contextmanager
def _reading(number: int, path: str) -> Iterator[None]:
    """Raise InputError where a row group cannot be read in the block."""
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError, IndexError, KeyError) as error:
        raise InputError(
            f"row group {number} cannot be read ({error}); delete this file and build again", path=path
        ) from error
