"""Ranges of documents: consecutive row groups of a part, which a worker reads one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from bertdata.documents.document import COLUMNS, SCHEMA, WITH_COLUMNS
from bertdata.documents.row_batches import open_parquet
from bertdata.engine.int_rows import Ints
from bertdata.engine.parts import PartMetadata, Task, fingerprint, part_name
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.arrow_data import checked

RANGE_BYTES = 32 << 20


@dataclass(frozen=True)
class DocumentRange:
    """Consecutive row groups of one part of documents; `sha256` is that of the whole part.

    dropped: rows to be skipped, counted from the first row of the range.
    """

    path: str
    sha256: str
    first: int
    last: int
    text_bytes: int
    dropped: Sequence[int] = ()


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
        dropped = np.asarray(record.details.get("dropped", ()), np.int64)
        for number, (_, size) in enumerate(groups):
            range_bytes += size
            if range_bytes >= target_bytes or number == len(groups) - 1:
                start, end = begins[first], begins[number + 1]
                inside = dropped[slice(*np.searchsorted(dropped, [start, end]))]
                if len(inside) < end - start:
                    result.append(
                        DocumentRange(path, record.sha256, first, number + 1, range_bytes, Ints(inside - start))
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
            fingerprint(*made_from, asdict(documents) | {"path": ""}),
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
    Raises InputError where the file is damaged.
    """
    dropped = np.array(documents.dropped, np.int64)
    begin = 0
    with _opened(documents.path) as raw:
        parquet = open_parquet(raw, documents.path)
        for number in range(documents.first, documents.last):
            try:
                table = parquet.read_row_group(number, columns=[*SCHEMA.names, COLUMNS] if columns else SCHEMA.names)
                if columns and COLUMNS not in table.column_names:
                    table = table.append_column(COLUMNS, pa.nulls(table.num_rows, pa.string()))
                table = checked(table.cast(WITH_COLUMNS if columns else SCHEMA))
            except (pa.ArrowException, OSError, ValueError, IndexError) as error:
                raise InputError(
                    f"row group {number} cannot be read ({error}); delete this file and build again",
                    path=documents.path,
                ) from error
            end = begin + table.num_rows
            if len(inside := dropped[(dropped >= begin) & (dropped < end)]):
                table = table.take(pa.array(np.delete(np.arange(table.num_rows), inside - begin)))
            if table.num_rows:
                yield table
            begin = end
