"""Words out of the bytes of a text, and the table that finds byte strings again: what the other kernels share.

`next_word` is BERT's normaliser and pre-tokenizer by table: a code for each code point says what becomes of it
(`characters.py` makes the codes). A key of a table is up to `MAX_KEY` bytes: the first 16 in its entry, the rest in an
arena, all of them compared, so two keys with one hash are never taken for each other. No ids here.

Texts have `PAD` bytes after the last one that counts, for they are read 64 and 8 bytes at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined, kernel
from bertdata.kernels.simd import load64, lowest_bit
from bertdata.text_arrays import READ_AHEAD

PAD = READ_AHEAD
MAX_KEY = 64
WIDTH = 4
"""An entry of a table is four words: the first 8 bytes of the key, the next 8, `meta`, a value."""
TAG_BITS = 11
MAX_ENTRIES = 1 << (32 - TAG_BITS)
LONG = 1 << 14
MARK_BITS, ARENA_SHIFT = 16, 24
USED, ARENA_USED, POOL_USED = range(3)
UNKNOWN, REFERENCE, LETTER, ALONE, SPACE = range(5)
"""What a code says of a code point: not asked yet; only `tokenizers` knows; part of a word; a word by itself; a gap."""
KIND_BITS, CHARACTERS_SHIFT, BYTES_SHIFT, START_SHIFT = 7, 3, 7, 12
NOT_UTF8 = -1
UNKNOWN_CHARACTER, REFERENCE_CHARACTER = -2, -3
ASKED = 8
"""The code of a character that the caller was told of: its kind is UNKNOWN still."""

_U = np.uint64
_0, _1, _2, _4, _8, _29, _32, _64 = (_U(n) for n in (0, 1, 2, 4, 8, 29, 32, 64))
_M1, _M2, _M3 = _U(0x9E3779B97F4A7C15), _U(0xD6E8FEB86659FD93), _U(0xFF51AFD7ED558CCD)
_TAG_BITS, _TAG = _U(TAG_BITS), _U((1 << TAG_BITS) - 1)
_NOT_ASCII = _U(0x8080808080808080)
_ARENA_SHIFT, _MARK = _U(ARENA_SHIFT), _U((1 << MARK_BITS) - 1)


class Table(NamedTuple):
    """Byte strings and a value for each: an open addressing of numbers, and the entries they point to, as they came.

    A number in `slots` is an entry's and TAG_BITS of its hash; 0 is free, as nothing is in entry 0. `meta` is, from
    the lowest bit: 14 bits of length, LONG where that is over 16; 8 from bit 16 on for the owner; 40 of arena offset.
    """

    slots: NDArray[np.uint32]
    entries: NDArray[np.uint64]
    arena: NDArray[np.uint8]
    counters: NDArray[np.int64]  # USED entries, ARENA_USED bytes, POOL_USED numbers of the owner's


@always_inlined
def first_bytes(word: Any, n: int) -> Any:
    """Return the first `n` bytes of a word of 8, the others 0; all of them from 8 on, and none below 1."""
    if n >= 8:
        return word
    if n <= 0:
        return _0
    return word & ((_1 << _U(8 * n)) - _1)


@always_inlined
def mark_of(n: int) -> Any:
    """Return the lowest 16 bits of the `meta` of a key of `n` bytes."""
    return _U(n | (LONG if n > 16 else 0))


@always_inlined
def mix(low: Any, high: Any) -> Any:
    """Return the hash of a key of up to 16 bytes; its highest bits are the place in the slots, its lowest the tag."""
    h = low * _M1 + high * _M3
    return (h ^ (h >> _32)) * _M2


@always_inlined
def hash_key(low: Any, high: Any, data: Any, i: int, n: int) -> Any:
    """Return the hash of the `n` bytes from `i` on, of which `low` and `high` are the first 16."""
    for j in range(16, n, 8):
        low = (low ^ (low >> _29)) * _M2 ^ first_bytes(load64(data, i + j), n - j)
    return mix(low, high)


@always_inlined
def slot_shift(slots: Any) -> Any:
    """Return by how much a hash is shifted to the right to give a slot."""
    return _64 - lowest_bit(_U(len(slots)))


@always_inlined
def seek(table: Table, low: Any, high: Any, h: Any, data: Any, i: int, n: int) -> Any:
    """Return the slot of the key that is the `n` bytes from `i` on; a free one where it is not in the table."""
    last, slot, tag, mark = _U(len(table.slots) - 1), h >> slot_shift(table.slots), h & _TAG, mark_of(n)
    while True:
        number = _U(table.slots[slot])
        if number == _0:
            return slot
        if number & _TAG == tag:
            place = (number >> _TAG_BITS) * _4
            meta = table.entries[place + _2]
            if table.entries[place] == low and table.entries[place + _1] == high and meta & _MARK == mark:
                start, j = np.int64(meta >> _ARENA_SHIFT), 16
                while j < n and load64(table.arena, start + j - 16) == first_bytes(load64(data, i + j), n - j):
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
    """Point the first free place for a hash to an entry."""
    last, slot = _U(len(table.slots) - 1), h >> slot_shift(table.slots)
    while table.slots[slot] != 0:
        slot = (slot + _1) & last
    table.slots[slot] = _U(entry) << _TAG_BITS | h & _TAG


@always_inlined
def has_room(table: Table, n: int) -> Any:
    """Tell whether a key of `n` bytes can be entered; half of the slots stay free."""
    used = table.counters[USED] + 1
    enough = used * WIDTH <= len(table.entries) and 2 * used <= len(table.slots)
    return enough and table.counters[ARENA_USED] + n + 8 <= len(table.arena)


@always_inlined
def enter(
    table: Table, slot: Any, low: Any, high: Any, h: Any, meta: Any, value: Any, data: Any, i: int, n: int
) -> None:
    """Enter a key at the free slot that `seek` found for it; the caller has seen to the room."""
    start = table.counters[ARENA_USED]
    if n > 16:
        for j in range(16, n):
            table.arena[start + j - 16] = data[i + j]
        for j in range(n, (n + 7) // 8 * 8):
            table.arena[start + j - 16] = 0
        table.counters[ARENA_USED] += (n + 7) // 8 * 8 - 16
    entry = _U(table.counters[USED])
    table.counters[USED] += 1
    table.entries[entry * _4], table.entries[entry * _4 + _1] = low, high
    table.entries[entry * _4 + _2] = meta | _U(start) << _ARENA_SHIFT
    table.entries[entry * _4 + _2 + _1] = value
    table.slots[slot] = entry << _TAG_BITS | h & _TAG


@always_inlined
def decode(data: Any, i: int, end: int) -> Any:
    """Return (code point, bytes) of the character at `i`, which is not ASCII; 0 bytes where it is not UTF-8."""
    c = np.int64(data[i])
    size = 2 if c < 0xE0 else 3 if c < 0xF0 else 4
    if c < 0xC2 or c > 0xF4 or i + size > end:
        return 0, 0
    point = c & (0x7F >> size)
    for j in range(i + 1, i + size):
        if data[j] & 0xC0 != 0x80:
            return 0, 0
        point = point << 6 | np.int64(data[j] & 0x3F)
    low = 0x80 if size == 2 else 0x800 if size == 3 else 0x10000
    if point < low or point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
        return 0, 0
    return point, size


@always_inlined
def next_word(data: Any, i: int, end: int, codes: Any, bodies: Any, word: Any, limit: int) -> Any:
    """Return (where to go on, bytes, characters) of the next word from `i` on, its normalised bytes in `word`.

    A word of over `limit` characters is counted, but not stored whole. No characters: there is no further word. A
    negative number of bytes is NOT_UTF8, UNKNOWN_CHARACTER or REFERENCE_CHARACTER, and where to go on is where it is.
    """
    n: Any = 0
    characters: Any = 0
    while i < end:
        point: Any = np.int64(data[i])
        size: Any = 1
        if point >= 0x80:
            point, size = decode(data, i, end)
            if size == 0:
                return i, NOT_UTF8, 0
        code = np.int64(codes[point])
        kind = code & KIND_BITS
        if kind in (LETTER, ALONE):
            if kind == ALONE and characters:
                return i, n, characters
            start, stop = code >> START_SHIFT, (code >> START_SHIFT) + (code >> BYTES_SHIFT & 31)
            characters += code >> CHARACTERS_SHIFT & 15
            if characters <= limit:
                word[n] = bodies[start]
                for j in range(start + 1, stop):
                    word[n + j - start] = bodies[j]
                n += stop - start
            i += size
            if kind == ALONE:
                return i, n, characters
        elif kind == SPACE:
            i += size
            if characters:
                return i, n, characters
        else:
            return i, UNKNOWN_CHARACTER if kind == UNKNOWN else REFERENCE_CHARACTER, 0
    return i, n, characters


@kernel
def new_characters(data: Any, i: int, end: int, codes: Any, found: Any) -> Any:
    """Put code points without a code, each once, into `found` as they come up from `i` on; returns how many.

    Their codes are set to ASKED. It ends where `found` is full, and passes over what is not UTF-8.
    """
    n: Any = 0
    while i < end and n < len(found):
        if end - i >= 8 and load64(data, i) & _NOT_ASCII == _0:
            i += 8
        elif data[i] < 0x80:
            i += 1
        else:
            point, size = decode(data, i, end)
            i += max(size, 1)
            if size > 0 and codes[point] == 0:
                codes[point] = ASKED
                found[n] = point
                n += 1
    return n
