"""Rows of lists in another order: those of a token file by shard, those of a shard's slices by document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.kernels.use import Kernels

Longs = NDArray[np.int64]
_MOVING = Kernels("bertdata.corpus.token_rows_kernel:move_rows")


def taken(column: pa.ListArray, rows: Longs) -> pa.ListArray:
    """Return rows of a column of lists, as `take` of Arrow does, which copies value by value.

    >>> taken(pa.array([[1, 2], [], [3]]), np.array([2, 0])).to_pylist()
    [[3], [1, 2]]
    """
    values, offsets = _flat(column)
    ends = _ends(np.diff(offsets)[rows])
    out = np.empty(ends[-1], values.dtype)
    _move(values, offsets, rows, ends[:-1], out)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(out, column.type.value_type))


def joined(columns: Sequence[pa.ListArray], order: Longs, kind: Any) -> tuple[NDArray[Any], Longs]:
    """Return the values of all rows of some columns in an order, one after another, and how many each row has.

    order: the numbers of the rows, counted through all columns.

    >>> values, lengths = joined([pa.array([[1, 2]]), pa.array([[3], []])], np.array([1, 2, 0]), np.int64)
    >>> values.tolist(), lengths.tolist()
    ([3, 1, 2], [1, 0, 2])
    """
    flat = [_flat(column) for column in columns]
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(offsets) for _, offsets in flat)])[order]
    ends = _ends(lengths)
    targets = np.empty(len(order), np.int64)
    targets[order] = ends[:-1]
    out, first = np.empty(ends[-1], kind), 0
    for values, offsets in flat:
        rows = np.arange(len(offsets) - 1)
        _move(values, offsets, rows, targets[first : first + len(rows)], out)
        first += len(rows)
    return out, lengths


def row_bytes_of(columns: Sequence[pa.ListArray], rows: Sequence[int]) -> Iterator[bytes]:
    """Yield the bytes of the values of some rows, counted through all columns."""
    flat = [_flat(column) for column in columns]
    firsts = np.cumsum([0, *(len(column) for column in columns)])
    for row in rows:
        number = int(np.searchsorted(firsts, row, side="right")) - 1
        values, offsets = flat[number]
        begin, end = offsets[row - firsts[number] : row - firsts[number] + 2]
        yield values[begin:end].tobytes()


def _flat(column: pa.ListArray) -> tuple[NDArray[Any], NDArray[np.int32]]:
    return column.values.to_numpy(zero_copy_only=False), column.offsets.to_numpy()


def _ends(lengths: NDArray[np.integer]) -> Longs:
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends


def _move(values: NDArray[Any], offsets: NDArray[np.int32], rows: Longs, targets: Longs, out: NDArray[Any]) -> None:
    """Write rows of flat values, values[offsets[row] : offsets[row + 1]], into `out`, each from its target on."""
    if not _MOVING.pay(out.nbytes):
        borders = list(pairwise(offsets.tolist()))
        for row, target in zip(rows.tolist(), targets.tolist(), strict=True):
            begin, end = borders[row]
            out[target : target + end - begin] = values[begin:end]
        return
    from bertdata.corpus import token_rows_kernel as kernel

    values = np.ascontiguousarray(values, out.dtype)
    if not kernel.move_rows(values.view(np.uint8), offsets, values.itemsize, rows, targets, out.view(np.uint8)):
        raise ValueError("a row of the token store is not there")
