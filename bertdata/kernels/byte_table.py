"""A hash table of byte strings of up to 16,383 bytes, with a value for each.

The first 16 bytes of a key are in its entry, the rest in an arena; all of them are compared, so two keys with one hash
are never taken for each other. Data that keys are read from has 8 readable bytes after the key.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined
from bertdata.kernels.simd import load64, lowest_bit

WIDTH = 4
"""An entry of a table is four words: the first 8 bytes of the key, the next 8, `meta`, a value."""
TAG_BITS = 11
MAX_ENTRIES = 1 << (32 - TAG_BITS)
LENGTH, SHORT_LENGTH = (1 << 14) - 1, (1 << 16) - 1
"""What masks the length of a key in its `meta`, and what masks a number that only keys of up to 16 bytes have."""
OWNER_SHIFT, ARENA_SHIFT = 16, 24
USED, ARENA_USED, POOL_USED = range(3)
_LONG = 1 << 14

_U = np.uint64
_0, _1, _2, _3, _4, _8, _29, _32, _64, _BYTE = (_U(n) for n in (0, 1, 2, 3, 4, 8, 29, 32, 64, 255))
_M1, _M2, _M3 = _U(0x9E3779B97F4A7C15), _U(0xD6E8FEB86659FD93), _U(0xFF51AFD7ED558CCD)
_TAG_BITS, _TAG = _U(TAG_BITS), _U((1 << TAG_BITS) - 1)
_OWNER_SHIFT, _ARENA_SHIFT, _SHORT_LENGTH = _U(OWNER_SHIFT), _U(ARENA_SHIFT), _U(SHORT_LENGTH)


class Table(NamedTuple):
    """Open addressing of the numbers of entries, and the entries in the order in which they came.

    A number in `slots` is an entry's and TAG_BITS of its hash; 0 is free, as nothing is in entry 0. `meta` is, from
    the lowest bit: 14 bits of length, 1 that says whether that is over 16, 1 free, 8 of the owner's, 40 of arena place.
    """

    slots: NDArray[np.uint32]
    entries: NDArray[np.uint64]
    arena: NDArray[np.uint8]
    counters: NDArray[np.int64]  # USED entries, ARENA_USED bytes, POOL_USED numbers of the owner's


@always_inlined
def _first_bytes(word: Any, n: int) -> Any:
    """Return the first `n` bytes of a word of 8, the others 0; all of them from 8 on, and none below 1."""
    if n >= 8:
        return word
    if n <= 0:
        return _0
    return word & ((_1 << _U(8 * n)) - _1)


@always_inlined
def first_words(data: Any, i: int, n: int) -> Any:
    """Return the first 16 of the `n` bytes from `i` on as two words, with zeros where there are fewer."""
    return _first_bytes(load64(data, i), n), _first_bytes(load64(data, i + 8), n - 8)


@always_inlined
def hash_words(low: Any, high: Any) -> Any:
    """Return the hash of a key of up to 16 bytes; its highest bits are the slot, its lowest the tag."""
    h = low * _M1 + high * _M3
    return (h ^ (h >> _32)) * _M2


@always_inlined
def hash_key(low: Any, high: Any, data: Any, i: int, n: int) -> Any:
    """Return the hash of the `n` bytes from `i` on; `low` and `high` hold the first 16 of them."""
    for j in range(16, n, 8):
        low = (low ^ (low >> _29)) * _M2 ^ _first_bytes(load64(data, i + j), n - j)
    return hash_words(low, high)


@always_inlined
def slot_shift(slots: Any) -> Any:
    """Return by how much a hash is shifted to the right to give a slot."""
    return _64 - lowest_bit(_U(len(slots)))


@always_inlined
def _meta(n: int) -> Any:
    """Return the lowest 16 bits of the `meta` of a key of `n` bytes."""
    return _U(n | (_LONG if n > 16 else 0))


@always_inlined
def seek(table: Table, low: Any, high: Any, h: Any, data: Any, i: int, n: int) -> Any:
    """Return the slot of the key that is the `n` bytes from `i` on; a free one where it is not in the table."""
    last, slot, tag, meta_of_key = _U(len(table.slots) - 1), h >> slot_shift(table.slots), h & _TAG, _meta(n)
    while True:
        number = _U(table.slots[slot])
        if number == _0:
            return slot
        if number & _TAG == tag:
            place = (number >> _TAG_BITS) * _4
            meta = table.entries[place + _2]
            same = table.entries[place] == low and table.entries[place + _1] == high
            if same and meta & _SHORT_LENGTH == meta_of_key:
                start, j = np.int64(meta >> _ARENA_SHIFT), 16
                while j < n and load64(table.arena, start + j - 16) == _first_bytes(load64(data, i + j), n - j):
                    j += 8
                if j >= n:
                    return slot
        slot = (slot + _1) & last


@always_inlined
def place_at(table: Table, slot: Any) -> Any:
    """Return where in `entries` the key of a slot is; 0 where the slot is free."""
    return (_U(table.slots[slot]) >> _TAG_BITS) * _4


@always_inlined
def claim(table: Table, h: Any, entry: Any) -> None:
    """Point the first free slot for a hash to an entry."""
    last, slot = _U(len(table.slots) - 1), h >> slot_shift(table.slots)
    while table.slots[slot] != 0:
        slot = (slot + _1) & last
    table.slots[slot] = _U(entry) << _TAG_BITS | h & _TAG


@always_inlined
def has_room(table: Table, keys: Any, long_bytes: Any) -> Any:
    """Tell whether `keys` more keys, of `long_bytes` bytes in all, can be entered; half of the slots stay free."""
    used = table.counters[USED] + keys
    enough = used * WIDTH <= len(table.entries) and 2 * used <= len(table.slots)
    return enough and table.counters[ARENA_USED] + long_bytes + 8 <= len(table.arena)


@always_inlined
def enter(
    table: Table, slot: Any, low: Any, high: Any, h: Any, owned: Any, value: Any, data: Any, i: int, n: int
) -> None:
    """Enter a key at the free slot that `seek` found for it; the caller has checked the room."""
    start = table.counters[ARENA_USED]
    if n > 16:
        end = (n + 7) // 8 * 8
        for j in range(16, end):
            table.arena[start + j - 16] = data[i + j] if j < n else 0
        table.counters[ARENA_USED] += end - 16
    entry = _U(table.counters[USED])
    table.counters[USED] += 1
    place = entry * _4
    table.entries[place], table.entries[place + _1] = low, high
    table.entries[place + _2] = _meta(n) | _U(owned) << _OWNER_SHIFT | _U(start) << _ARENA_SHIFT
    table.entries[place + _3] = value
    table.slots[slot] = entry << _TAG_BITS | h & _TAG


@always_inlined
def read_key(table: Table, entry: int, data: Any, to: int) -> Any:
    """Write the key of an entry into `data` from `to` on; returns its length."""
    place = entry * WIDTH
    meta = table.entries[place + 2]
    n, start = np.int64(meta & _U(LENGTH)), np.int64(meta >> _ARENA_SHIFT)
    for j in range(n):
        if j < 16:
            data[to + j] = table.entries[place + j // 8] >> (_8 * _U(j % 8)) & _BYTE
        else:
            data[to + j] = table.arena[start + j - 16]
    return n
