"""The compiled core of the tokenizer: rows of UTF-8 to ids, by way of a cache from chunk to ids.

`scan` goes through the rows in windows of some hundred chunks, in four loops: where the chunks end; what they hash to;
which entry of the cache that is; whether it is the chunk's, and its ids. Each loop asks the processor to fetch what the
next one reads, so that the memory's delay is waited for once and not for each chunk. A chunk is what stands between
gaps and ASCII marks, or one such mark: what the others are makes no difference to its ids. One that is not in the cache
is cut into words (`kernel_words.next_word`), matched (`longest_match`) and entered. Of a character not yet asked for
the caller is told at once; the few chunks that only `tokenizers` can tell are left to the caller to put in afterwards.
Nothing is read or written behind the arrays; where one is too small, the caller is told.

The readable twin is `_educational_encode.encode_slowly`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.wordpiece.formats import MAX_WORD_CHARACTERS
from bertdata.wordpiece.kernel_loads import (
    BLOCK,
    GAPS,
    MARKS,
    ascii_marks,
    borrowing,
    count_bits,
    gap_marks,
    highest_bit,
    inlined,
    load64,
    lowest_bit,
    prefetch,
    store64,
)
from bertdata.wordpiece.kernel_words import (
    ARENA_SHIFT,
    ARENA_USED,
    LONG,
    MARK_BITS,
    MAX_KEY,
    NOT_UTF8,
    POOL_USED,
    REFERENCE_CHARACTER,
    TAG_BITS,
    USED,
    Table,
    claim,
    enter,
    find,
    first_bytes,
    has_room,
    hash_key,
    mark_of,
    mix,
    next_word,
    slot_shift,
)

WORD_BYTES = 512
WINDOW = 256
"""Chunks that are worked on together; a last block may add as many as it has bytes."""
AT_A_TIME = 16
SLACK = 16
"""Room behind the ids that may be written to for nothing."""
DONE, OUTPUT_FULL, PENDING_FULL, NEW_CHARACTER, BAD_ROW = range(5)
ROW, AT, WRITTEN, N_PENDING, CHARACTER = range(5)
LONGEST, UNK_ID = range(2)

_OUTPUT_FULL = -4
MAX_IDS = 127
_U = np.uint64
_0, _1, _2, _3, _4, _8, _16, _63 = (_U(n) for n in (0, 1, 2, 3, 4, 8, 16, 63))
AT_GAP, AT_END = _1, _2
_MARK, _TAG_BITS = _U((1 << MARK_BITS) - 1), _U(TAG_BITS)
_IN_POOL, _COUNT_SHIFT, _COUNT_MASK = _U(1 << 16), _U(17), _U(127)
LENGTHS_BITS = 14
_FOUR_BYTES, _SPREAD, _SHIFT, _SHORT = _U(0xFFFFFFFF), _U(0x9E3779B97F4A7C15), _U(64 - LENGTHS_BITS), _U(0b1110)
_MASKS = np.array([[(1 << 8 * min(n, 8)) - 1, (1 << 8 * max(n - 8, 0)) - 1] for n in range(17)], np.uint64)
"""What is kept of the first 16 bytes of a text where a chunk has so many."""


class Cache(NamedTuple):
    """Chunks and their ids: as many as go into 8 bytes of output are the value, else that is where they are in `pool`.

    The owner's 8 bits of `meta` are 1 that says `pool` and 7 of the number of ids.
    """

    table: Table
    pool: NDArray[np.uint32]


class Pieces(NamedTuple):
    """A vocabulary: its pieces without ##, with the bit CONTINUES in the mark of those that had it, and their ids."""

    table: Table
    lengths: NDArray[np.uint64]  # for a hash of the first four bytes, a bit for each length of a piece that begins so
    settings: NDArray[np.int64]  # LONGEST, UNK_ID


class Characters(NamedTuple):
    """A code for each code point, and the bytes the codes point to: see `characters.py`."""

    codes: NDArray[np.uint32]
    bodies: NDArray[np.uint8]


class Window(NamedTuple):
    """Room for the chunks of a window: uint64, WINDOW + 2 * BLOCK each."""

    stops: NDArray[np.uint64]  # four times the byte where a chunk ends, and AT_GAP or AT_END of a row
    lows: NDArray[np.uint64]
    highs: NDArray[np.uint64]
    places: NDArray[np.uint64]


@inlined
def length_place(low: Any, continues: int) -> Any:
    """Return where in `lengths` the pieces of 4 bytes and over stand that begin as `low` does."""
    return (((low & _FOUR_BYTES) ^ np.uint64(continues << 32)) * _SPREAD) >> _SHIFT


@borrowing
def add_pieces(pieces: Pieces, data: Any, offsets: Any, continues: Any) -> None:
    """Enter all tokens, whose bodies are `data` between `offsets`; but not those that match nothing."""
    for token_id in range(len(continues)):
        i, n, inside = offsets[token_id], offsets[token_id + 1] - offsets[token_id], continues[token_id]
        if 0 < n <= 4 * MAX_WORD_CHARACTERS:
            low, high = first_bytes(load64(data, i), n), first_bytes(load64(data, i + 8), n - 8)
            h = hash_key(low, high, data, i, n, inside)
            enter(pieces.table, low, high, h, mark_of(n, inside), np.uint64(token_id), data, i, n)
            if n >= 4:
                pieces.lengths[length_place(low, inside)] |= _1 << np.uint64(min(n, 63))
            pieces.settings[LONGEST] = max(pieces.settings[LONGEST], n)


@inlined
def longest_match(pieces: Pieces, word: Any, n_word: int, out: Any, written: int) -> Any:
    """Write the ids of a word, longest piece first, or [UNK]; returns how many ids there are now, or _OUTPUT_FULL."""
    start, first = 0, written
    continues = 0
    while start < n_word:
        low, high = load64(word, start), load64(word, start + 8)
        n: Any = min(n_word - start, pieces.settings[LONGEST])
        lengths = pieces.lengths[length_place(low, continues)] | _SHORT
        place = _0
        while True:
            if n >= 63 and lengths >> _63 == _0:
                n = 62
            if n < 63:
                lengths &= (_2 << np.uint64(n)) - _1
                if lengths == _0:
                    break
                n = np.int64(highest_bit(lengths))
            a, b = first_bytes(low, n), first_bytes(high, n - 8)
            h = hash_key(a, b, word, start, n, continues)
            place = find(pieces.table, a, b, h, mark_of(n, continues), word, start, n)
            if place != _0:
                break
            n -= 1
        if written + SLACK > len(out):
            return _OUTPUT_FULL
        if place == _0:
            out[first] = pieces.settings[UNK_ID]
            return first + 1
        out[written] = pieces.table.entries[place + _3]
        written += 1
        start += n
        continues = 1
    return written


@borrowing
def encode_chunk(
    text: Any,
    i: int,
    end: int,
    characters: Characters,
    pieces: Pieces,
    word: Any,
    out: Any,
    written: int,
    registers: Any,
) -> Any:
    """Write the ids of a chunk; returns how many ids there are now, or, negative, why it cannot be told.

    That a character says so, it notes in CHARACTER.
    """
    while True:
        i, n, length = next_word(text, i, end, characters.codes, characters.bodies, word, MAX_WORD_CHARACTERS)
        if n < 0:
            registers[CHARACTER] = i
            return n
        if length == 0:
            return written
        if length <= MAX_WORD_CHARACTERS:
            written = longest_match(pieces, word, n, out, written)
            if written < 0:
                return written
        elif written + SLACK <= len(out):
            out[written] = pieces.settings[UNK_ID]
            written += 1
        else:
            return _OUTPUT_FULL


@borrowing
def remember(cache: Cache, data: Any, i: int, n: int, ids: Any, first: int, count: int) -> None:
    """Enter a chunk that is not in the cache and ids[first : first + count], if they are few enough and there is room.

    `ids` has the type of the output.
    """
    pooled = count * ids.itemsize > 8
    pool_used = cache.table.counters[POOL_USED]
    if n > MAX_KEY or count > min(n, MAX_IDS) or not has_room(cache.table, n):
        return
    if pooled and pool_used + count > len(cache.pool):
        return
    meta, value = mark_of(n, 0) | np.uint64(count) << _COUNT_SHIFT, _0
    if pooled:
        meta, value = meta | _IN_POOL, np.uint64(pool_used)
        for j in range(count):
            cache.pool[pool_used + j] = ids[first + j]
        cache.table.counters[POOL_USED] += count
    else:
        for j in range(count):
            value |= np.uint64(ids[first + j]) << np.uint64(8 * ids.itemsize * j)
    low, high = first_bytes(load64(data, i), n), first_bytes(load64(data, i + 8), n - 8)
    enter(cache.table, low, high, hash_key(low, high, data, i, n, 0), meta, value, data, i, n)


@borrowing
def find_chunk(table: Table, data: Any, i: Any, n: Any) -> Any:
    """Return where in the entries the chunk is that is the `n` bytes from `i` on; 0 where it is not in the table."""
    if n > MAX_KEY:
        return _0
    low, high = first_bytes(load64(data, i), n), first_bytes(load64(data, i + 8), n - 8)
    return find(table, low, high, hash_key(low, high, data, i, n, 0), mark_of(n, 0), data, i, n)


@inlined
def copy_ids(cache: Cache, place: Any, out: Any, written: int) -> Any:
    """Write the ids of an entry of the cache, for which there is room; returns how many ids there are now."""
    meta, value = cache.table.entries[place + _2], cache.table.entries[place + _3]
    count = np.int64(meta >> _COUNT_SHIFT & _COUNT_MASK)
    if meta & _IN_POOL == _0:
        store64(out, np.uint64(written), value)
    else:
        for j in range(count):
            out[written + j] = cache.pool[np.int64(value) + j]
    return written + count


@borrowing
def begin_anew(cache: Cache, key_bytes: Any, kept: int) -> None:
    """Forget all chunks but the first `kept`, which are the commonest; `key_bytes` is room for the longest key."""
    table = cache.table
    table.slots[:] = 0
    table.counters[USED] = kept
    table.counters[ARENA_USED] = table.counters[POOL_USED] = 0
    for entry in range(1, kept):
        place = entry * 4
        low, high, meta = table.entries[place], table.entries[place + 1], table.entries[place + 2]
        n: Any = np.int64(meta & np.uint64(LONG - 1))
        start: Any = np.int64(meta >> np.uint64(ARENA_SHIFT))
        for j in range(16, n):
            key_bytes[j] = table.arena[start + j - 16]
        claim(table, hash_key(low, high, key_bytes, 0, n, 0), entry)
        if n > 16:
            table.counters[ARENA_USED] = start + (n + 7) // 8 * 8 - 16
        if meta & _IN_POOL != _0:
            table.counters[POOL_USED] = table.entries[place + 3] + (meta >> _COUNT_SHIFT & _COUNT_MASK)


@borrowing
def remember_chunk(cache: Cache, key: Any, n: int, ids: Any) -> None:
    """Enter a chunk that `tokenizers` encoded, if there is room and it is not there."""
    if find_chunk(cache.table, key, 0, n) == _0:
        remember(cache, key, 0, n, ids, 0, len(ids))


@borrowing
def find_stops(text: Any, offsets: Any, row: Any, last_row: Any, block: Any, stops: Any) -> Any:
    """Note where chunks end, from byte `block` of a row on; returns (row, byte) to go on with, and how many.

    A chunk ends at a gap and on both sides of an ASCII mark.
    """
    n = _0
    after_gap, after_mark = _1, _0
    if block > _U(offsets[row]):
        before = text[block - _1]
        after_gap, after_mark = _U(before in GAPS), _0
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


@borrowing
def hash_chunks(text: Any, at: Any, n_chunks: Any, shift: Any, slots: Any, window: Window) -> None:
    """Note the first 16 bytes of each chunk of a window, and which slot its hash is of."""
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


@borrowing
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
    window: Window,
    registers: Any,
) -> Any:
    """Write the ids of the rows to `last_row` behind the WRITTEN ones, and where each row ends; returns how it went.

    It begins at byte AT in row ROW, and unless DONE these say where to go on. `pending` gets (row, ids written before,
    start, length) of the N_PENDING chunks that only `tokenizers` can tell, and of which nothing is written. Where a
    NEW_CHARACTER has no code yet, CHARACTER is the byte at which it stands.
    """
    entries, stops = cache.table.entries, window.stops
    shift = slot_shift(cache.table.slots)
    scanned_row, row, at, written = registers[ROW], registers[ROW], _U(registers[AT]), registers[WRITTEN]
    block = at
    while scanned_row < last_row:
        scanned_row, block, n_chunks = find_stops(text, offsets, scanned_row, last_row, block, stops)
        bound = stops[n_chunks - _1] >> _2  # a chunk in the cache has no more ids than bytes
        hash_chunks(text, at, n_chunks, shift, cache.table.slots, window)
        for j in range(n_chunks):
            place = (_U(cache.table.slots[window.places[_U(j)]]) >> _TAG_BITS) << _2
            window.places[_U(j)] = place
            prefetch(entries, place)
        registers[ROW], registers[AT], registers[WRITTEN] = row, at, written
        if written + np.int64(bound - at) + SLACK > len(out):
            return OUTPUT_FULL
        for j in range(n_chunks):
            k = _U(j)
            stop, place = stops[k], window.places[k]
            n = (stop >> _2) - at
            unlike = (entries[place] ^ window.lows[k]) | (entries[place + _1] ^ window.highs[k])
            if unlike | ((entries[place + _2] & _MARK) ^ n) != _0:
                place = find_chunk(cache.table, text, np.int64(at), np.int64(n))
            if place != _0:
                written = copy_ids(cache, place, out, written)
            else:
                start: Any = np.int64(at)
                size: Any = np.int64(n)
                after = encode_chunk(text, start, start + size, characters, pieces, word, out, written, registers)
                registers[ROW], registers[AT], registers[WRITTEN] = row, at, written
                if after >= 0:
                    remember(cache, text, start, size, out, written, after - written)
                    if after + np.int64(bound - (stop >> _2)) + SLACK > len(out):
                        return OUTPUT_FULL
                    written = after
                elif after == _OUTPUT_FULL:
                    return OUTPUT_FULL
                elif after == NOT_UTF8:
                    return BAD_ROW
                elif after == REFERENCE_CHARACTER:
                    count = registers[N_PENDING]
                    if count == len(pending):
                        return PENDING_FULL
                    pending[count, 0], pending[count, 1] = row, written
                    pending[count, 2], pending[count, 3] = start, size
                    registers[N_PENDING] += 1
                else:
                    return NEW_CHARACTER
            at = (stop >> _2) + (stop & AT_GAP)
            if stop & AT_END != _0:
                row += 1
                ends[row] = written
    registers[ROW], registers[AT], registers[WRITTEN] = row, at, written
    return DONE
