"""Bits of an array of bytes, the highest of a byte first, for kernels, and marks at any bit; the reference is `marks`.

Arrays are padded: 16 bytes follow the last position that is read.
"""

from __future__ import annotations

import numpy as np

from bertdata.io.bzip2.stream_layout import BLOCK_MARK, END_MARK
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import load64

_U = np.uint64
_BYTES, _PAIRS = _U(0x00FF00FF00FF00FF), _U(0x0000FFFF0000FFFF)
_8, _16, _32 = _U(8), _U(16), _U(32)
_BLOCK, _END = _U(BLOCK_MARK), _U(END_MARK)


@inlined
def word_at(data: Bytes, i: Int) -> Int:
    """Return the 8 bytes of data from `i` on, the first one highest."""
    word = load64(data, i)
    word = (word & _BYTES) << _8 | word >> _8 & _BYTES
    word = (word & _PAIRS) << _16 | word >> _16 & _PAIRS
    return word << _32 | word >> _32


@inlined
def bits_from(data: Bytes, position: Int) -> Int:
    """Return 57 bits or more of data from a position on, the first one highest."""
    return word_at(data, position >> 3) << _U(position & 7)


@inlined
def take(data: Bytes, position: Int, count: Int) -> Int:
    """Return 1 to 57 bits of data as a number."""
    return np.int64(bits_from(data, position) >> _U(64 - count))


@kernel
def find_marks(data: Bytes, begin: Int, end: Int, may_begin: Bytes, positions: Int) -> Int:
    """Write the positions of marks from `begin` to before `end` to `positions`; returns how many there are.

    `may_begin` tells of each pair of bytes whether a mark has them within its first three. Beyond the room of
    `positions` marks are only counted.
    """
    count = 0
    for i in range(begin >> 3, (end + 7) >> 3):
        if not may_begin[np.int64(data[i + 1]) << 8 | np.int64(data[i + 2])]:
            continue
        word = word_at(data, i)
        for shift in range(8):
            mark = word << _U(shift) >> _16
            if mark in (_BLOCK, _END) and begin <= 8 * i + shift < end:
                if count < positions.size:
                    positions[count] = 8 * i + shift
                count += 1
    return count


def second_bytes() -> Bytes:
    """Return a uint8 array of 65,536: 1 for the second and third byte of a mark that begins at any bit of the first."""
    table = np.zeros(1 << 16, np.uint8)
    for mark in (BLOCK_MARK, END_MARK):
        for shift in range(8):
            table[mark >> (24 + shift) & 0xFFFF] = 1
    return table
