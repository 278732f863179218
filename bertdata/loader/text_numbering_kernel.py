"""The kernel of `text_numbers`: a hash table of texts, which finds each of a chunk, or enters it.

All bytes of a text are compared, so two texts with one hash have two numbers. The texts of the table stand one after
the other in an arena. A block of texts is hashed before it is looked up, so that what the table and the arena have of
them is on its way from memory.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.byte_hash import hash_bytes, last_word
from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined, typed_kernel
from bertdata.kernels.simd import load64, prefetch

BLOCK = 32
"""Texts that are hashed together."""

_U = np.uint64
_0, _1, _32 = (_U(n) for n in (0, 1, 32))
_NUMBER = _U(0xFFFFFFFF)
_LINE, _LINES = 64, 4
_I = numba.int64
_READ_BYTES = numba.types.Array(numba.uint8, 1, "C", readonly=True)
_READ_ENDS = numba.types.Array(_I, 1, "C", readonly=True)


@inlined
def _same(data: Any, begin: Any, end: Any, arena: Any, start: Any, stop: Any) -> Any:
    """Tell whether data[begin:end] and arena[start:stop] are the same bytes."""
    size = end - begin
    if size != stop - start:
        return False
    i, differing = 0, _0
    while i + 32 <= size and differing == _0:
        differing |= load64(data, begin + i) ^ load64(arena, start + i)
        differing |= load64(data, begin + i + 8) ^ load64(arena, start + i + 8)
        differing |= load64(data, begin + i + 16) ^ load64(arena, start + i + 16)
        differing |= load64(data, begin + i + 24) ^ load64(arena, start + i + 24)
        i += 32
    while i + 8 <= size:
        differing |= load64(data, begin + i) ^ load64(arena, start + i)
        i += 8
    return bool(differing == _0 and last_word(data, begin, end) == last_word(arena, start, stop))


@typed_kernel(
    _I(_READ_BYTES, _READ_ENDS, numba.uint64[::1], _I[::1], numba.uint8[::1], _I, numba.int32[::1], numba.uint64[::1])
)
def number_chunk(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    slots: NDArray[np.uint64],
    starts: NDArray[np.int64],
    arena: NDArray[np.uint8],
    entered: int,
    numbers: NDArray[np.int32],
    hashes: NDArray[np.uint64],
) -> int:
    """Write the numbers of the texts of a chunk, and enter new ones into the table; return how many texts it then has.

    data: the bytes of the texts; ends: where each begins and the last one ends, (N + 1,); slots: for each place of the
    table 32 bits of a hash and, below them, the number of its text and 1, where it is not free; starts: where the texts
    of the table begin in the arena, and the last one ends; entered: how many texts it has; hashes: room for BLOCK.
    The caller has made the room for a table of twice the texts there may be, and for all their bytes in the arena.
    """
    last = _U(len(slots) - 1)
    for first in range(0, len(numbers), BLOCK):
        count = min(BLOCK, len(numbers) - first)
        for k in range(count):
            hashes[k] = hash_bytes(data, ends[first + k], ends[first + k + 1])
            prefetch(slots, hashes[k] >> _32 & last)
        for k in range(count):
            slot = slots[hashes[k] >> _32 & last]
            if slot != _0:
                start = starts[np.int64(slot & _NUMBER) - 1]
                for line in range(_LINES):
                    prefetch(arena, _U(start + line * _LINE))
        for k in range(count):
            begin, end, high = ends[first + k], ends[first + k + 1], hashes[k] >> _32
            place = high & last
            number = np.int64(-1)
            while slots[place] != _0:
                if slots[place] >> _32 == high:
                    candidate = np.int64(slots[place] & _NUMBER) - 1
                    if _same(data, begin, end, arena, starts[candidate], starts[candidate + 1]):
                        number = candidate
                        break
                place = (place + _1) & last
            if number < 0:
                number = np.int64(entered)
                starts[number + 1] = copy(data, begin, end, arena, starts[number])
                slots[place] = high << _32 | _U(number + 1)
                entered += 1
            numbers[first + k] = number
    return entered


@typed_kernel(numba.void(numba.uint64[::1], numba.uint64[::1]))
def enter_slots(old: NDArray[np.uint64], new: NDArray[np.uint64]) -> None:
    """Enter what a table has into a larger one, whose places are free."""
    last = _U(len(new) - 1)
    for i in range(len(old)):
        if old[i] != _0:
            place = old[i] >> _32 & last
            while new[place] != _0:
                place = (place + _1) & last
            new[place] = old[i]
