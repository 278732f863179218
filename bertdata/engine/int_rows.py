"""Whole numbers in one array, or rows of them, for records of many.

A list of three small numbers takes about 150 bytes, a row of an int32 array 12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

_AT_ONCE = 4096


T = TypeVar("T")


class IntArray(Sequence[T]):
    """Whole numbers, or rows of them, in an int32 array, int64 where one needs it; it equals the list of them."""

    __slots__ = ("array",)

    def __init__(self, values: NDArray[np.integer]) -> None:
        fits = not values.size or (values.min() >= -(1 << 31) and values.max() < 1 << 31)
        self.array: NDArray[np.integer] = np.ascontiguousarray(values, np.int32 if fits else np.int64)

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        values: T | list[T] = self.array[index].tolist()
        return values

    def __iter__(self) -> Iterator[T]:
        for begin in range(0, len(self.array), _AT_ONCE):
            yield from self.array[begin : begin + _AT_ONCE].tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.integer]:
        return np.array(self.array, dtype, copy=copy)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, IntArray):
            return bool(np.array_equal(self.array, other.array))
        return isinstance(other, list | tuple) and self.array.tolist() == list(other)

    def __hash__(self) -> int:
        return hash(self.array.tobytes())

    def __repr__(self) -> str:
        return repr(self.array.tolist())


class IntRows(IntArray[list[int]]):
    """Rows of equally many whole numbers, read as lists: an array (R, C).

    >>> rows = IntRows(np.array([[8310, 1, 18], [9000, 2, 40]]))
    >>> rows[0], list(rows) == rows, rows.array.dtype
    ([8310, 1, 18], True, dtype('int32'))
    """

    __slots__ = ()


class Ints(IntArray[int]):
    """Whole numbers: an array (R,). In a list each takes 36 bytes.

    >>> Ints(np.array([3, 8]))[1], Ints(np.array([3, 8])) == [3, 8]
    (8, True)
    """

    __slots__ = ()


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
    """Return rows of `width` numbers as an array (R, width), without a copy of IntRows.

    >>> columns([], 3).shape, columns([[1, 2, 3]], 3).tolist()
    ((0, 3), [[1, 2, 3]])
    """
    return rows.array if isinstance(rows, IntRows) else np.array(rows, np.int64).reshape(-1, width)
