"""Rows of several choices: lists hold the choices one after another, `choice_lengths` says how long each is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bertdata.arrays import Ints
from bertdata.shards.columns import INPUT_IDS, OF_TOKENS
from bertdata.shards.number_arrays import numbers_of

CHOICE_LENGTHS = "choice_lengths"
"""The column of the lengths of a row's choices."""


def choices_apart(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Ints]:
    """Return the columns of tokens with a row for each choice, without a copy, and the number of the row of each.

    Raises ValueError where a row has fewer than two choices, and where their lengths do not add up to those of its
    lists.

    >>> batch = pa.record_batch({"input_ids": [[2, 7, 3, 2, 3]], "choice_lengths": [[3, 2]], "label": [0]})
    >>> apart, rows = choices_apart(batch)
    >>> apart.to_pylist(), rows.tolist()
    ([{'input_ids': [2, 7, 3]}, {'input_ids': [2, 3]}], [0, 0])
    """
    column = batch[CHOICE_LENGTHS]
    numbers = np.diff(numbers_of(column.offsets)).astype(np.int64)
    lengths = numbers_of(column.flatten()).astype(np.int64)
    if int(numbers.min(initial=2)) < 2:
        raise ValueError("a row has fewer than two choices")
    rows = np.repeat(np.arange(len(numbers)), numbers)
    totals = np.zeros(len(numbers), np.int64)
    np.add.at(totals, rows, lengths)
    names = [name for name in batch.schema.names if name in OF_TOKENS]
    for name in names:
        if (lengths < 0).any() or not np.array_equal(np.diff(numbers_of(batch[name].offsets)), totals):
            raise ValueError(f"the lengths of the choices do not add up to those of {name}")
    assert INPUT_IDS in names
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    return pa.record_batch({name: pa.ListArray.from_arrays(offsets, batch[name].flatten()) for name in names}), rows
