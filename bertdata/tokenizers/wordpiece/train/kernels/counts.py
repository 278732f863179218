"""The compiled core of the word counter: distinct chunks of text are counted first, and then cut into words.

`count_chunks` counts the chunks of the rows (`encode/kernels/chunks.py`) in a table of their bytes. `count_words` then
cuts each distinct chunk into words (`words.next_word`) and adds the chunk's count to each, in a second table. Where a
table is full, or only `tokenizers` knows the words, the kernels return and the caller calls them again. A chunk is
counted completely or not at all.

40 times as fast as counting the words of `tokenizers` in Python (`benchmarks/kernels.py --only word`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels import byte_table
from bertdata.kernels.byte_table import USED, WIDTH, Table
from bertdata.kernels.jit import always_inlined, kernel
from bertdata.tokenizers.encode.kernels.id_cache import MAX_KEY
from bertdata.tokenizers.wordpiece.encode.kernels import chunks
from bertdata.tokenizers.wordpiece.encode.kernels.encode import Characters
from bertdata.tokenizers.wordpiece.encode.kernels.words import PAD, next_word

DONE, CHUNKS_FULL, LONG_CHUNK, WORDS_FULL, LONG_WORD = range(5)
"""How it went; or, negative, what `next_word` says."""
ROW, PLACE, SIZE, ENTRY = range(4)
MAX_WORD = 1000
"""Most characters of a word that the tables hold."""
WORD_BYTES = 4 * MAX_WORD + PAD

_U = np.uint64
_0, _1, _2, _3 = (_U(n) for n in (0, 1, 2, 3))


@kernel
def count_chunks(text: Any, offsets: Any, last_row: int, table: Table, window: chunks.Window, registers: Any) -> Any:
    """Count the chunks of the rows from ROW to `last_row`, from PLACE on; DONE, CHUNKS_FULL or LONG_CHUNK.

    Unless DONE, PLACE is where the chunk begins that was not counted; of a LONG_CHUNK, SIZE is its length.
    """
    entries, stops = table.entries, window.stops
    scanned_row, row, at = registers[ROW], registers[ROW], _U(registers[PLACE])
    block, before = at, chunks.AFTER_START
    while scanned_row < last_row:
        scanned_row, block, before, n_chunks = chunks.find_stops(
            text, offsets, scanned_row, last_row, block, before, stops
        )
        chunks.find_places(text, at, n_chunks, table, window)
        for j in range(n_chunks):
            k = _U(j)
            stop, place, low, high = stops[k], window.places[k], window.lows[k], window.highs[k]
            n = (stop >> _2) - at
            unlike = (entries[place] ^ low) | (entries[place + _1] ^ high)
            if unlike | ((entries[place + _2] & chunks.LENGTH) ^ n) != _0:
                start: Any = np.int64(at)
                size: Any = np.int64(n)
                registers[ROW], registers[PLACE], registers[SIZE] = row, start, size
                if size > MAX_KEY:
                    return LONG_CHUNK
                h = byte_table.hash_key(low, high, text, start, size)
                slot = byte_table.seek(table, low, high, h, text, start, size)
                if byte_table.place_at(table, slot) == _0:
                    if not byte_table.has_room(table, 1, size):
                        return CHUNKS_FULL
                    byte_table.enter(table, slot, low, high, h, 0, _0, text, start, size)
                place = byte_table.place_at(table, slot)
            entries[place + _3] += _1
            at = (stop >> _2) + (stop & chunks.AT_SPACE)
            if stop & chunks.AT_END != _0:
                row += 1
    registers[ROW], registers[PLACE] = row, np.int64(at)
    return DONE


@always_inlined
def _add(table: Table, data: Any, n: int, count: Any) -> None:
    """Add to the count of the first `n` bytes, for which there is room."""
    low, high = byte_table.first_words(data, 0, n)
    h = byte_table.hash_key(low, high, data, 0, n)
    slot = byte_table.seek(table, low, high, h, data, 0, n)
    place = byte_table.place_at(table, slot)
    if place != _0:
        table.entries[place + _3] += count
    else:
        byte_table.enter(table, slot, low, high, h, 0, count, data, 0, n)


@always_inlined
def _add_words(data: Any, end: int, count: Any, characters: Characters, words: Table, word: Any) -> Any:
    """Add `count` to the count of each word of a chunk; DONE, WORDS_FULL, LONG_WORD or what `next_word` says."""
    number: Any = 0
    total: Any = 0
    for adds in range(2):  # first whether all of them can be added
        at: Any = 0
        while True:
            at, n, length = next_word(data, at, end, characters.codes, characters.bodies, word, MAX_WORD)
            if n < 0:
                return n
            if length > MAX_WORD:
                return LONG_WORD
            if length == 0:
                break
            if adds:
                _add(words, word, n, count)
            else:
                number += 1
                total += n + 8
        if not adds and not byte_table.has_room(words, number, total):
            return WORDS_FULL if words.counters[USED] > 1 else LONG_WORD
    return DONE


@kernel
def count_words(
    table: Table, end: int, key: Any, characters: Characters, words: Table, word: Any, registers: Any
) -> Any:
    """Add the words of the chunks from ENTRY to `end`; entry 0 is the chunk in the first SIZE bytes of `key`, once.

    Unless DONE, ENTRY is the chunk that was not counted, which is in the first SIZE bytes of `key`.
    """
    for entry in range(registers[ENTRY], end):
        n, count = registers[SIZE], _1
        if entry > 0:
            n, count = byte_table.read_key(table, entry, key, 0), table.entries[entry * WIDTH + 3]
        status = _add_words(key, n, count, characters, words, word)
        if status != DONE:
            registers[ENTRY], registers[SIZE] = entry, n
            return status
    return DONE
