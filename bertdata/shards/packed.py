"""Unpacking of packed rows into their examples.

A packed row holds several examples one after another; `cu_seqlens` has their cumulative lengths (0, the end of the
first, of the second, ...), as attention kernels for variable lengths take them. Columns with one value for each example
(id, pair label, source, mask rate) are lists in a packed row.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.shards.columns import CU_SEQLENS, INPUT_IDS, OF_TOKENS, WORD_STARTS
from bertdata.shards.number_arrays import numbers_of


def unpacked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a record batch with a row for each example, without a copy; one that is not packed is returned as it is.

    Raises ValueError where the borders do not fit the lists beside them.

    >>> batch = pa.record_batch({"input_ids": [[2, 7, 3, 2, 8, 3]], "example_id": [[5, 6]], "cu_seqlens": [[0, 3, 6]]})
    >>> unpacked(batch).to_pylist()
    [{'input_ids': [2, 7, 3], 'example_id': 5}, {'input_ids': [2, 8, 3], 'example_id': 6}]
    """
    if CU_SEQLENS not in batch.schema.names:
        return batch
    ends = _ends(batch)
    offsets = pa.array(np.concatenate([[0], ends]), pa.int32())
    columns: dict[str, pa.Array] = {}
    for name in batch.schema.names:
        values = batch[name].flatten()
        if name in OF_TOKENS:
            columns[name] = pa.ListArray.from_arrays(offsets, values)
        elif name != CU_SEQLENS:
            columns[name] = values
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def word_starts(batch: pa.RecordBatch) -> NDArray[np.bool_] | None:
    """Return where words begin in the rows of a batch, flat, bool (T,); None where the shards do not have it."""
    if WORD_STARTS not in batch.schema.names:
        return None
    flags: NDArray[np.bool_] = batch[WORD_STARTS].flatten().to_numpy(zero_copy_only=False)
    return flags


def first_examples(batch: pa.RecordBatch) -> NDArray[np.int64]:
    """Return for each packed row the number of its first example in the batch, int64 (R,)."""
    borders = np.diff(numbers_of(batch[CU_SEQLENS].offsets)).astype(np.int64) - 1
    firsts: NDArray[np.int64] = np.cumsum(borders) - borders
    return firsts


def _ends(batch: pa.RecordBatch) -> NDArray[np.int64]:
    """Return where each example ends among the tokens of the batch; raises ValueError where borders do not fit."""
    column, tokens = batch[CU_SEQLENS], np.diff(numbers_of(batch[INPUT_IDS].offsets)).astype(np.int64)
    counts = np.diff(numbers_of(column.offsets)).astype(np.int64)
    borders = numbers_of(column.flatten()).astype(np.int64)
    if len(counts) and int(counts.min()) < 2:
        raise ValueError("a row has no examples")
    begins = np.cumsum(counts) - counts
    inner = np.ones(len(borders), np.bool_)
    inner[begins] = False
    steps = np.diff(borders, prepend=0)[inner]
    lengths = np.add.reduceat(steps, np.cumsum(counts - 1) - (counts - 1)) if len(counts) else tokens
    if borders[begins].any() or (steps <= 0).any() or not np.array_equal(lengths, tokens):
        raise ValueError("the borders of a row do not rise from 0 to its length")
    for name in batch.schema.names:
        if name != CU_SEQLENS:
            wanted = tokens if name in OF_TOKENS else counts - 1
            if not np.array_equal(np.diff(numbers_of(batch[name].offsets)), wanted):
                raise ValueError(f"{name} has another number of values in a row than its borders say")
    ends: NDArray[np.int64] = np.cumsum(steps)
    return ends
