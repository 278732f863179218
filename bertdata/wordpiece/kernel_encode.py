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
from bertdata.wordpiece.kernel_cache import Cache, copy_ids, remember
from bertdata.wordpiece.kernel_loads import (
    BLOCK,
    GAPS,
    MARKS,
    ascii_marks,
    borrowing,
    count_bits,
    gap_marks,
    inlined,
    load64,
    lowest_bit,
    prefetch,
)
from bertdata.wordpiece.kernel_pieces import NO_ROOM, SLACK, UNK_ID, Pieces, longest_match
from bertdata.wordpiece.kernel_words import (
    MARK_BITS,
    MAX_KEY,
    NOT_UTF8,
    REFERENCE_CHARACTER,
    TAG_BITS,
    hash_key,
    mix,
    next_word,
    place_at,
    seek,
    slot_shift,
)

WORD_BYTES = 512
WINDOW = 256
"""Chunks that are worked on together; a last block may add as many as it has bytes."""
AT_A_TIME = 16
DONE, OUTPUT_FULL, PENDING_FULL, NEW_CHARACTER, BAD_ROW = range(5)
ROW, AT, WRITTEN, N_PENDING, CHARACTER = range(5)

_U = np.uint64
_0, _1, _2, _3, _4, _8, _16, _63 = (_U(n) for n in (0, 1, 2, 3, 4, 8, 16, 63))
AT_GAP, AT_END = _1, _2
_MARK, _TAG_BITS = _U((1 << MARK_BITS) - 1), _U(TAG_BITS)
_MASKS = np.array([[(1 << 8 * min(n, 8)) - 1, (1 << 8 * max(n - 8, 0)) - 1] for n in range(17)], np.uint64)
"""What is kept of the first 16 bytes of a text where a chunk has so many."""


class Characters(NamedTuple):
    """A code for each code point, and the bytes the codes point to: see `characters.py`."""

    codes: NDArray[np.uint32]
    bodies: NDArray[np.uint8]
    folds: NDArray[np.uint8]  # for each byte, what it becomes if it is an ASCII letter or digit; else 0


class Window(NamedTuple):
    """Room for the chunks of a window: uint64, WINDOW + 2 * BLOCK each."""

    stops: NDArray[np.uint64]  # four times the byte where a chunk ends, and AT_GAP or AT_END of a row
    lows: NDArray[np.uint64]
    highs: NDArray[np.uint64]
    places: NDArray[np.uint64]


@inlined
def fold(text: Any, i: Any, n: Any, folds: Any, word: Any) -> Any:
    """Write a chunk into `word` as it is after normalising; False where that takes more than a look at each byte."""
    plain: Any = n <= MAX_WORD_CHARACTERS
    if plain:
        for j in range(n):
            byte = folds[text[i + j]]
            word[j] = byte
            plain = plain & (byte != 0)
    return plain


@inlined
def encode_chunk(
    text: Any,
    i: Any,
    end: Any,
    characters: Characters,
    pieces: Pieces,
    word: Any,
    out: Any,
    written: Any,
    registers: Any,
) -> Any:
    """Write the ids of a chunk; returns how many ids there are now, or, negative, why it cannot be told.

    That a character says so, it notes in CHARACTER.
    """
    n: Any = end - i
    length: Any = n
    plain = fold(text, i, n, characters.folds, word)
    while True:
        if not plain:
            i, n, length = next_word(text, i, end, characters.codes, characters.bodies, word, MAX_WORD_CHARACTERS)
            if n < 0:
                registers[CHARACTER] = i
                return n
        if length == 0:
            return written
        if length <= MAX_WORD_CHARACTERS:
            written = longest_match(pieces, word, n, out, written)
        elif written + SLACK <= len(out):
            out[written] = pieces.settings[UNK_ID]
            written += 1
        else:
            return NO_ROOM
        if plain or written < 0:
            return written


@inlined
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


@inlined
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
                start: Any = np.int64(at)
                size: Any = np.int64(n)
                place, slot, h = _0, _0, _0
                if size <= MAX_KEY:
                    h = hash_key(window.lows[k], window.highs[k], text, start, size)
                    slot = seek(cache.table, window.lows[k], window.highs[k], h, text, start, size)
                    place = place_at(cache.table, slot)
            if place != _0:
                written = copy_ids(cache, place, out, written)
            else:
                after = encode_chunk(text, start, start + size, characters, pieces, word, out, written, registers)
                registers[ROW], registers[AT], registers[WRITTEN] = row, at, written
                if after >= 0:
                    if size <= MAX_KEY:
                        low, high, count = window.lows[k], window.highs[k], after - written
                        remember(cache, slot, low, high, h, text, start, size, out, written, count)
                    if after + np.int64(bound - (stop >> _2)) + SLACK > len(out):
                        return OUTPUT_FULL
                    written = after
                elif after == NO_ROOM:
                    return OUTPUT_FULL
                elif after == NOT_UTF8:
                    return BAD_ROW
                elif after == REFERENCE_CHARACTER:
                    waiting = registers[N_PENDING]
                    if waiting == len(pending):
                        return PENDING_FULL
                    pending[waiting, 0], pending[waiting, 1] = row, written
                    pending[waiting, 2], pending[waiting, 3] = start, size
                    registers[N_PENDING] += 1
                else:
                    return NEW_CHARACTER
            at = (stop >> _2) + (stop & AT_GAP)
            if stop & AT_END != _0:
                row += 1
                ends[row] = written
    registers[ROW], registers[AT], registers[WRITTEN] = row, at, written
    return DONE
