"""Most words before a period are ASCII letters that Punkt knows nothing of: `punkt_kernel` finds these eight bytes at a
time, and ends the sentence after them without looking them up. The reference is `words_kernel`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Bytes
from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import highest_bit, load64
from bertdata.sentences import compiled_parameters as tables

Longs = NDArray[np.int64]

_ending = kernel(tables.ending)
_U = np.uint64
_EACH = _U(0x0101010101010101)
_HIGH, _LOW, _SMALL = _U(0x80) * _EACH, _U(0x7F) * _EACH, _U(0x20) * _EACH
_FROM_A, _AFTER_Z = _U(0x80 - 0x61) * _EACH, _U(0x80 - 0x7B) * _EACH
"""What carries a byte below 128 into its highest bit from `a` on, and from the one after `z` on."""
_0, _3 = _U(0), _U(3)


@inlined
def letters_before(data: Bytes, end: int) -> Any:
    """Return how many of the eight bytes before a place are ASCII letters with nothing else after them; uint64.

    0 where fewer than eight bytes are before it.
    """
    if end < 8:
        return _0
    word = load64(data, end - 8)
    small = (word | _SMALL) & _LOW
    others = (~(small + _FROM_A) | (small + _AFTER_Z) | word) & _HIGH
    return _U(8) if others == _0 else _U(7) - (highest_bit(others) >> _3)


@inlined
def is_plain_word(data: Bytes, begin: int, end: int, index: Longs, chars: Bytes) -> bool:
    """Tell of data[begin:end] whether it is ASCII letters, two or more, and no word that the table BEFORE has.

    False says nothing.
    """
    length = end - begin
    if not 2 <= length <= tables.LONGEST_ENDING:
        return False
    number = _ending(int(data[end - 2]), int(data[end - 1]), length)
    is_plain = not chars[index[tables.ENDINGS] + (number >> 3)] >> (number & 7) & 1
    for i in range(begin, end - np.int64(letters_before(data, end))):
        is_plain = is_plain and 97 <= data[i] | 32 <= 122
    return is_plain
