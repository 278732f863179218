"""The compiled core of `json_columns`: lines of JSON to columns of strings, without an object of Python for a row.

It takes a line that is a whole JSON object whose wanted members are strings, and beside the text also whole numbers or
null. Of any other line it says so and nothing else, for `json` to read it.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined, typed_kernel
from bertdata.kernels.simd import BLOCK, count_bits, equal_bits, lowest_bit
from bertdata.sources.json_values_kernel import (
    FAILED,
    copy_string,
    run_end,
    skip_integer,
    skip_literal,
    skip_space,
    skip_value,
)

ROW, BLANK, OTHER = range(3)
"""What a line is: an object that was read, nothing but white space, or something that `json` must read."""
FIELDS = 5
"""The columns that are written; the text is the last one."""

_TEXT = FIELDS - 1
_ACTION = FIELDS
"""The name of the member of a line that is the first of two of a search index."""
_MOST_DIGITS = 18
_NEWLINE = 10
_QUOTE, _COMMA, _MINUS, _POINT, _0, _COLON = b'",-.0:'
_LEFT_BRACE, _RIGHT_BRACE, _N, _E = b"{}ne"
_BYTES = numba.types.Array(numba.uint8, 1, "C", readonly=True)
_INTS = numba.types.Array(numba.int64, 1, "C", readonly=True)


@inlined
def _field(data: Any, begin: Any, end: Any, names: Any, name_ends: Any) -> Any:
    """Return the number of a name among those that are wanted, `FAILED` where it is none of them."""
    for number in range(len(name_ends) - 1):
        first = name_ends[number]
        if name_ends[number + 1] - first == end - begin:
            place = np.int64(0)
            while place < end - begin and data[begin + place] == names[first + place]:
                place += 1
            if place == end - begin:
                return np.int64(number)
    return np.int64(FAILED)


@inlined
def _plain_value(data: Any, at: Any, out: Any, written: Any) -> Any:
    """Write a whole number as Python does, or nothing for null; returns as `copy_string` does."""
    failed = np.int64(FAILED)
    if data[at] == _N:
        return skip_literal(data, at), written
    stop = skip_integer(data, at)
    is_minus_0 = data[at] == _MINUS and data[at + 1] == _0
    if stop == FAILED or is_minus_0 or stop - at > _MOST_DIGITS or data[stop] == _POINT or (data[stop] | 32) == _E:
        return failed, written
    return stop, copy(data, at, stop, out, written)


@inlined
def _read_object(data: Any, at: Any, names: Any, name_ends: Any, out: Any, written: Any) -> Any:
    """Write the wanted members of the object at a place; returns the place after it, or `FAILED`."""
    failed = np.int64(FAILED)
    seen = 0
    at = skip_space(data, at + 1)
    while True:
        if data[at] != _QUOTE:
            return failed
        begin = at + 1
        end = run_end(data, begin)
        if data[end] != _QUOTE:
            return failed
        field = _field(data, begin, end, names, name_ends)
        at = skip_space(data, end + 1)
        if data[at] != _COLON or field == _ACTION:
            return failed
        at = skip_space(data, at + 1)
        if field == FAILED:
            at = skip_value(data, at)
        else:
            if seen >> field & 1 or (field == _TEXT and data[at] != _QUOTE):
                return failed
            seen |= 1 << field
            if data[at] == _QUOTE:
                at, written[field] = copy_string(data, at + 1, out[field], written[field])
            else:
                at, written[field] = _plain_value(data, at, out[field], written[field])
        if at == FAILED:
            return failed
        at = skip_space(data, at)
        if data[at] != _COMMA:
            return at + 1 if data[at] == _RIGHT_BRACE and seen >> _TEXT & 1 else failed
        at = skip_space(data, at + 1)


@typed_kernel(numba.int64(_BYTES, numba.int64))
def count_line_ends(data: NDArray[Any], size: int) -> int:
    """Return how many line feeds the first bytes have; after them are BLOCK of anything."""
    count = np.uint64(0)
    for block in range(0, size, BLOCK):
        bits = equal_bits(data, block, np.uint8(_NEWLINE))
        if size - block < BLOCK:
            bits &= (np.uint64(1) << np.uint64(size - block)) - np.uint64(1)
        count += count_bits(bits)
    return int(count)


@typed_kernel(numba.int64(_BYTES, numba.int64, numba.int64))
def last_line_end(data: NDArray[Any], begin: int, end: int) -> int:
    """Return the place after the last line feed in data[begin:end], -1 where there is none."""
    for place in range(end - 1, begin - 1, -1):
        if data[place] == _NEWLINE:
            return place + 1
    return -1


@typed_kernel(
    numba.int64(
        *(_BYTES, numba.int64, _BYTES, _INTS, numba.int64[::1]),
        *(numba.uint8[::1], numba.int64[::1], numba.uint8[:, ::1], numba.int32[:, ::1]),
    )
)
def read_lines(
    data: NDArray[Any],
    limit: int,
    names: NDArray[Any],
    name_ends: NDArray[Any],
    written: NDArray[Any],
    kinds: NDArray[Any],
    begins: NDArray[Any],
    out: NDArray[Any],
    ends: NDArray[Any],
) -> int:
    """Read the lines that begin before a limit; writes their kinds, places and columns, and returns how many they are.

    The last line ends with a line feed before BLOCK bytes of anything. names: of the columns, and then that of
    actions, one after another, with their ends. Column c of line i is out[c, ends[c, i] : ends[c, i + 1]], empty where
    it has none.
    """
    at, line = np.int64(0), 0
    while at < limit:
        begins[line] = at
        place = skip_space(data, at)
        kind = OTHER
        if data[place] == _NEWLINE:
            kind, at = BLANK, place + 1
        elif data[place] == _LEFT_BRACE:
            place = _read_object(data, place, names, name_ends, out, written)
            if place != FAILED:
                place = skip_space(data, place)
                if data[place] == _NEWLINE:
                    kind, at = ROW, place + 1
        if kind == OTHER:
            bits = equal_bits(data, at, np.uint8(_NEWLINE))
            while bits == np.uint64(0):
                at += BLOCK
                bits = equal_bits(data, at, np.uint8(_NEWLINE))
            at += np.int64(lowest_bit(bits)) + 1
        for column in range(FIELDS):
            if kind != ROW:
                written[column] = ends[column, line]
            ends[column, line + 1] = written[column]
        kinds[line] = kind
        line += 1
    begins[line] = at
    return line
