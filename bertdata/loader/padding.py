"""Padded rows: the length that rows are padded to, and lists of different lengths as the rows of one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from bertdata.loader.freed_memory import keep_freed_memory

MULTIPLE = 8
"""What lengths of rows are padded to a multiple of where nothing else is asked for: tensor cores work on eights."""


def padded_length(length: int, multiple: int = MULTIPLE) -> int:
    """Return the smallest multiple that is not less than a length.

    >>> padded_length(70), padded_length(64), padded_length(70, 64)
    (72, 64, 128)
    """
    return -(-length // multiple) * multiple


keep_freed_memory()


def padded_rows(lists: Sequence[NDArray[Any]], width: int, fill: int, kind: DTypeLike) -> NDArray[Any]:
    """Return N lists of at most `width` numbers as one array (N, width) of a dtype, with `fill` behind each list.

    >>> padded_rows([np.array([5, 6]), np.array([7])], 3, 0, np.int64).tolist()
    [[5, 6, 0], [7, 0, 0]]
    """
    rows: NDArray[Any] = np.full((len(lists), width), fill, kind)
    for row, values in zip(rows, lists, strict=True):
        row[: len(values)] = values
    return rows
