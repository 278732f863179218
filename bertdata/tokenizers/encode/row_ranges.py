"""The rows of a text array in units for the kernels of the tokenizer and of the word counter.

Both cut rows into chunks at spaces, tabs, line feeds and carriage returns. BERT's normaliser makes a space of each of
these before anything else, canonical reordering never moves a mark across a space, and the pre-tokenizer never joins
over one; so a text's words are its chunks' words, in order. Other white space is left inside the chunks (the
normaliser deletes some of it, such as the vertical tab, and so joins what is around it).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bertdata.text_arrays import BATCH_BYTES


def units_of(offsets: NDArray[np.int64], size: int = BATCH_BYTES) -> Iterator[tuple[int, int]]:
    """Yield runs of rows, from and to, of about `size` bytes between `offsets`; a longer row comes alone.

    >>> list(units_of(np.array([0, 2, 4, 9, 9, 10]), 4))
    [(0, 2), (2, 3), (3, 5)]
    """
    row, last = 0, len(offsets) - 1
    while row < last:
        stop = min(last, max(row + 1, int(np.searchsorted(offsets, offsets[row] + size, side="right")) - 1))
        yield row, stop
        row = stop


def padded_units(
    text: NDArray[np.uint8], offsets: NDArray[np.int64], padding: int, size: int = BATCH_BYTES
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64], int, int]]:
    """Yield text, offsets and runs of rows, from and to, such that `padding` bytes may be read after each run.

    The runs are those of `units_of`. Text and offsets are those given, or copies for rows at the very end; read-only in
    any case, so that kernels see one type.
    """
    n_padded = int(np.searchsorted(offsets, len(text) - padding, side="right")) - 1
    for row, stop in units_of(offsets, size):
        split = min(max(row, n_padded), stop)
        if row < split:
            yield _frozen(text.view()), offsets, row, split
        if split < stop:
            start, end = int(offsets[split]), int(offsets[stop])
            copied = np.zeros(end - start + padding, np.uint8)
            copied[: end - start] = text[start:end]
            yield _frozen(copied), offsets - start, split, stop


def _frozen(text: NDArray[np.uint8]) -> NDArray[np.uint8]:
    text.flags.writeable = False
    return text
