"""Columns of numbers as NumPy arrays, without what pyarrow imports for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers_of(column: pa.Array) -> NDArray[Any]:
    """Return a column of numbers without a copy, and whole numbers without pandas, which `to_numpy` imports.

    >>> numbers_of(pa.array([7, 9], pa.uint16()))
    array([7, 9], dtype=uint16)
    """
    if pa.types.is_integer(column.type) and not column.null_count:
        kind = np.dtype(str(column.type))
        return np.frombuffer(column.buffers()[1] or b"", kind, len(column), column.offset * kind.itemsize)
    values: NDArray[Any] = column.to_numpy()
    return values
