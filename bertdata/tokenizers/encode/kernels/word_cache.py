"""Words to entries of a cache, and the ids of the entries one after another.

The words of a unit of text are looked up some hundreds at a time, in loops that each ask the processor to fetch what
the next one reads. The ids of most are in their entries and are written at once, and a new word gets its ids from the
kernel of the model. The others are left: long words, those for whose ids there is no room, and new ones that the kernel
cannot encode. When they have ids, these are inserted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels import byte_table
from bertdata.kernels.byte_table import (
    LENGTH,
    POOL_USED,
    SHORT_LENGTH,
    TAG_BITS,
    USED,
    Table,
    hash_key,
    hash_words,
    place_at,
    seek,
)
from bertdata.kernels.jit import always_inlined, inlined, kernel
from bertdata.kernels.simd import load64, prefetch, store64
from bertdata.tokenizers.encode.kernels.id_cache import (
    COUNT_MASK,
    COUNT_SHIFT,
    IN_POOL,
    MAX_IDS,
    MAX_KEY,
    WITHOUT_IDS,
    Cache,
    count_of,
    has_own,
    put_ids,
    read_ids,
)

WINDOW = 256
"""Words that are worked on together."""
LONG = 1 << 31
"""In `found`: the word is not in the table; the lower bits are its number among those that are not."""
MOST_SHORT = 4
"""Most ids of a word that are in its entry."""
_U = np.uint64
_0, _1, _2, _3, _8, _16 = (_U(n) for n in (0, 1, 2, 3, 8, 16))
_TAG_BITS, _LENGTH, _LONGEST = _U(TAG_BITS), _U(SHORT_LENGTH), _U(LENGTH)
_LENGTH_IF_SHORT = _LENGTH | IN_POOL
"""What must be the length of the word, if its ids are in the entry."""
_MASKS = np.array([[(1 << 8 * min(n, 8)) - 1, (1 << 8 * max(n - 8, 0)) - 1] for n in range(17)], np.uint64)
"""What is kept of the first 16 bytes of a text where a word has so many."""


class NewWords(NamedTuple):
    """Words of a unit of text that are left; to those of them that have an entry from `first` on a model gives ids.

    text: uint8; begin, end: where the unit is in it; positions, left: as `write_known` has them.
    """

    text: NDArray[np.uint8]
    begin: int
    end: int
    positions: NDArray[np.uint32]
    left: NDArray[np.int64]
    first: int


@inlined
def _fetch_window(text: Any, begin: Any, positions: Any, size: Any, table: Table, window: Any) -> Any:
    """Write the first 16 bytes of `size` words and where in `entries` each may be, and ask for what is there.

    Returns how many of them have a free slot; these are in the last row of the window.
    """
    shift = byte_table.slot_shift(table.slots)
    lows, highs, places, free = window[0], window[1], window[2], window[3]
    at = _U(begin) + _U(positions[0])
    for k in range(size):
        stop = _U(begin) + _U(positions[k + 1])
        kept = min(stop - at, _16)
        low, high = load64(text, at) & _MASKS[kept, 0], load64(text, at + _8) & _MASKS[kept, 1]
        slot = hash_words(low, high) >> shift
        lows[k], highs[k], places[k] = low, high, slot
        prefetch(table.slots, slot)
        at = stop
    n_free = _0
    for k in range(size):
        place = place_at(table, places[k])
        places[k] = place
        prefetch(table.entries, place)
        free[n_free] = _U(k)
        n_free += _U(place == _0)
    return n_free


@always_inlined
def _is_at(entries: Any, place: Any, low: Any, high: Any, length: Any) -> Any:
    """Tell whether the word of so many bytes is at a place of `entries`; not of one that is longer than an entry."""
    unlike = (entries[place] ^ low) | (entries[place + _1] ^ high)
    return unlike | ((entries[place + _2] & _LENGTH) ^ min(length, _LONGEST)) == _0


@inlined
def _place_of(text: Any, word: Any, length: Any, low: Any, high: Any, table: Table) -> Any:
    """Return where in `entries` a word is, entering it where it is new; 0 if it is too long or there is no room.

    A word that is found after its first slot gets that one, so that the next time it is found there.
    """
    place = _0
    if length <= MAX_KEY:
        h = hash_key(low, high, text, word, length)
        slot = seek(table, low, high, h, text, word, length)
        place = place_at(table, slot)
        if place != _0:
            first = h >> byte_table.slot_shift(table.slots)
            table.slots[slot], table.slots[first] = table.slots[first], table.slots[slot]
        elif byte_table.has_room(table, 1, length):
            place = _U(table.counters[USED]) << _2
            byte_table.enter(table, slot, low, high, h, WITHOUT_IDS, 0, text, word, length)
    return place


@kernel
def look_up(
    text: Any, begin: int, positions: Any, n_words: int, table: Table, entries: Any, longs: Any, window: Any
) -> Any:
    """Write the entry of each word, entering those that are new; returns how many are not in the table.

    The words begin at `positions`, uint32, after `begin`, and end where the next one does. longs: (from, to) of each
    word in the text that is over MAX_KEY bytes, or for which there is no room, int64 (n_words, 2). window: room, uint64
    (4, WINDOW + 1).
    """
    n_long: Any = 0
    for first in range(0, n_words, WINDOW):
        size = min(WINDOW, n_words - first)
        some = positions[first : first + size + 1]
        _fetch_window(text, begin, some, size, table, window)
        for k in range(size):
            low, high, place = window[0, k], window[1, k], window[2, k]
            word, length = begin + np.int64(some[k]), np.int64(some[k + 1]) - np.int64(some[k])
            if not _is_at(table.entries, place, low, high, _U(length)):
                place = _place_of(text, word, length, low, high, table)
                if place == _0:
                    longs[n_long, 0], longs[n_long, 1] = word, word + length
                    entries[first + k] = LONG + n_long
                    n_long += 1
                    continue
            entries[first + k] = place >> _2
    return n_long


@always_inlined
def _with_ids(cache: Any, text: Any, word: Any, length: Any, low: Any, high: Any, encode: Any, model: Any) -> Any:
    """Return where in `entries` a word is; a new one is entered and gets ids. 0 as `_place_of`."""
    table = cache.table
    used = table.counters[USED]
    place = _place_of(text, word, length, low, high, table)
    if table.counters[USED] > used and table.counters[POOL_USED] + MAX_IDS <= len(cache.pool):
        encode(cache, used, text, word, word + length, model)
    return place


@always_inlined
def _write_matching(
    positions: Any, k: Any, size: Any, start: Any, end: Any, entries: Any, window: Any, out: Any, at: Any, starts: Any
) -> Any:
    """Write the ids of the words before `end` that are what the window says, up to the first that is not.

    Returns that word, where it begins and how many ids there are.
    """
    lows, highs, places = window[0], window[1], window[2]
    while k < size and start < end:
        low, high, place, after = lows[k], highs[k], places[k], _U(positions[k + _1])
        meta = entries[place + _2]
        unlike = (entries[place] ^ low) | (entries[place + _1] ^ high)
        if unlike | ((meta & _LENGTH_IF_SHORT) ^ min(after - start, _LONGEST)) != _0:
            break
        if len(starts) > 0:
            starts[at] = True
        store64(out, at, entries[place + _3])
        at += meta >> COUNT_SHIFT & COUNT_MASK
        start = after
        k += _1
    return k, start, at


@always_inlined
def write_known(
    text: Any, begin: Any, positions: Any, n_words: Any, offsets: Any, row: Any, stop: Any, cache: Any,
    out: Any, written: Any, word_starts: Any, ends: Any, left: Any, longs: Any, window: Any, encode: Any, model: Any,
) -> Any:  # fmt: skip
    """Write the ids of words; returns how many ids there are then, how many words are left and how many are long.

    The words begin at `positions`, uint32, after `begin`, and end where the next one does. There is room for MOST_SHORT
    ids of each word and 8 bytes more. left: of each word whose ids are not written, int64 (n_words, 3): how many ids
    are before it; its entry, or LONG and its number in `longs`; its number among the words. longs: (from, to) in the
    text of each word that is over MAX_KEY bytes, or for which there is no room, int64 (n_words, 2). window: room,
    uint64 (4, WINDOW + 1). word_starts: set to True for the first id of each word, bool, as long as `out` or of length
    0. ends: how many ids there are where each row ends. encode(cache, entry, text, start, end, model) gives a new entry
    ids, or does not, if it cannot.
    """
    table = cache.table
    n_left: Any = 0
    n_long: Any = 0
    at = _U(written)
    end = _U(offsets[row + 1] - begin)
    for first in range(0, n_words, WINDOW):
        size = min(WINDOW, n_words - first)
        some = positions[first : first + size + 1]
        for j in range(_fetch_window(text, begin, some, size, table, window)):
            k = window[3, j]
            word, length = begin + np.int64(some[k]), np.int64(some[k + _1]) - np.int64(some[k])
            if length <= 16:
                window[2, k] = _with_ids(cache, text, word, length, window[0, k], window[1, k], encode, model)
        k, start = _0, _U(some[0])
        while k < size:
            while start >= end:
                ends[row + 1] = at
                row += 1
                end = _U(offsets[row + 1] - begin)
            k, start, at = _write_matching(some, k, _U(size), start, end, table.entries, window, out, at, word_starts)
            if k < size and start < end:
                if len(word_starts) > 0:
                    word_starts[at] = True
                after = _U(some[k + _1])
                word, length = begin + np.int64(start), np.int64(after - start)
                place = window[2, k]
                if not _is_at(table.entries, place, window[0, k], window[1, k], _U(length)):
                    place = _with_ids(cache, text, word, length, window[0, k], window[1, k], encode, model)
                count = count_of(cache, place)
                fits = np.int64(at) + count + MOST_SHORT * (n_words - first - np.int64(k)) < len(out)
                number = np.int64(place >> _2)
                if place == _0:
                    longs[n_long, 0], longs[n_long, 1] = word, word + length
                    number = LONG + n_long
                    n_long += 1
                if place != _0 and fits and has_own(cache, place):
                    read_ids(cache, place, out, at)
                    at += _U(count)
                else:
                    left[n_left, 0], left[n_left, 1], left[n_left, 2] = at, number, first + np.int64(k)
                    n_left += 1
                start = after
                k += _1
    while row < stop:
        ends[row + 1] = at
        row += 1
    return at, n_left, n_long


@inlined
def is_new(cache: Cache, number: Any, first: Any) -> Any:
    """Tell whether a word that is left has one of the entries from `first` on, and no ids yet."""
    return first <= number < LONG and count_of(cache, _U(number) << _2) == 0


@kernel
def count_left(left: Any, n_left: int, cache: Cache) -> Any:
    """Return how many ids the entries have that are left, without those of long words."""
    total: Any = 0
    for j in range(n_left):
        if left[j, 1] < LONG:
            total += count_of(cache, _U(left[j, 1]) << _2)
    return total


@inlined
def _copy(source: Any, first: Any, last: Any, out: Any, to: Any) -> None:
    """Copy source[first:last] to out[to:], where it may overlap with what is copied."""
    for j in range(last - first - 1, -1, -1):
        out[to + j] = source[first + j]


@kernel
def insert_left(
    left: Any, n_left: int, positions: Any, offsets: Any, row: int, stop: int, cache: Cache, long_ids: Any,
    long_ends: Any, out: Any, written: int, total: int, word_starts: Any, ends: Any,
) -> None:  # fmt: skip
    """Insert the ids of the words that are left, `total` in all, into the `written` ids; there is room for them.

    long_ids: those of the long words; long_ends: a 0, and where those of each end.
    """
    begin, end, to = offsets[row], written, written + total
    for k in range(n_left - 1, -1, -1):
        start, number, word = left[k, 0], left[k, 1], left[k, 2]
        while offsets[stop] - begin > positions[word]:
            ends[stop] += to - end
            stop -= 1
        to -= end - start
        _copy(out, start, end, out, to)
        if len(word_starts) > 0:
            _copy(word_starts, start, end, word_starts, to)
        end = start
        if number < LONG:
            place = _U(number) << _2
            count = count_of(cache, place)
            to -= count
            read_ids(cache, place, out, to)
        else:
            first, last = long_ends[number - LONG], long_ends[number - LONG + 1]
            count = last - first
            to -= count
            _copy(long_ids, first, last, out, to)
        if len(word_starts) > 0:
            for j in range(count):
                word_starts[to + j] = j == 0


@kernel
def give_ids(cache: Cache, entry: int, ids: Any, dependent: bool) -> None:
    """Give an entry ids that were found elsewhere, at most MAX_IDS; if `dependent`, its words are always left."""
    put_ids(cache, entry, ids, 0, len(ids), dependent)


@kernel
def word_of(table: Table, entry: int, word: Any) -> Any:
    """Write the word of an entry into `word`, uint8; returns its length."""
    return byte_table.read_key(table, entry, word, 0)
