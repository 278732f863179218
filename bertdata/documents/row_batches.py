"""Rows of Parquet files and Arrow batches, a bounded number of bytes at a time.

A number of rows says nothing of their bytes: a row may be a line or a book, and equal rows that a dictionary encodes
take some bytes in a file and megabytes each in memory. So a batch of Parquet has the rows that make up `BATCH_BYTES`,
by the metadata of the row group and by the rows before, and where rows can share what is encoded, no more than would
fit if each were the longest of them.

Parquet is decoded a page at a time, and a page or dictionary cannot be cut: pyarrow puts 1,024 rows at least into one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.console import counted

BATCH_BYTES = 32 << 20
LONGEST_ROW = 256 << 20
MOST_ROWS = 256
"""Rows of a batch at most; larger batches are not read faster."""
_WORST = 512 << 20
"""What a batch of encoded rows may take if each of its rows is the longest that there can be."""
_PAYS = 128 << 10
"""Bytes of a batch from which its own cost does not matter, some 70 microseconds."""
_FIRST_ROWS = 4
"""Rows of the first batch of a row group, which say how long its rows are when they are decoded."""
_FEW_ROWS = 16
"""Rows of a batch where nothing says how long the longest may be."""
_RATIO = 30
"""How much smaller than its text a compressed column of prose never is."""
_BUFFER = 8 << 20
_TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
)


def open_parquet(raw: BinaryIO, path: str, **options: Any) -> Any:
    """Return a pyarrow ParquetFile, which compares pages with their checksums where they have any.

    Of a local file 8 MiB of a column are read at a time, of one at a URL the row group, by few requests. Raises
    InputError where the bytes are not Parquet, or two columns have one name.
    """
    reading = {} if files.is_remote(path) else {"pre_buffer": False, "buffer_size": _BUFFER}
    try:
        parquet = pq.ParquetFile(raw, page_checksum_verification=True, **reading, **options)
        names = parquet.schema_arrow.names
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not a Parquet file ({error}); expected documents", path=path) from error
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            f"has several columns of the name {', '.join(map(repr, twice))}; expected each name once: rename them",
            path=path,
        )
    return parquet


def read_batches(
    raw: BinaryIO, path: str, *, columns: Sequence[str] | None = None, row_groups: Sequence[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Parquet file in order, at most `BATCH_BYTES` of them at a time, or one row.

    columns: all without; row_groups: all without. Raises InputError where the file cannot be read, has fewer row
    groups, or a row has over `LONGEST_ROW` bytes; rows are counted from 0.
    """
    parquet = open_parquet(raw, path)
    numbers = range(parquet.metadata.num_row_groups) if row_groups is None else row_groups
    if row_groups and row_groups[-1] >= parquet.metadata.num_row_groups:
        raise InputError(
            f"has {counted(parquet.metadata.num_row_groups, 'row group')}, expected {row_groups[-1] + 1:,} as when it "
            "was planned: put the file back as it was, or run the same command again",
            path=path,
        )
    counts = [parquet.metadata.row_group(number).num_rows for number in range(parquet.metadata.num_row_groups)]
    for number in numbers:
        place = sum(counts[:number])
        try:
            leaves = _leaves(parquet, number, columns)
            limit = _most_rows(raw, path, leaves, number, counts[number])
            size = sum(leaf.total_uncompressed_size for leaf in leaves)
            if size > LONGEST_ROW * max(1, counts[number]):
                raise _too_long(place, size // max(1, counts[number]), path, "on average ")
            rows = _rows_of(size / max(1, counts[number]), min(limit, _FIRST_ROWS))
            for batch in parquet.iter_batches(rows, row_groups=[number], columns=columns):
                batch.validate(full=True)
                sizes = row_bytes(batch)
                yield from cut(batch, sizes, place, path)
                place += len(batch)
                parquet.reader.set_batch_size(_rows_of(sizes.max(initial=1), limit))
        except (InputError, MemoryError):
            raise
        except (pa.ArrowException, OSError, ValueError) as error:
            remedy = "get it again" if "checksum" in str(error).lower() else "write it again with what made it"
            raise InputError(f"cannot be read from row {place} on ({error}); {remedy}", path=path) from error


def cut(batch: pa.RecordBatch, sizes: NDArray[np.int64], place: int = 0, path: str = "") -> Iterator[pa.RecordBatch]:
    """Yield the rows of a batch, at most `BATCH_BYTES` at a time, or one row; `sizes` are those of `row_bytes`.

    Raises InputError for a row of over `LONGEST_ROW` bytes, with its number: `place` is that of the first row.
    """
    ends = np.cumsum(sizes)
    start, done = 0, 0
    while start < len(batch):
        stop = max(start + 1, int(np.searchsorted(ends, done + BATCH_BYTES, side="right")))
        if stop == start + 1 and sizes[start] > LONGEST_ROW:
            raise _too_long(place + start, int(sizes[start]), path)
        yield batch.slice(start, stop - start)
        start, done = stop, int(ends[stop - 1])


def row_bytes(rows: Any) -> NDArray[np.int64]:
    """Return the bytes of each row of a record batch or an array when it is decoded, int64 (N,).

    A row that shares its bytes with others, by a dictionary or a view, has all of them; offsets are not counted.

    >>> row_bytes(pa.array(["Salt", None, "Sea"]).dictionary_encode()).tolist()
    [4, 0, 3]
    >>> row_bytes(pa.array([[{"text": "Salt", "score": 1.5}], []])).tolist()
    [12, 0]
    """
    if isinstance(rows, pa.RecordBatch):
        return _sum_of(rows.columns, len(rows))
    kind = rows.type
    if isinstance(kind, pa.BaseExtensionType):
        return row_bytes(rows.storage)
    if pa.types.is_dictionary(kind):
        values = np.append(row_bytes(rows.dictionary), 0)
        sizes: NDArray[np.int64] = np.take(values, rows.indices.cast(pa.int64()).fill_null(len(values) - 1).to_numpy())
        return sizes
    if pa.types.is_struct(kind):
        return _sum_of(rows.flatten(), len(rows))
    if pa.types.is_map(kind):
        return _of_lists(rows, row_bytes(rows.keys) + row_bytes(rows.items))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _of_lists(rows, row_bytes(rows.values))
    if pa.types.is_primitive(kind) or pa.types.is_fixed_size_binary(kind):
        return np.full(len(rows), -(-kind.bit_width // 8), np.int64)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return _of_views(rows)
    if any(is_kind(kind) for is_kind in _TEXTS):
        return np.asarray(pc.binary_length(rows).fill_null(0)).astype(np.int64)
    return np.full(len(rows), -(-rows.get_total_buffer_size() // max(1, len(rows))), np.int64)


def _sum_of(columns: Sequence[Any], rows: int) -> NDArray[np.int64]:
    total = np.zeros(rows, np.int64)
    for column in columns:
        total += row_bytes(column)
    return total


def _of_lists(rows: Any, values: NDArray[np.int64]) -> NDArray[np.int64]:
    ends = np.append(0, np.cumsum(values))
    lengths: NDArray[np.int64] = np.diff(ends[np.asarray(rows.offsets)])
    return lengths


def _of_views(rows: Any) -> NDArray[np.int64]:
    """Return the lengths in an array of views: of each 16 bytes the first four are the length, if it is not null."""
    views = np.frombuffer(rows.buffers()[1] or b"", np.int32).reshape(-1, 4)[rows.offset : rows.offset + len(rows)]
    return np.where(np.asarray(rows.is_null()), 0, views[:, 0]).astype(np.int64)


def _rows_of(size: float, limit: int) -> int:
    """Return how many rows of a size make a batch."""
    return int(min(limit, max(1, BATCH_BYTES // max(1.0, size))))


def _leaves(parquet: Any, number: int, columns: Sequence[str] | None) -> list[Any]:
    """Return the metadata of the columns of a row group that are read, without the structure above them."""
    group = parquet.metadata.row_group(number)
    leaves = [group.column(place) for place in range(group.num_columns)]
    tops = None if columns is None else {*columns}
    return [leaf for leaf in leaves if tops is None or leaf.path_in_schema in tops or _top(leaf) in tops]


def _top(leaf: Any) -> str:
    return str(leaf.path_in_schema).partition(".")[0]


def _most_rows(raw: BinaryIO, path: str, leaves: Sequence[Any], number: int, rows: int) -> int:
    """Return how many rows of a row group may be decoded at a time, should each of them be the longest.

    A value is no longer than what is encoded of its column, and each row of a list column is taken to have the mean
    number of values. Where that is much, as of a large row group, the dictionary says more: it holds the values that
    rows share.
    """
    limit = MOST_ROWS
    for leaf in leaves:
        size = max(1, leaf.total_uncompressed_size)
        prefixes = "DELTA_BYTE_ARRAY" in leaf.encodings
        shared = leaf.has_dictionary_page or prefixes or size > _RATIO * max(1, leaf.total_compressed_size)
        values = max(1, -(-leaf.num_values // max(1, rows)))
        texts = leaf.physical_type in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
        if not texts or not shared or size * values * limit <= _WORST:
            continue
        most = max(1, _WORST // (size * values))
        if most * size < _PAYS * rows:
            only_dictionary = leaf.has_dictionary_page and not prefixes
            longest = _longest_value(raw, path, leaf.path_in_schema, number) if only_dictionary else 0
            most = max(1, _WORST // (longest * values)) if longest else max(most, _FEW_ROWS)
        limit = min(limit, most)
    return limit


def _longest_value(raw: BinaryIO, path: str, column: str, number: int) -> int:
    """Return the bytes of the longest value in the dictionary of a column; 0 if its first row has none."""
    parquet = open_parquet(raw, path, read_dictionary=[column])
    array = next(parquet.iter_batches(1, row_groups=[number], columns=[column])).column(0)
    while not pa.types.is_dictionary(array.type):
        if pa.types.is_struct(array.type):
            array = array.flatten()[0]
        elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
            array = array.values
        else:
            return 0
    return int(row_bytes(array.dictionary).max(initial=0))


def _too_long(place: int, size: int, path: str, average: str = "") -> InputError:
    return InputError(
        f"row {place} (the first is 0) has {average}{size:,} bytes in the columns that are read; expected at most "
        f"{LONGEST_ROW >> 20} MiB: cut it into several rows",
        path=path,
    )
