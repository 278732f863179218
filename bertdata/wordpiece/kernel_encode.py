"""The compiled core of the tokenizer: rows of UTF-8 to ids, by way of a cache from chunk to ids.

`scan` goes through the rows chunk by chunk: it hashes the raw bytes of a chunk while it looks for its end, and finds
its ids in the cache. What is not there is cut into words (`kernel_words.next_word`), matched (`longest_match`) and put
into the cache. What the tables cannot tell is left to the caller, who scans again from the row that it names. Nothing
is read or written behind the arrays; where one is too small, the caller is told.

The readable twin is `_educational_encode.encode_slowly`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.compiled import compiled
from bertdata.wordpiece.formats import MAX_WORD_CHARACTERS
from bertdata.wordpiece.kernel_words import (
    ARENA_SHIFT,
    BLOCK,
    LENGTH_BITS,
    MAX_KEY,
    NOT_UTF8,
    REFERENCE_CHARACTER,
    WIDTH,
    block_marks,
    bytes_mask,
    find,
    find_short,
    first_bytes,
    hash_key,
    is_gap,
    keep_bytes,
    load64,
    lowest_bit,
    mix,
    next_word,
)

WORD_BYTES = 512
DONE, OUTPUT_FULL, CACHE_FULL, PENDING_FULL, BAD_ROW = range(5)
ROW, WRITTEN, N_PENDING, FIRST_PENDING, MAY_GROW = range(5)
USED, ARENA_USED, POOL_USED = range(3)
LONGEST, UNK_ID = range(2)
CONTINUES = 1 << 15

_OUTPUT_FULL = -4
_MAX_IDS = 127
SLACK = 256
"""Room behind the ids that may be written to for nothing."""
_U = np.uint64
_0, _1, _2, _3 = _U(0), _U(1), _U(2), _U(3)
_THREE_BYTES, _SPREAD, _51, _SHORT = _U(0xFFFFFF), _U(0x9E3779B97F4A7C15), _U(51), _U(0b110)
_IN_POOL, _COUNT_SHIFT, _COUNT_MASK = _U(1 << 16), _U(17), _U(127)
_ID_MASK, _ID_BITS, _TWO_IDS = _U((1 << 21) - 1), _U(21), _U(42)
_ARENA_SHIFT, _LENGTH = _U(ARENA_SHIFT), _U((1 << LENGTH_BITS) - 1)


class Cache(NamedTuple):
    """Chunks and their ids. Up to three ids of 21 bits are the value; of more, or larger ones, it is where in `pool`.

    `meta` is, from the lowest bit: 16 bits of length, 1 that says `pool`, 7 of the number of ids, 40 of arena offset.
    """

    slots: NDArray[np.uint64]
    arena: NDArray[np.uint8]
    pool: NDArray[np.uint32]
    counters: NDArray[np.int64]  # USED, ARENA_USED, POOL_USED


class Pieces(NamedTuple):
    """A vocabulary: its pieces without ##, with the bit CONTINUES in the length of those that had it, and their ids."""

    slots: NDArray[np.uint64]
    arena: NDArray[np.uint8]
    lengths: NDArray[np.uint64]  # for a hash of the first three bytes, a bit for each length of a piece that begins so
    settings: NDArray[np.int64]  # LONGEST, UNK_ID


class Characters(NamedTuple):
    """A code for each code point, and the bytes the codes point to: see `characters.py`."""

    codes: NDArray[np.uint32]
    bodies: NDArray[np.uint8]


@compiled
def length_place(low: Any, continues: int) -> Any:
    """Return where in `lengths` the pieces stand that begin with the first three bytes of `low`."""
    return (((low & _THREE_BYTES) ^ np.uint64(continues << 24)) * _SPREAD) >> _51


@compiled
def add_piece(pieces: Pieces, data: Any, i: int, n: int, continues: int, used: int, token_id: int) -> None:
    """Enter one piece, whose bytes from the 16th on go to `used` in the arena."""
    low, high = first_bytes(load64(data, i), n), first_bytes(load64(data, i + 8), n - 8)
    h = hash_key(low, high, data, i, n)
    mark = np.uint64(n | continues * CONTINUES)
    place = ~find(pieces.slots, pieces.arena, low, high, h, data, i, n, mark)
    if place < 0:
        return
    keep_bytes(pieces.arena, used, data, i, n)
    if n >= 3:
        pieces.lengths[length_place(low, continues)] |= _1 << np.uint64(min(n, 63))
    pieces.slots[place], pieces.slots[place + 1] = low, high
    pieces.slots[place + 2] = mark | np.uint64(used) << _ARENA_SHIFT
    pieces.slots[place + 3] = np.uint64(token_id)


@compiled
def add_pieces(pieces: Pieces, data: Any, offsets: Any, continues: Any) -> None:
    """Enter all tokens, whose bodies are `data` between `offsets`; but not those that match nothing."""
    used = 0
    for token_id in range(len(continues)):
        i, n = offsets[token_id], offsets[token_id + 1] - offsets[token_id]
        if 0 < n <= 4 * MAX_WORD_CHARACTERS:
            add_piece(pieces, data, i, n, continues[token_id], used, token_id)
            used += (n + 7) // 8 * 8
            pieces.settings[LONGEST] = max(pieces.settings[LONGEST], n)


@compiled
def longest_match(pieces: Pieces, word: Any, n_word: int, out: Any, written: int) -> Any:
    """Write the ids of a word, longest piece first, or [UNK]; returns how many ids there are now, or _OUTPUT_FULL."""
    start, first = 0, written
    continues = 0
    while start < n_word:
        low8, high8 = load64(word, start), load64(word, start + 8)
        n = min(n_word - start, pieces.settings[LONGEST])
        lengths = pieces.lengths[length_place(low8, continues)] | _SHORT
        place: Any = np.int64(-1)
        while n > 0:
            if lengths >> np.uint64(min(n, 63)) & _1 == _0:
                n -= 1
                continue
            low, high, mark = first_bytes(low8, n), first_bytes(high8, n - 8), np.uint64(n | continues * CONTINUES)
            if n <= 16:
                place = find_short(pieces.slots, low, high, n, mark)
            else:
                h = hash_key(low, high, word, start, n)
                place = find(pieces.slots, pieces.arena, low, high, h, word, start, n, mark)
            if place >= 0:
                break
            n -= 1
        if written >= len(out):
            return _OUTPUT_FULL
        if place < 0:
            out[first] = pieces.settings[UNK_ID]
            return first + 1
        out[written] = pieces.slots[place + 3]
        written += 1
        start += n
        continues = 1
    return written


@compiled
def encode_chunk(
    text: Any, i: int, end: int, characters: Characters, pieces: Pieces, word: Any, out: Any, written: int
) -> Any:
    """Write the ids of a chunk; returns how many ids there are now, or, negative, why it cannot be told."""
    while True:
        i, n, length = next_word(text, i, end, characters.codes, characters.bodies, word, MAX_WORD_CHARACTERS)
        if n < 0:
            return n
        if length == 0:
            return written
        if length <= MAX_WORD_CHARACTERS:
            written = longest_match(pieces, word, n, out, written)
            if written < 0:
                return written
        elif written < len(out):
            out[written] = pieces.settings[UNK_ID]
            written += 1
        else:
            return _OUTPUT_FULL


@compiled
def enter(cache: Cache, data: Any, i: int, n: int, ids: Any, first: int, count: int) -> None:
    """Enter a chunk and ids[first : first + count], if it is not there; the caller has seen to the room."""
    low, high = first_bytes(load64(data, i), n), first_bytes(load64(data, i + 8), n - 8)
    h = hash_key(low, high, data, i, n)
    place = ~find(cache.slots, cache.arena, low, high, h, data, i, n, np.uint64(n))
    if place < 0:
        return
    used = cache.counters[ARENA_USED]
    keep_bytes(cache.arena, used, data, i, n)
    cache.counters[ARENA_USED] += (n + 7) // 8 * 8
    cache.counters[USED] += 1
    value: Any = _0
    pooled: Any = count > 3
    for j in range(count):
        pooled = pooled or np.uint64(ids[first + j]) > _ID_MASK
    if pooled:
        value = np.uint64(cache.counters[POOL_USED])
        for j in range(count):
            cache.pool[np.int64(value) + j] = ids[first + j]
        cache.counters[POOL_USED] += count
    else:
        for j in range(count):
            value |= np.uint64(ids[first + j]) << np.uint64(21 * j)
    meta = np.uint64(n) | np.uint64(count) << _COUNT_SHIFT | np.uint64(used) << _ARENA_SHIFT
    cache.slots[place], cache.slots[place + 1] = low, high
    cache.slots[place + 2] = meta | _IN_POOL if pooled else meta
    cache.slots[place + 3] = value


@compiled
def has_room(cache: Cache) -> Any:
    """Tell whether one more chunk can be entered."""
    used = cache.counters
    return bool(
        used[USED] * 4 < len(cache.slots) // WIDTH
        and used[ARENA_USED] + MAX_KEY <= len(cache.arena)
        and used[POOL_USED] + _MAX_IDS <= len(cache.pool)
    )


@compiled
def remember_chunk(cache: Cache, key: Any, n: int, ids: Any) -> Any:
    """Enter a chunk that `tokenizers` encoded; False where there are too many ids to keep."""
    if n > MAX_KEY or len(ids) > _MAX_IDS:
        return False
    enter(cache, key, 0, n, ids, 0, len(ids))
    return True


@compiled
def follow(text: Any, i: int, end: int, slots: Any, arena: Any, pool: Any, out: Any, written: Any, found: Any) -> Any:
    """Write the ids of chunks from `i` on as long as they are in the cache: the loop that most of the time is spent in.

    Returns (where it stopped, n, ids written): n is the length of the chunk there, which is not in the cache, or 0 at
    `end`, or _OUTPUT_FULL. The chunks of 64 bytes are looked up before any of them is used, so that the processor can
    fetch them from memory at the same time; `found` is room for them.
    """
    block = i
    mask, room = np.uint64(len(slots) // WIDTH - 1), len(out) - SLACK
    while i < end:
        marks = block_marks(text, block)
        if end - block < BLOCK:
            marks = marks & ((_1 << np.uint64(end - block)) - _1) | _1 << np.uint64(end - block)
        begin, n_found = i, 0
        while marks != _0:
            stop = block + lowest_bit(marks)
            marks &= marks - _1
            c = text[np.uint64(stop)]
            if c != 32 and stop < end and not is_gap(c):
                continue
            n = stop - begin
            n_low, at = min(n, 8), np.uint64(n_found)
            low = load64(text, begin) & bytes_mask(n_low)
            high = load64(text, begin + 8) & bytes_mask(min(n, 16) - n_low)
            place = (mix(low, high, n) & mask) << _2
            same = (slots[place] ^ low) | (slots[place + _1] ^ high) | ((slots[place + _2] & _LENGTH) ^ np.uint64(n))
            found[at, _0] = begin
            found[at, _1] = n
            found[at, _2] = np.int64(place) if same == _0 else np.int64(-1)
            begin = stop + 1
            n_found += n > 0
        if written > room:
            return i, _OUTPUT_FULL, written
        for k in range(n_found):
            at = np.uint64(k)
            there = found[at, _2]
            n = found[at, _1]
            if there < 0 or n > 16:
                i = found[at, _0]
                if n > MAX_KEY:
                    return i, n, written
                low, high = first_bytes(load64(text, i), n), first_bytes(load64(text, i + 8), n - 8)
                h = hash_key(low, high, text, i, n)
                there = find(slots, arena, low, high, h, text, i, n, np.uint64(n))
                if there < 0:
                    return i, n, written
            place = np.uint64(there)
            meta, value = slots[place + _2], slots[place + _3]
            count = np.int64(meta >> _COUNT_SHIFT & _COUNT_MASK)
            if meta & _IN_POOL == _0:
                to = np.uint64(written)
                out[to] = value & _ID_MASK
                out[to + _1] = value >> _ID_BITS & _ID_MASK
                out[to + _2] = value >> _TWO_IDS
            else:
                if written + count > room:
                    return found[at, _0], _OUTPUT_FULL, written
                for j in range(count):
                    out[written + j] = pool[np.int64(value) + j]
            written += count
        i = begin
        block += BLOCK
    return i, 0, written


@compiled
def scan(
    text: Any,
    offsets: Any,
    last_row: int,
    cache: Cache,
    characters: Characters,
    pieces: Pieces,
    word: Any,
    out: Any,
    ends: Any,
    pending: Any,
    slow: Any,
    found: Any,
    registers: Any,
) -> Any:
    """Write the ids of rows ROW to `last_row` behind the WRITTEN ones, and where each row ends; returns how it went.

    `pending` gets (start, length) of the N_PENDING chunks to be worked out by the caller; the first stands in row
    FIRST_PENDING, whose ids, and those of the rows behind it, count for nothing. A row of which nothing can be told in
    that way is marked in `slow` and left empty, as are those marked before. Unless DONE, ROW is the row to go on with.
    Where the cache is full: CACHE_FULL if MAY_GROW is set, else nothing more is entered.
    """
    written, row = registers[WRITTEN], registers[ROW]
    n_pending = 0
    while row < last_row:
        i, end, row_start = offsets[row], offsets[row + 1], written
        registers[ROW], registers[WRITTEN] = row, row_start
        while not slow[row]:
            i, n, written = follow(text, i, end, cache.slots, cache.arena, cache.pool, out, written, found)
            if n == 0:
                break
            if n == _OUTPUT_FULL:
                return OUTPUT_FULL
            if n <= MAX_KEY and registers[MAY_GROW] and not has_room(cache):
                return CACHE_FULL
            after = encode_chunk(text, i, i + n, characters, pieces, word, out, written)
            if after >= 0:
                if n <= MAX_KEY and after - written <= _MAX_IDS and has_room(cache):
                    enter(cache, text, i, n, out, written, after - written)
                written = after
            elif after == NOT_UTF8:
                return BAD_ROW
            elif after == _OUTPUT_FULL:
                return OUTPUT_FULL
            elif n > MAX_KEY and after == REFERENCE_CHARACTER:
                slow[row] = True
                written = row_start
            else:
                if n_pending == 0:
                    registers[FIRST_PENDING] = row
                pending[n_pending, 0], pending[n_pending, 1] = i, n
                n_pending += 1
                registers[N_PENDING] = n_pending
                if n_pending == len(pending):
                    return PENDING_FULL
            i += n
        row += 1
        ends[row] = written
    registers[ROW], registers[WRITTEN] = row, written
    return DONE
