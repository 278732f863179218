"""Rows of whole numbers in one array, for records of many small lists.

A list of three small numbers takes about 150 bytes, a row of an int32 array 12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_AT_ONCE = 4096


class IntRows(Sequence[list[int]]):
    """Rows of equally many whole numbers, read as lists: an int32 array (R, C), int64 where a number needs it.

    It equals the list of its rows.

    >>> rows = IntRows(np.array([[8310, 1, 18], [9000, 2, 40]]))
    >>> rows[0], list(rows) == rows, rows.array.dtype
    ([8310, 1, 18], True, dtype('int32'))
    """

    __slots__ = ("array",)

    def __init__(self, values: NDArray[np.integer]) -> None:
        fits = not values.size or (values.min() >= -(1 << 31) and values.max() < 1 << 31)
        self.array: NDArray[np.integer] = np.ascontiguousarray(values, np.int32 if fits else np.int64)

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> list[int]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[int]]: ...
    def __getitem__(self, index: int | slice) -> list[int] | list[list[int]]:
        found: list[int] | list[list[int]] = self.array[index].tolist()
        return found

    def __iter__(self) -> Iterator[list[int]]:
        for begin in range(0, len(self.array), _AT_ONCE):
            yield from self.array[begin : begin + _AT_ONCE].tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.integer]:
        return np.array(self.array, dtype, copy=copy)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, IntRows):
            return bool(np.array_equal(self.array, other.array))
        return isinstance(other, list) and self.array.tolist() == other

    def __hash__(self) -> int:
        return hash(self.array.tobytes())

    def __repr__(self) -> str:
        return repr(self.array.tolist())


def compact(value: Any) -> Any:
    """Return a list of lists of equally many whole numbers as IntRows, and any other value as it is.

    >>> compact([[1, 2], [3, 4]]), compact([[1, 2], [3]]), compact([[1, "a"]]), type(compact([[1, 2]])).__name__
    ([[1, 2], [3, 4]], [[1, 2], [3]], [[1, 'a']], 'IntRows')
    """
    if not isinstance(value, list) or not value or not isinstance(value[0], list) or not value[0]:
        return value
    if set(map(type, value)) != {list} or len(set(map(len, value))) > 1:
        return value
    if set(map(type, chain.from_iterable(value))) != {int}:
        return value
    try:
        return IntRows(np.array(value, np.int64))
    except OverflowError:
        return value


def columns(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.integer]:
    """Return rows of so many numbers as an array (R, width), without a copy of IntRows.

    >>> columns([], 3).shape, columns([[1, 2, 3]], 3).tolist()
    ((0, 3), [[1, 2, 3]])
    """
    return rows.array if isinstance(rows, IntRows) else np.array(rows, np.int64).reshape(-1, width)
