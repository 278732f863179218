"""The chunks of rows of text, some hundred at a time: where they end, and where in a table they are likely to stand.

A chunk is what stands between gaps and ASCII marks, or one such mark: words never reach over these, so it makes no
difference to them what the other chunks are. A window of chunks goes through three loops: where they end; what they
hash to; which entry of the table that is. Each loop asks the processor to fetch what the next one reads, so that the
memory's delay is waited for once and not for each chunk. Whether the entry is the chunk's is for the caller to see.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined
from bertdata.kernels.simd import (
    BLOCK,
    GAPS,
    MARKS,
    ascii_marks,
    count_bits,
    gap_marks,
    load64,
    lowest_bit,
    prefetch,
)
from bertdata.tokenizers.wordpiece.encode.kernels.words import MARK_BITS, TAG_BITS, Table, mix, slot_shift

WINDOW = 256
"""Chunks that are worked on together; a last block may add as many as it has bytes."""
AT_A_TIME = 16

_U = np.uint64
_0, _1, _2, _8, _16, _63 = (_U(n) for n in (0, 1, 2, 8, 16, 63))
AT_GAP, AT_END = _1, _2
MARK = _U((1 << MARK_BITS) - 1)
_TAG_BITS = _U(TAG_BITS)
_MASKS = np.array([[(1 << 8 * min(n, 8)) - 1, (1 << 8 * max(n - 8, 0)) - 1] for n in range(17)], np.uint64)
"""What is kept of the first 16 bytes of a text where a chunk has so many."""


class Window(NamedTuple):
    """Room for the chunks of a window: uint64, WINDOW + 2 * BLOCK each."""

    stops: NDArray[np.uint64]  # four times the byte where a chunk ends, and AT_GAP or AT_END of a row
    lows: NDArray[np.uint64]
    highs: NDArray[np.uint64]
    places: NDArray[np.uint64]


@always_inlined
def find_stops(text: Any, offsets: Any, row: Any, last_row: Any, at: Any, block: Any, stops: Any) -> Any:
    """Note where chunks end, from byte `block` of a row on; returns (row, byte) to go on with, and how many.

    A chunk ends at a gap and on both sides of an ASCII mark. The first one began at byte `at`.
    """
    n = _0
    after_gap, after_mark = _1, _0
    if at < block:
        before = text[block - _1]
        after_gap = _U(before in GAPS)
        for first, last in MARKS:
            after_mark |= _U(first <= before <= last)
    while n < _U(WINDOW) and row < last_row:
        end = _U(offsets[row + 1])
        left = end - block
        gaps, marks = gap_marks(text, block), ascii_marks(text, block)
        found = gaps | (marks << _1 | after_mark) | (marks & ~(gaps << _1 | after_gap))
        after_gap, after_mark = gaps >> _63, marks >> _63
        if left < _U(BLOCK):
            found = (found & ((_1 << left) - _1)) | (_1 << left)
        k = n
        n += count_bits(found)
        while True:  # so many at a time, some for nothing, that how many there are is seldom a surprise
            for j in range(AT_A_TIME):
                bit = lowest_bit(found)
                stops[k + _U(j)] = (block + bit) << _2 | (gaps >> (bit & _63) & AT_GAP)
                found &= found - _1
            k += _U(AT_A_TIME)
            if k >= n:
                break
        if left < _U(BLOCK):
            stops[n - _1] = end << _2 | AT_END
            block = end
            row += 1
            after_gap, after_mark = _1, _0
        else:
            block += _U(BLOCK)
    return row, block, n


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
        slot = mix(low, high) >> shift
        window.lows[k], window.highs[k], window.places[k] = low, high, slot
        prefetch(slots, slot)
        at = (stop >> _2) + (stop & AT_GAP)
    for j in range(n_chunks):
        place = (_U(slots[window.places[_U(j)]]) >> _TAG_BITS) << _2
        window.places[_U(j)] = place
        prefetch(table.entries, place)
