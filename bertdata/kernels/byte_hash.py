"""A hash of many bytes, 32 at a time, for kernels: 64 bits that tell equal bytes from others, not for security."""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined
from bertdata.kernels.mixer import mix
from bertdata.kernels.simd import load64

_U = np.uint64
_0, _8, _29 = (_U(n) for n in (0, 8, 29))
_M1, _M2, _M3, _M4 = _U(0x9E3779B97F4A7C15), _U(0xD6E8FEB86659FD93), _U(0xFF51AFD7ED558CCD), _U(0xBF58476D1CE4E5B9)


@inlined
def last_word(data: Any, begin: Any, end: Any) -> Any:
    """Return the last 8 of the bytes data[begin:end], all of them where there are fewer; reads none outside."""
    if end - begin >= 8:
        return load64(data, end - 8)
    word = _0
    for i in range(begin, end):
        word = word << _8 | _U(data[i])
    return word


@inlined
def _folded(state: Any, word: Any) -> Any:
    """Return 64 bits of a state and the next 8 bytes."""
    state = (state ^ word) * _M2
    return state ^ (state >> _29)


@inlined
def hash_bytes(data: Any, begin: Any, end: Any) -> Any:
    """Return a hash of data[begin:end], which depends on each byte and on their number."""
    first, second, third, fourth = _M1, _M2, _M3, _M4
    i = begin
    while i + 32 <= end:  # four states, since each waits for its own product only
        first, second = _folded(first, load64(data, i)), _folded(second, load64(data, i + 8))
        third, fourth = _folded(third, load64(data, i + 16)), _folded(fourth, load64(data, i + 24))
        i += 32
    while i + 8 <= end:
        first = _folded(first, load64(data, i))
        i += 8
    first = _folded(first, last_word(data, begin, end) + _U(end - begin) * _M1)
    return mix(_folded(_folded(_folded(first, second), third), fourth))
