"""The compiled core of the word counter: chunks of text are counted as they stand, then each becomes words once.

`count_chunks` goes through the rows once, and counts the chunks between gaps in a table of their bytes. `count_words`
then cuts each distinct chunk into words (`kernel_words.next_word`) and adds its count to theirs, in a second table.
What the tables cannot tell or hold is left to the caller, who goes on from there. Nothing is counted twice or in part:
a chunk is counted when all of it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.wordpiece.kernel_encode import Characters
from bertdata.wordpiece.kernel_loads import BLOCK, borrowing, gap_marks, inlined, load64, lowest_bit
from bertdata.wordpiece.kernel_words import (
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


@inlined
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


@borrowing
def count_chunks(text: Any, offsets: Any, stop: int, chunks: Table, registers: Any) -> Any:
    """Count the chunks of the rows from ROW to `stop`, from PLACE on; DONE, CHUNKS_FULL or LONG_CHUNK.

    Unless DONE, PLACE is where the chunk begins that was not counted; of a LONG_CHUNK, LENGTH is how long it is.
    """
    for row in range(registers[ROW], stop):
        end: Any = offsets[row + 1]
        begin: Any = max(registers[PLACE], offsets[row])
        block: Any = begin
        registers[ROW] = row
        while block <= end:
            marks = gap_marks(text, block)
            if end - block < BLOCK:
                last = _1 << _U(end - block)
                marks = marks & (last - _1) | last
            while marks != _0:
                close = block + np.int64(lowest_bit(marks))
                marks &= marks - _1
                n = close - begin
                if n > MAX_KEY:
                    registers[PLACE], registers[LENGTH] = begin, n
                    return LONG_CHUNK
                if n > 0 and not _add(chunks, text, begin, n, _1):
                    registers[PLACE] = begin
                    return CHUNKS_FULL
                begin = close + 1
            block += BLOCK
    registers[ROW] = stop
    return DONE


@borrowing
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


@inlined
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


@borrowing
def count_words(chunks: Table, key: Any, characters: Characters, words: Table, word: Any, registers: Any) -> Any:
    """Add the words of the chunks from ENTRY on; as `add_words`, of the chunk in the first LENGTH bytes of `key`."""
    for entry in range(registers[ENTRY], chunks.counters[USED]):
        n = _restore(chunks, entry, key, 0)
        status = add_words(key, 0, n, chunks.entries[entry * WIDTH + 3], characters, words, word)
        if status != DONE:
            registers[ENTRY], registers[LENGTH] = entry, n
            return status
    return DONE


@borrowing
def key_bytes(table: Table) -> Any:
    """Return how many bytes the keys of a table have in all."""
    total: Any = 0
    for entry in range(1, table.counters[USED]):
        total += np.int64(table.entries[entry * WIDTH + 2] & _LENGTH)
    return total


@borrowing
def write_counts(table: Table, data: Any, offsets: Any, counts: Any) -> None:
    """Write the keys and values of a table as the arrays of Arrow strings, `offsets` one longer, and of int64."""
    end: Any = 0
    for entry in range(1, table.counters[USED]):
        end += _restore(table, entry, data, end)
        offsets[entry] = end
        counts[entry - 1] = np.int64(table.entries[entry * WIDTH + 3])


@borrowing
def clear(table: Table) -> None:
    """Take everything out of a table."""
    table.slots[:] = 0
    table.counters[USED], table.counters[ARENA_USED] = 1, 0
