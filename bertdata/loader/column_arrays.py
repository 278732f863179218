"""A column of a record batch as NumPy arrays, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.shards.number_arrays import numbers_of

Column = tuple[NDArray[np.integer] | None, Any]
"""The offsets (None for a column of numbers) and the values (an array, or `Bits`) of one record batch's column."""


class Bits:
    """A column of bool as Arrow has it, a bit each: a slice, start and stop given, is an array of bool.

    >>> Bits(pa.array([True, False, True]).slice(1))[0:2].tolist()
    [False, True]
    """

    def __init__(self, column: pa.BooleanArray) -> None:
        self._bytes, self._begin = np.frombuffer(column.buffers()[1] or b"", np.uint8), column.offset

    def __getitem__(self, part: slice) -> NDArray[np.bool_]:
        first, last = part.start + self._begin, part.stop + self._begin
        bits = np.unpackbits(self._bytes[first >> 3 : (last + 7) >> 3], bitorder="little")
        return bits[first & 7 : (first & 7) + last - first].view(np.bool_)


def column_of(column: pa.Array) -> Column:
    """Return a column of a record batch, of lists or of numbers."""
    if pa.types.is_list(column.type):
        values = column.values
        return _values(column.offsets), Bits(values) if pa.types.is_boolean(values.type) else _values(values)
    return None, _values(column)


def _values(column: pa.Array) -> NDArray[Any]:
    """Return a column of numbers without a copy, any other as objects."""
    if pa.types.is_string(column.type):
        values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return values
    return numbers_of(column)
