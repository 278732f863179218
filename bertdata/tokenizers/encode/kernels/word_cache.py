"""Words to entries of a cache, and the ids of the entries one after another.

The words of a unit of text are looked up some hundreds at a time, in loops that each ask the processor to fetch what
the next one reads. A new word is entered without ids, and a model gives them to all new entries before any are written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels import byte_table
from bertdata.kernels.byte_table import (
    LENGTH,
    SHORT_LENGTH,
    TAG_BITS,
    USED,
    Table,
    hash_key,
    hash_words,
    place_at,
    seek,
)
from bertdata.kernels.jit import kernel
from bertdata.kernels.simd import load64, prefetch
from bertdata.tokenizers.encode.kernels.id_cache import MAX_IDS, MAX_KEY, Cache, copy_ids, put_ids

WINDOW = 256
"""Words that are worked on together."""
LONG = 1 << 31
"""In `found`: the word is not in the table; the lower bits are its number among those that are not."""
SLACK = 8 + MAX_IDS
"""Room after the ids that may be written to."""
_U = np.uint64
_0, _1, _2, _8, _16 = (_U(n) for n in (0, 1, 2, 8, 16))
_TAG_BITS, _LENGTH, _LONGEST = _U(TAG_BITS), _U(SHORT_LENGTH), _U(LENGTH)
_MASKS = np.array([[(1 << 8 * min(n, 8)) - 1, (1 << 8 * max(n - 8, 0)) - 1] for n in range(17)], np.uint64)
"""What is kept of the first 16 bytes of a text where a word has so many."""


@kernel
def look_up(
    text: Any, begin: int, positions: Any, n_words: int, table: Table, found: Any, longs: Any, window: Any
) -> Any:
    """Write the entry of each word, entering those that are new; returns how many are not in the table.

    The words begin at `positions`, uint32, after `begin`, and end where the next one does. longs: (from, to) of each
    word in the text that is over MAX_KEY bytes, or for which there is no room, int64 (n_words, 2). window: room, uint64
    (3, WINDOW).
    """
    slots, entries, shift = table.slots, table.entries, byte_table.slot_shift(table.slots)
    lows, highs, places = window[0], window[1], window[2]
    n_long: Any = 0
    for first in range(0, n_words, WINDOW):
        size = min(WINDOW, n_words - first)
        at = _U(positions[first])
        for k in range(size):
            stop = _U(positions[first + k + 1])
            kept = min(stop - at, _16)
            i = _U(begin) + at
            low, high = load64(text, i) & _MASKS[kept, 0], load64(text, i + _8) & _MASKS[kept, 1]
            slot = hash_words(low, high) >> shift
            lows[k], highs[k], places[k] = low, high, slot
            prefetch(slots, slot)
            at = stop
        for k in range(size):
            place = (_U(slots[places[k]]) >> _TAG_BITS) << _2
            places[k] = place
            prefetch(entries, place)
        for k in range(size):
            place, low, high = places[k], lows[k], highs[k]
            start, n = positions[first + k], positions[first + k + 1] - positions[first + k]
            unlike = (entries[place] ^ low) | (entries[place + _1] ^ high)
            if unlike | ((entries[place + _2] & _LENGTH) ^ min(_U(n), _LONGEST)) != _0:
                word: Any = begin + np.int64(start)
                length: Any = np.int64(n)
                place = _0
                if length <= MAX_KEY:
                    h = hash_key(low, high, text, word, length)
                    slot = seek(table, low, high, h, text, word, length)
                    place = place_at(table, slot)
                    if place == _0 and byte_table.has_room(table, 1, length):
                        place = _U(table.counters[USED]) << _2
                        byte_table.enter(table, slot, low, high, h, 0, 0, text, word, length)
                if place == _0:
                    longs[n_long, 0], longs[n_long, 1] = word, word + length
                    found[first + k] = LONG + n_long
                    n_long += 1
                    continue
            found[first + k] = place >> _2
    return n_long


@kernel
def write_ids(
    found: Any, positions: Any, n_words: int, offsets: Any, row: int, stop: int, cache: Cache,
    long_ids: Any, long_ends: Any, out: Any, written: int, word_starts: Any, ends: Any,
) -> Any:  # fmt: skip
    """Write the ids of the words, and where each row ends; returns how many ids there are then, -1 if out of room.

    word_starts: set to True for the first id of each word, bool, as long as `out` or of length 0.
    """
    k: Any = 0
    begin = offsets[row]
    limit: Any = len(out) - SLACK
    marks = len(word_starts) > 0
    for r in range(row, stop):
        end = offsets[r + 1] - begin
        while k < n_words and positions[k] < end:
            number = found[k]
            k += 1
            if written > limit:
                return -1
            before: Any = written
            if number >= LONG:
                first: Any = 0
                if number > LONG:
                    first = long_ends[number - LONG - 1]
                last: Any = long_ends[number - LONG]
                if written + last - first > limit:
                    return -1
                for j in range(first, last):
                    out[written] = long_ids[j]
                    written += 1
            else:
                written = copy_ids(cache, _U(number) << _2, out, written)
            if marks and written > before:
                word_starts[before] = True
        ends[r + 1] = written
    return written


@kernel
def give_ids(cache: Cache, entry: int, ids: Any) -> None:
    """Give an entry ids that were found elsewhere, at most MAX_IDS."""
    put_ids(cache, entry, ids, 0, len(ids))


@kernel
def word_of(table: Table, entry: int, word: Any) -> Any:
    """Write the word of an entry into `word`, uint8; returns its length."""
    return byte_table.read_key(table, entry, word, 0)
