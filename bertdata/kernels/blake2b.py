"""BLAKE2b (RFC 7693) of many short texts, eight bytes of digest each: `counter_rng.text_bits` in a kernel."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, typed_kernel

WORDS = 40
"""Words of 64 bits that `hash_texts` works in: the state, its copy while a block is mixed, and a block."""

_BLOCK = 128
_U = np.uint64
_STATE, _MIXED, _MESSAGE = 0, 8, 24
_SIGMA = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    np.uint8,
)
"""The order in which the words of a block are mixed in, by round."""
_IV = np.array(
    [
        *(0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1),
        *(0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179),
    ],
    np.uint64,
)
_PARAMETERS = _U(0x01010008)
"""Eight bytes of digest, no key, no tree."""
_QUARTERS = np.array(
    [
        *([0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]),
        *([0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]),
    ],
    np.uint8,
)
"""The words of the state that are mixed with each other: columns, then diagonals."""


@inlined
def _turned(word: Any, bits: Any) -> Any:
    return (word >> bits) | (word << (_U(64) - bits))


@inlined
def _compress(words: Any, size: Any, is_last: Any) -> Any:
    """Mix the block into the state; `size` bytes of the text end with it."""
    for place in range(8):
        words[_MIXED + place] = words[_STATE + place]
        words[_MIXED + 8 + place] = _IV[place]
    words[_MIXED + 12] ^= _U(size)
    if is_last:
        words[_MIXED + 14] = ~words[_MIXED + 14]
    for number in range(12):
        for quarter in range(8):
            i, j = _MIXED + _QUARTERS[quarter, 0], _MIXED + _QUARTERS[quarter, 1]
            k, n = _MIXED + _QUARTERS[quarter, 2], _MIXED + _QUARTERS[quarter, 3]
            first = words[_MESSAGE + _SIGMA[number, 2 * quarter]]
            second = words[_MESSAGE + _SIGMA[number, 2 * quarter + 1]]
            a, b, c, d = words[i], words[j], words[k], words[n]
            a = a + b + first
            d = _turned(d ^ a, _U(32))
            c = c + d
            b = _turned(b ^ c, _U(24))
            a = a + b + second
            d = _turned(d ^ a, _U(16))
            c = c + d
            b = _turned(b ^ c, _U(63))
            words[i], words[j], words[k], words[n] = a, b, c, d
    for place in range(8):
        words[_STATE + place] ^= words[_MIXED + place] ^ words[_MIXED + 8 + place]
    return size


@typed_kernel(
    numba.void(
        *(numba.types.Array(numba.uint8, 1, "C", readonly=True), numba.types.Array(numba.int32, 1, "C", readonly=True)),
        *(numba.uint64[::1], numba.uint64[::1]),
    )
)
def hash_texts(data: NDArray[Any], ends: NDArray[Any], words: NDArray[Any], hashes: NDArray[Any]) -> None:
    """Write the hash of each text data[ends[i] : ends[i + 1]]; works in `words`, uint64 (WORDS,)."""
    for row in range(len(hashes)):
        begin, end = np.int64(ends[row]), np.int64(ends[row + 1])
        for place in range(8):
            words[_STATE + place] = _IV[place]
        words[_STATE] ^= _PARAMETERS
        done, at = False, begin
        while not done:
            stop = min(end, at + _BLOCK)
            for place in range(16):
                words[_MESSAGE + place] = 0
            for place in range(at, stop):
                offset = place - at
                words[_MESSAGE + (offset >> 3)] |= _U(data[place]) << _U(8 * (offset & 7))
            done = stop == end
            _compress(words, stop - begin, done)
            at = stop
        hashes[row] = words[_STATE]
