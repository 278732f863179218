"""The chunks of rows of text, some hundreds at a time: where they end, and where in a table each is likely to be.

A chunk is what is between white space and ASCII punctuation, or one such mark: words never reach over these, so it
makes no difference to them what the other chunks are. A window of chunks goes through three loops: where they end; what
they hash to; which entry of the table that is. Each loop asks the processor to fetch what the next one reads, so that
the memory's delay is waited for once and not for each chunk. Whether the entry is the chunk's is for the caller to see.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.byte_table import SHORT_LENGTH, TAG_BITS, Table, hash_words, slot_shift
from bertdata.kernels.jit import always_inlined
from bertdata.kernels.simd import BLOCK, count_bits, load64, lowest_bit, prefetch, punctuation_bits, whitespace_bits

WINDOW = 256
"""Chunks that are worked on together; a last block may add as many as it has bytes."""
AT_A_TIME = 16

_U = np.uint64
_0, _1, _2, _8, _16, _63 = (_U(n) for n in (0, 1, 2, 8, 16, 63))
AT_SPACE, AT_END = _1, _2
AFTER_START = _2
"""What `find_stops` gets as `after` where a chunk begins."""
LENGTH = _U(SHORT_LENGTH)
_TAG_BITS = _U(TAG_BITS)
_MASKS = np.array([[(1 << 8 * min(n, 8)) - 1, (1 << 8 * max(n - 8, 0)) - 1] for n in range(17)], np.uint64)
"""What is kept of the first 16 bytes of a text where a chunk has so many."""


class Window(NamedTuple):
    """Room for the chunks of a window: uint64, WINDOW + 2 * BLOCK each."""

    stops: NDArray[np.uint64]  # four times the byte where a chunk ends, and AT_SPACE or AT_END of a row
    lows: NDArray[np.uint64]
    highs: NDArray[np.uint64]
    places: NDArray[np.uint64]


@always_inlined
def find_stops(text: Any, offsets: Any, row: Any, last_row: Any, block: Any, after: Any, stops: Any) -> Any:
    """Note where chunks end, from byte `block` of a row on; returns (row, byte, after) to go on with, and how many.

    A chunk ends at white space and on both sides of ASCII punctuation. `after` is 2 where a chunk begins at `block`
    or the byte before it is white space, 1 where that is punctuation, else 0.
    """
    n = _0
    while n < _U(WINDOW) and row < last_row:
        end = _U(offsets[row + 1])
        left = end - block
        spaces, marks = whitespace_bits(text, block), punctuation_bits(text, block)
        edges = spaces | (marks << _1 | after & _1) | (marks & ~(spaces << _1 | after >> _1))
        after = marks >> _63 | spaces >> _63 << _1
        if left < _U(BLOCK):
            edges = (edges & ((_1 << left) - _1)) | (_1 << left)
        k = n
        n += count_bits(edges)
        while True:  # so many at a time, some for nothing, that how many there are is seldom a surprise
            for j in range(AT_A_TIME):
                bit = lowest_bit(edges)
                stops[k + _U(j)] = (block + bit) << _2 | (spaces >> (bit & _63) & AT_SPACE)
                edges &= edges - _1
            k += _U(AT_A_TIME)
            if k >= n:
                break
        if left < _U(BLOCK):
            stops[n - _1] = end << _2 | AT_END
            block = end
            row += 1
            after = AFTER_START
        else:
            block += _U(BLOCK)
    return row, block, after, n


@always_inlined
def find_places(text: Any, at: Any, n_chunks: Any, table: Table, window: Window) -> None:
    """Note the first 16 bytes of each chunk of a window, and which entry its hash points to first.

    That is the chunk's own if the bytes are the same and it is no longer than 16; entry 0 is no chunk's.
    """
    slots, shift = table.slots, slot_shift(table.slots)
    for j in range(n_chunks):
        k = _U(j)
        stop = window.stops[k]
        kept = min((stop >> _2) - at, _16)
        low = load64(text, at) & _MASKS[kept, _0]
        high = load64(text, at + _8) & _MASKS[kept, _1]
        slot = hash_words(low, high) >> shift
        window.lows[k], window.highs[k], window.places[k] = low, high, slot
        prefetch(slots, slot)
        at = (stop >> _2) + (stop & AT_SPACE)
    for j in range(n_chunks):
        place = (_U(slots[window.places[_U(j)]]) >> _TAG_BITS) << _2
        window.places[_U(j)] = place
        prefetch(table.entries, place)
