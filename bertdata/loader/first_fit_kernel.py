"""The kernel of `first_fit`: the next batch that a row may try is looked up, not searched.

Two chains lead from a batch to a later one: `skip`, over full batches, and for each text its table, over the batches
that have the text. Each look-up shortens the chain it follows (a union-find with path halving), so a text of most rows
costs little more than any other.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, typed_kernel

_I = numba.int64
_IS = _I[::1]
_READ_IS = numba.types.Array(_I, 1, "C", readonly=True)
_READ_TEXTS = numba.types.Array(numba.int32, 2, "C", readonly=True)
_SLOTS = numba.int32[:, ::1]


@inlined
def _slot(slots: Any, start: Any, mask: Any, batch: Any) -> Any:
    """Return the place of a batch in the table of a text, or the free place for it; at least half are free."""
    place = (batch * 2654435761 >> 7) & mask
    while slots[start + place, 0] != batch and slots[start + place, 0] >= 0:
        place = (place + 1) & mask
    return start + place


@inlined
def _without_text(slots: Any, start: Any, mask: Any, batch: Any) -> Any:
    """Return the first batch from `batch` on that does not have the text."""
    place = _slot(slots, start, mask, batch)
    while slots[place, 0] == batch:
        batch = np.int64(slots[place, 1])
        after = _slot(slots, start, mask, batch)
        if slots[after, 0] == batch:
            slots[place, 1] = slots[after, 1]
        place = after
    return batch


@inlined
def _with_room(skip: Any, batch: Any) -> Any:
    """Return the first batch from `batch` on that is not full."""
    while skip[batch] != batch:
        skip[batch] = skip[skip[batch]]
        batch = np.int64(skip[batch])
    return batch


@typed_kernel(numba.void(_READ_IS, _READ_TEXTS, _I, _READ_IS, _SLOTS, numba.int32[::1], _IS, _IS))
def fit_first(
    rows: NDArray[np.int64],
    texts: NDArray[np.int32],
    size: int,
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    skip: NDArray[np.int32],
    batch_of: NDArray[np.int64],
    filled: NDArray[np.int64],
) -> None:
    """Write the batch of each row into `batch_of`, and how many rows each batch has into `filled`.

    skip: the numbers 0 to N, int32 (N + 1,); slots: the tables that begin at `starts`, of -1.
    """
    for i in range(len(rows)):
        row = rows[i]
        batch = _with_room(skip, 0)
        while True:
            tried = batch
            for column in range(texts.shape[1]):
                start = starts[texts[row, column]]
                mask = starts[texts[row, column] + 1] - start - 1
                if mask > 0:
                    batch = _without_text(slots, start, mask, batch)
            batch = _with_room(skip, batch)
            if batch == tried:  # nothing led further: it has room and none of the texts
                break
        batch_of[i] = batch
        filled[batch] += 1
        if filled[batch] == size:
            skip[batch] = batch + 1
        for column in range(texts.shape[1]):
            start = starts[texts[row, column]]
            mask = starts[texts[row, column] + 1] - start - 1
            if mask > 0:
                place = _slot(slots, start, mask, batch)
                slots[place, 0], slots[place, 1] = batch, batch + 1
