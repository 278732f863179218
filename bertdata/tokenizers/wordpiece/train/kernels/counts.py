"""The compiled core of the word counter: chunks of text are counted as they stand, then each becomes words once.

`count_chunks` goes through the rows once, and counts the chunks (`encode/kernels/chunks.py`) in a table of their bytes.
`count_words` then cuts each distinct chunk into words (`words.next_word`) and adds its count to theirs, in a
second table. What the tables cannot tell or hold is left to the caller, who goes on from there. Nothing is counted
twice or in part: a chunk is counted when all of it is.

45 times as fast as counting in Python (`benchmarks/kernels.py --only word`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import always_inlined, kernel
from bertdata.kernels.simd import load64
from bertdata.tokenizers.wordpiece.encode.kernels.chunks import AT_END, AT_GAP, MARK, Window, find_places, find_stops
from bertdata.tokenizers.wordpiece.encode.kernels.encode import Characters
from bertdata.tokenizers.wordpiece.encode.kernels.words import (
    ARENA_USED,
    MAX_KEY,
    PAD,
    USED,
    WIDTH,
    Table,
    enter,
    first_bytes,
    has_room,
    hash_key,
    mark_of,
    next_word,
    place_at,
    seek,
)

DONE, CHUNKS_FULL, LONG_CHUNK, WORDS_FULL, LONG_WORD = range(5)
"""How it went; or, negative, what `next_word` says."""
ROW, PLACE, LENGTH, ENTRY = range(4)
MAX_WORD = 1000
"""Most characters of a word that the tables hold."""
WORD_BYTES = 4 * MAX_WORD + PAD

_U = np.uint64
_0, _1, _2, _3, _8, _24 = (_U(n) for n in (0, 1, 2, 3, 8, 24))
_BYTE, _LENGTH = _U(0xFF), _U(0x3FFF)


@always_inlined
def _add(table: Table, data: Any, i: int, n: int, count: Any) -> Any:
    """Add to the count of the `n` bytes from `i` on; False where they are new and there is no room."""
    low, high = first_bytes(load64(data, i), n), first_bytes(load64(data, i + 8), n - 8)
    h = hash_key(low, high, data, i, n)
    slot = seek(table, low, high, h, data, i, n)
    place = place_at(table, slot)
    if place != _0:
        table.entries[place + _3] += count
    elif has_room(table, n):
        enter(table, slot, low, high, h, mark_of(n), count, data, i, n)
    else:
        return False
    return True


@kernel
def count_chunks(text: Any, offsets: Any, last_row: int, chunks: Table, window: Window, registers: Any) -> Any:
    """Count the chunks of the rows from ROW to `last_row`, from PLACE on; DONE, CHUNKS_FULL or LONG_CHUNK.

    Unless DONE, PLACE is where the chunk begins that was not counted; of a LONG_CHUNK, LENGTH is how long it is.
    """
    entries, stops = chunks.entries, window.stops
    scanned_row, row, at = registers[ROW], registers[ROW], _U(registers[PLACE])
    block = at
    while scanned_row < last_row:
        scanned_row, block, n_chunks = find_stops(text, offsets, scanned_row, last_row, at, block, stops)
        find_places(text, at, n_chunks, chunks, window)
        for j in range(n_chunks):
            k = _U(j)
            stop, place, low, high = stops[k], window.places[k], window.lows[k], window.highs[k]
            n = (stop >> _2) - at
            unlike = (entries[place] ^ low) | (entries[place + _1] ^ high)
            if unlike | ((entries[place + _2] & MARK) ^ n) != _0:
                start: Any = np.int64(at)
                size: Any = np.int64(n)
                registers[ROW], registers[PLACE], registers[LENGTH] = row, start, size
                if size > MAX_KEY:
                    return LONG_CHUNK
                h = hash_key(low, high, text, start, size)
                slot = seek(chunks, low, high, h, text, start, size)
                if place_at(chunks, slot) == _0:
                    if not has_room(chunks, size):
                        return CHUNKS_FULL
                    enter(chunks, slot, low, high, h, mark_of(size), _0, text, start, size)
                place = place_at(chunks, slot)
            entries[place + _3] += _1
            at = (stop >> _2) + (stop & AT_GAP)
            if stop & AT_END != _0:
                row += 1
    registers[ROW], registers[PLACE] = row, np.int64(at)
    return DONE


@kernel
def add_words(data: Any, i: int, end: int, count: Any, characters: Characters, words: Table, word: Any) -> Any:
    """Add `count` to the count of each word of a chunk; DONE, WORDS_FULL, LONG_WORD or what `next_word` says."""
    at: Any = i
    number: Any = 0
    total: Any = 0
    while True:
        at, n, length = next_word(data, at, end, characters.codes, characters.bodies, word, MAX_WORD)
        if n < 0:
            return n
        if length > MAX_WORD:
            return LONG_WORD
        if length == 0:
            break
        number += 1
        total += n + 8
    used, after = words.counters, words.counters[USED] + number
    crowded = after * WIDTH > len(words.entries) or 2 * after > len(words.slots)
    if crowded or used[ARENA_USED] + total + PAD > len(words.arena):
        return WORDS_FULL if used[USED] > 1 else LONG_WORD
    at = i
    for _ in range(number):
        at, n, length = next_word(data, at, end, characters.codes, characters.bodies, word, MAX_WORD)
        _add(words, word, 0, n, count)
    return DONE


@always_inlined
def _restore(table: Table, entry: int, key: Any, to: int) -> Any:
    """Write the key of an entry into `key` from `to` on; returns its length."""
    place = entry * WIDTH
    meta = table.entries[place + 2]
    n, start = np.int64(meta & _LENGTH), np.int64(meta >> _24)
    for j in range(n):
        if j < 16:
            key[to + j] = table.entries[place + j // 8] >> (_8 * _U(j % 8)) & _BYTE
        else:
            key[to + j] = table.arena[start + j - 16]
    return n


@kernel
def count_words(chunks: Table, key: Any, characters: Characters, words: Table, word: Any, registers: Any) -> Any:
    """Add the words of the chunks from ENTRY on; as `add_words`, of the chunk in the first LENGTH bytes of `key`."""
    for entry in range(registers[ENTRY], chunks.counters[USED]):
        n = _restore(chunks, entry, key, 0)
        status = add_words(key, 0, n, chunks.entries[entry * WIDTH + 3], characters, words, word)
        if status != DONE:
            registers[ENTRY], registers[LENGTH] = entry, n
            return status
    return DONE


@kernel
def key_bytes(table: Table) -> Any:
    """Return how many bytes the keys of a table have in all."""
    total: Any = 0
    for entry in range(1, table.counters[USED]):
        total += np.int64(table.entries[entry * WIDTH + 2] & _LENGTH)
    return total


@kernel
def write_counts(table: Table, data: Any, offsets: Any, counts: Any) -> None:
    """Write the keys and values of a table as the arrays of Arrow strings, `offsets` one longer, and of int64."""
    end: Any = 0
    for entry in range(1, table.counters[USED]):
        end += _restore(table, entry, data, end)
        offsets[entry] = end
        counts[entry - 1] = np.int64(table.entries[entry * WIDTH + 3])


@kernel
def clear(table: Table) -> None:
    """Take everything out of a table."""
    table.slots[:] = 0
    table.counters[USED], table.counters[ARENA_USED] = 1, 0
