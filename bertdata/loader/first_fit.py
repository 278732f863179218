"""Rows divided into batches in which no text occurs twice: each goes to the first with room and none of its texts.

These are the batches that NO_DUPLICATES of sentence-transformers makes of the same order, which fills one batch after
another, and lets a row whose texts the batch has wait for the next one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.warmup import compiling_pays

COMPILED_FROM = 2048
"""Rows from which the kernel is worth loading: the plain way takes the rows times the batches that are tried."""


def first_fit(
    rows: NDArray[np.int64], texts: NDArray[np.int32], size: int, compiled: bool | None = None
) -> NDArray[np.int64]:
    """Return the number of the batch of each row, int64 (N,).

    rows: the rows in their order, (N,); texts: the numbers of the texts of every row, from 0 on, int32 (M, K); size:
    the rows of a full batch.

    >>> first_fit(np.arange(3), np.array([[1, 2], [1, 3], [4, 5]], np.int32), 2).tolist()
    [0, 1, 0]
    """
    if compiling_pays(len(rows), compiled, COMPILED_FROM):
        return _by_kernel(rows, texts, size)
    batch_of = np.zeros(len(rows), np.int64)
    taken: list[set[int]] = []
    filled: list[int] = []
    open_from = 0
    for place, row in enumerate(rows.tolist()):
        row_texts = set(texts[row].tolist())
        while open_from < len(filled) and filled[open_from] == size:
            open_from += 1
        batch = open_from
        while batch < len(filled) and (filled[batch] == size or not row_texts.isdisjoint(taken[batch])):
            batch += 1
        if batch == len(filled):
            taken.append(set())
            filled.append(0)
        batch_of[place] = batch
        taken[batch] |= row_texts
        filled[batch] += 1
    return batch_of


def _by_kernel(rows: NDArray[np.int64], texts: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    from bertdata.loader.first_fit_kernel import fit_first

    starts, slots = _tables(texts[rows] if len(rows) != len(texts) else texts)
    skip = np.arange(len(rows) + 1, dtype=np.int32)
    batch_of, filled = np.empty(len(rows), np.int64), np.zeros(len(rows), np.int64)
    fit_first(rows, np.ascontiguousarray(texts, np.int32), size, starts, slots, skip, batch_of, filled)
    return batch_of


def _tables(texts: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return where the hash table of each text begins, int64 (T + 1,), and the places of all tables, int32 (P, 2).

    A table has at least twice as many places as rows have the text, a power of two; none where one row has it.
    """
    counts = np.bincount(texts.ravel()) if texts.size else np.zeros(0, np.int64)
    places = np.where(counts > 1, 2 << np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64), 0)
    starts = np.concatenate([[0], np.cumsum(places)]).astype(np.int64)
    return starts, np.full((int(starts[-1]), 2), -1, np.int32)
