"""Words out of the bytes of a text, and the open addressing that finds them again: what the other kernels share.

`next_word` is BERT's normaliser and pre-tokenizer by table: a code for each code point says what becomes of it
(`characters.py` makes the codes). A key is up to `MAX_KEY` bytes: the first 16 in two words, the rest in an arena, all
of them compared, so two keys with one hash are never taken for each other. No ids here.

Texts have `PAD` bytes behind the last one that counts, for they are read 64 and 8 bytes at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.compiled import compiled

PAD = 80
BLOCK = 64
MAX_KEY = 64
WIDTH = 4
"""A slot of a table is four words: the first 8 bytes of the key, the next 8, `meta`, a value; meta 0 is a free slot."""
LENGTH_BITS, ARENA_SHIFT = 16, 24
UNKNOWN, REFERENCE, LETTER, ALONE, SPACE = range(5)
"""What a code says of a code point: not asked yet; only `tokenizers` knows; part of a word; a word by itself; a gap."""
KIND_BITS, CHARACTERS_SHIFT, BYTES_SHIFT, START_SHIFT = 7, 3, 7, 12
NOT_UTF8 = -1
UNKNOWN_CHARACTER, REFERENCE_CHARACTER = -2, -3

_U = np.uint64
_0, _1, _7, _8, _56, _64 = _U(0), _U(1), _U(7), _U(8), _U(56), _U(64)
_2, _3, _4, _5, _6, _16, _24, _29, _32, _40, _48 = (_U(n) for n in (2, 3, 4, 5, 6, 16, 24, 29, 32, 40, 48))
_ALL = _U(0xFFFFFFFFFFFFFFFF)
_M1, _M2 = _U(0x9E3779B97F4A7C15), _U(0xD6E8FEB86659FD93)
_ONES, _HIGH, _LOW7 = _U(0x0101010101010101), _U(0x8080808080808080), _U(0x7F7F7F7F7F7F7F7F)
_ABOVE_GAPS, _GATHER = _U(0x5F5F5F5F5F5F5F5F), _U(0x0102040810204080)
_BITS1, _BITS2, _BITS4 = _U(0x5555555555555555), _U(0x3333333333333333), _U(0x0F0F0F0F0F0F0F0F)
_LENGTH = _U((1 << LENGTH_BITS) - 1)


@compiled
def load64(data: Any, i: Any) -> Any:
    """Return the 8 bytes from `i` on, the first one lowest; the compiler makes one load of it."""
    j = _U(i)
    low = _U(data[j]) | _U(data[j + _1]) << _8 | _U(data[j + _2]) << _16 | _U(data[j + _3]) << _24
    high = _U(data[j + _4]) << _32 | _U(data[j + _5]) << _40 | _U(data[j + _6]) << _48 | _U(data[j + _7]) << _56
    return low | high


@compiled
def first_bytes(word: Any, n: int) -> Any:
    """Return the first `n` bytes of a word of 8, the others 0; all of them from 8 on, and none below 1."""
    if n >= 8:
        return word
    if n <= 0:
        return _0
    return word & ((_1 << _U(8 * n)) - _1)


@compiled
def byte_marks(word: Any) -> Any:
    """Return 8 bits, one for each byte of a word: set where the byte is a space or below."""
    marks = ~(((word & _LOW7) + _ABOVE_GAPS) | word) & _HIGH
    return ((marks >> _7) * _GATHER) >> _56


@compiled
def block_marks(data: Any, i: int) -> Any:
    """Return 64 bits, one for each byte from `i` on: set where the byte is a space or below."""
    marks = _0
    for j in range(8):
        marks |= byte_marks(load64(data, i + 8 * j)) << _U(8 * j)
    return marks


@compiled
def lowest_bit(marks: Any) -> Any:
    """Return the number of the lowest bit that is set in a word other than 0; the compiler makes an instruction of it.

    >>> int(lowest_bit(np.uint64(40)))
    3
    """
    below = (marks - _1) & ~marks
    below = below - ((below >> _1) & _BITS1)
    below = (below & _BITS2) + ((below >> _2) & _BITS2)
    return np.int64((((below + (below >> _4)) & _BITS4) * _ONES) >> _56)


@compiled
def bytes_mask(n: int) -> Any:
    """Return the mask of the `n` lowest bytes of a word, 0 to 8, without a branch."""
    half = _U(4 * n)
    return ~((_ALL << half) << half)


@compiled
def is_gap(c: int) -> Any:
    """Tell a space, a tab, a line feed and a carriage return: what chunks are cut at."""
    return c in (32, 10, 9, 13)


@compiled
def mix(low: Any, high: Any, n: int) -> Any:
    """Return the hash of a key of up to 16 bytes."""
    h = (low ^ (high * _M2) ^ _U(n)) * _M1
    h = (h ^ (h >> _32)) * _M2
    return h ^ (h >> _29)


@compiled
def hash_key(low: Any, high: Any, data: Any, i: int, n: int) -> Any:
    """Return the hash of the `n` bytes from `i` on, of which `low` and `high` are the first 16."""
    for j in range(16, n, 8):
        low = (low ^ (low >> _29)) * _M2 ^ first_bytes(load64(data, i + j), n - j)
    return mix(low, high, n)


@compiled
def find_short(slots: Any, low: Any, high: Any, n: int, mark: Any) -> Any:
    """Return what `find` does for a key of up to 16 bytes."""
    mask = _U(len(slots) // WIDTH - 1)
    slot = mix(low, high, n) & mask
    while True:
        place = slot * _4
        meta = slots[place + _2]
        if slots[place] == low and slots[place + _1] == high and (meta & _LENGTH) == mark:
            return np.int64(place)
        if meta == _0:
            return ~np.int64(place)
        slot = (slot + _1) & mask


@compiled
def find(slots: Any, arena: Any, low: Any, high: Any, h: Any, data: Any, i: int, n: int, mark: Any) -> Any:
    """Return where in `slots` the key is, or, negative, ~ the free place it would go to; `mark` is n and its flags."""
    mask = _U(len(slots) // WIDTH - 1)
    slot = h & mask
    while True:
        place = slot * _4
        meta = slots[place + _2]
        if meta == _0:
            return ~np.int64(place)
        if slots[place] == low and slots[place + _1] == high and (meta & _LENGTH) == mark:
            start, j = np.int64(meta >> _24), 16
            while j < n and load64(arena, start + j) == first_bytes(load64(data, i + j), n - j):
                j += 8
            if j >= n:
                return np.int64(place)
        slot = (slot + _1) & mask


@compiled
def keep_bytes(arena: Any, used: int, data: Any, i: int, n: int) -> None:
    """Copy a key into the arena, zeros behind it up to the next 8 bytes."""
    for j in range(n):
        arena[used + j] = data[i + j]
    for j in range(n, (n + 7) // 8 * 8):
        arena[used + j] = 0


@compiled
def rehash(slots: Any, larger: Any, arena: Any) -> None:
    """Enter all keys of `slots` into `larger`, which is empty and has room."""
    mask = _U(len(larger) // WIDTH - 1)
    for place in range(0, len(slots), WIDTH):
        meta = slots[place + 2]
        if meta == _0:
            continue
        low, high = slots[place], slots[place + 1]
        n: Any = np.int64(meta & _U(0x7F))
        start: Any = np.int64(meta >> _24)
        slot = hash_key(low, high, arena, start, n) & mask
        while larger[slot * _4 + _2] != _0:
            slot = (slot + _1) & mask
        for j in range(WIDTH):
            larger[np.int64(slot) * WIDTH + j] = slots[place + j]


@compiled
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


@compiled
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
                for j in range(start, stop):
                    word[n] = bodies[j]
                    n += 1
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
