"""The compiled core of `statistics`: signs of another language, markup and broken characters, counted; texts hashed."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, typed_kernel
from bertdata.kernels.simd import BLOCK, PLAIN, bits_of_ranges, lowest_bit, plain_bits_of_ranges

LOOKED_AT, CLOSING_TAGS, BROKEN, COUNTS = range(4)
"""What `look_at_texts` counts: bytes that it looks at, `</`, and broken characters."""

_LESS, _SLASH = b"</"
_FIRST = ((_LESS, _LESS), (0xC3, 0xC3), (0xEF, 0xEF))
"""The bytes that what is counted begins with."""
_first_bits: Any = plain_bits_of_ranges(_FIRST) if PLAIN else bits_of_ranges(_FIRST)
_U, _U32 = np.uint64, np.uint32


def _given(kind: Any) -> Any:
    return numba.types.Array(kind, 1, "C", readonly=True)


_BYTES, _FLAGS = _given(numba.uint8), _given(numba.boolean)


@typed_kernel(*[numba.int64(_given(ids), _FLAGS, _FLAGS, numba.boolean) for ids in (numba.uint16, numba.uint32)])
def count_function_words(
    tokens: NDArray[Any], function_words: NDArray[Any], word_starts: NDArray[Any], asks_starts: bool
) -> int:
    """Return how many tokens are function words; with `asks_starts` only those that begin a word."""
    count = np.int64(0)
    for place in range(len(tokens)):
        token = np.int64(tokens[place])
        if token < len(function_words) and function_words[token] and (not asks_starts or word_starts[place]):
            count += 1
    return int(count)


@inlined
def _is_at(data: Any, at: Any, end: Any, first: Any, second: Any, third: Any) -> Any:
    return at + 2 < end and data[at] == first and data[at + 1] == second and data[at + 2] == third


@inlined
def _count_at(data: Any, at: Any, end: Any, counts: Any) -> Any:
    """Count what begins at a place: a closing tag, U+FFFD, or UTF-8 that was read as Windows-1252 or Latin-1."""
    if data[at] == _LESS:
        counts[CLOSING_TAGS] += at + 1 < end and data[at + 1] == _SLASH
    elif data[at] == 0xEF:
        counts[BROKEN] += _is_at(data, at, end, 0xEF, 0xBF, 0xBD)
    elif data[at] == 0xC3:
        counts[BROKEN] += _is_at(data, at, end, 0xC3, 0x83, 0xC2) or (
            _is_at(data, at, end, 0xC3, 0xA2, 0xE2) and at + 4 < end and data[at + 3] == 0x82 and data[at + 4] == 0xAC
        )
    return at


@inlined
def _count_in(data: Any, begin: Any, end: Any, counts: Any) -> Any:
    block = begin
    while block < end and block + BLOCK <= len(data):
        bits = _first_bits(data, block)
        while bits != _U(0):
            at = block + np.int64(lowest_bit(bits))
            bits &= bits - _U(1)
            if at < end:
                _count_at(data, at, end, counts)
        block += BLOCK
    for at in range(block, end):
        _count_at(data, at, end, counts)
    return end - begin


@inlined
def _checksum(data: Any, begin: Any, end: Any, table: Any) -> Any:
    """Return the CRC-32 of data[begin:end], a byte at a time."""
    checksum = _U32(0xFFFFFFFF)
    for at in range(begin, end):
        checksum = table[(checksum ^ _U32(data[at])) & _U32(0xFF)] ^ (checksum >> _U32(8))
    return checksum ^ _U32(0xFFFFFFFF)


@typed_kernel(
    numba.void(
        *(_BYTES, _given(numba.int32), numba.int64, numba.int64, numba.int64),
        *(_given(numba.uint32), numba.uint64[::1], numba.int64[::1]),
    )
)
def look_at_texts(
    data: NDArray[Any],
    ends: NDArray[Any],
    looked_at: int,
    stride: int,
    start: int,
    table: NDArray[Any],
    hashes: NDArray[Any],
    counts: NDArray[Any],
) -> None:
    """Write of each text the CRC-32 of its first `start` bytes, times 2**32, and its bytes; add to the counts.

    Text i is data[ends[i] : ends[i + 1]]. What is counted is looked for in the first `looked_at` bytes of each `stride`
    bytes of a text. table: of CRC-32, uint32 (256,).
    """
    for row in range(len(ends) - 1):
        begin, end = np.int64(ends[row]), np.int64(ends[row + 1])
        checksum = _checksum(data, begin, min(end, begin + start), table)
        hashes[row] = (_U(checksum) << _U(32)) | _U(end - begin)
        at = begin
        while at < end:
            counts[LOOKED_AT] += _count_in(data, at, min(end, at + looked_at), counts)
            at += stride
