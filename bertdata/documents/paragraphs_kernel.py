r"""The compiled core of `paragraph_texts`: which texts `paragraphs` returns as they are, and which with `\n` doubled.

It looks 64 bytes at a time for line breaks, and at the characters beside these. Where a text asks for more, it says so.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined, typed_kernel
from bertdata.kernels.simd import BLOCK, line_end_bits, lowest_bit

AS_IT_IS, DOUBLED, OTHER = range(3)
"""What becomes of a text: nothing, a blank line for each of its line breaks, or what `paragraphs` makes of it."""

_NEWLINE, _FIRST_SPACE, _LAST_SPACE, _FIRST_SEPARATOR, _SPACE = 10, 9, 13, 28, 32
_U = np.uint64
_BYTES = numba.types.Array(numba.uint8, 1, "C", readonly=True)
_ENDS = numba.types.Array(numba.int32, 1, "C", readonly=True)


@inlined
def _is_space(byte: Any) -> Any:
    return _FIRST_SPACE <= byte <= _LAST_SPACE or _FIRST_SEPARATOR <= byte <= _SPACE


@inlined
def _space_begins(data: Any, at: Any, end: Any) -> Any:
    """Tell whether the character at a place is white space, which in Unicode has up to three bytes."""
    byte = data[at]
    if byte < 0x80:
        return _is_space(byte)
    if byte == 0xC2:
        return at + 1 < end and (data[at + 1] == 0x85 or data[at + 1] == 0xA0)
    if at + 2 >= end or not 0xE1 <= byte <= 0xE3:
        return False
    second, third = data[at + 1], data[at + 2]
    if byte == 0xE1:
        return second == 0x9A and third == 0x80
    if byte == 0xE3:
        return second == 0x80 and third == 0x80
    if second == 0x81:
        return third == 0x9F
    return second == 0x80 and (third <= 0x8A or third in (0xA8, 0xA9, 0xAF))


@inlined
def _space_ends(data: Any, begin: Any, at: Any) -> Any:
    """Tell whether the character before a place is white space."""
    byte = data[at - 1]
    if byte < 0x80:
        return _is_space(byte)
    if at - 2 >= begin and data[at - 2] == 0xC2:
        return _space_begins(data, at - 2, at)
    return at - 3 >= begin and data[at - 3] >= 0xE1 and _space_begins(data, at - 3, at)


@inlined
def _kind(data: Any, begin: Any, end: Any, counts: Any, row: Any) -> Any:
    """Return what becomes of the text data[begin:end]; writes the number of its line breaks."""
    counts[row] = 0
    if begin == end or _space_begins(data, begin, end) or _space_ends(data, begin, end):
        return OTHER
    single, double = False, False
    block: Any = begin
    past: Any = begin
    while block < end:
        bits = line_end_bits(data, block)
        while bits != _U(0):
            at = block + np.int64(lowest_bit(bits))
            bits &= bits - _U(1)
            if at >= end:
                break
            if at < past:
                continue
            if data[at] != _NEWLINE or _space_ends(data, begin, at):
                return OTHER
            past = at + 1
            if data[past] == _NEWLINE:  # the last character is no white space
                past += 1
                double = True
            else:
                single = True
            if _space_begins(data, past, end):
                return OTHER
            counts[row] += 1
        block += BLOCK
    return DOUBLED if single and not double else AS_IT_IS


@typed_kernel(numba.int64(_BYTES, _ENDS, numba.uint8[::1], numba.int64[::1]))
def find_kinds(data: NDArray[Any], ends: NDArray[Any], kinds: NDArray[Any], counts: NDArray[Any]) -> int:
    """Write what becomes of each text, and how many line breaks it has; returns how many do not stay as they are.

    Text i is data[ends[i] : ends[i + 1]], with BLOCK bytes of anything after the last one.
    """
    changed = 0
    for row in range(len(kinds)):
        kinds[row] = _kind(data, np.int64(ends[row]), np.int64(ends[row + 1]), counts, row)
        changed += kinds[row] != AS_IT_IS
    return changed


@typed_kernel(
    numba.int64(_BYTES, _ENDS, numba.uint8[::1], _BYTES, _ENDS, numba.uint8[::1], numba.int32[::1]),
)
def write_texts(
    data: NDArray[Any],
    ends: NDArray[Any],
    kinds: NDArray[Any],
    others: NDArray[Any],
    other_ends: NDArray[Any],
    out: NDArray[Any],
    out_ends: NDArray[Any],
) -> int:
    """Write the texts one after another, and where each ends; returns the bytes.

    Those of the kind OTHER are the next one each of `others`, which lie as those in `data`.
    """
    written: Any = np.int64(0)
    other = 0
    out_ends[0] = 0
    for row in range(len(kinds)):
        begin: Any = np.int64(ends[row])
        end: Any = np.int64(ends[row + 1])
        if kinds[row] == OTHER:
            first: Any = np.int64(other_ends[other])
            last: Any = np.int64(other_ends[other + 1])
            written = copy(others, first, last, out, written)
            other += 1
        elif kinds[row] == AS_IT_IS:
            written = copy(data, begin, end, out, written)
        else:
            block: Any = begin
            copied: Any = begin
            while block < end:
                bits = line_end_bits(data, block)
                while bits != _U(0):
                    at = block + np.int64(lowest_bit(bits))
                    bits &= bits - _U(1)
                    if at >= end:
                        break
                    written = copy(data, copied, at + 1, out, written)
                    out[written] = _NEWLINE
                    written += 1
                    copied = at + 1
                block += BLOCK
            written = copy(data, copied, end, out, written)
        out_ends[row + 1] = written
    return int(written)
