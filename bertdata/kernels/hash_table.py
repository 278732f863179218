"""A hash table of int64 keys and values, by open addressing, in one array: key, value, key, value, and so on.

Keys are from -2**62 to 2**62, but for FREE; the caller keeps half of the places free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, kernel

FREE = -1


def empty_table(n: int) -> NDArray[np.int64]:
    """Return a table for `n` keys."""
    return np.full(4 << max(1, n - 1).bit_length(), FREE, np.int64)


@inlined
def find(table: Any, key: Any) -> Any:
    """Return the index of a key, whose value is after it, or of the free place for it."""
    mask = len(table) // 2 - 1
    h = (key >> 32) * 1640531527 + (key & 0xFFFFFFFF) * 1013904223
    place = (h ^ (h >> 21)) & mask
    while table[2 * place] != key and table[2 * place] != FREE:
        place = (place + 1) & mask
    return 2 * place


@kernel
def rehash(old: Any, new: Any) -> None:
    """Enter the keys of a table into an empty table."""
    for i in range(0, len(old), 2):
        if old[i] != FREE:
            place = find(new, old[i])
            new[place], new[place + 1] = old[i], old[i + 1]
