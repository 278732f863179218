"""The compiled core of the tokenizer: rows of UTF-8 to ids, by way of a cache from chunk to ids.

`scan` goes through the rows in windows of some hundreds of chunks (`chunks.py`): where they end, and where in the
cache they are likely to be; then whether they are there, and their ids. A chunk that is not in the cache is cut into
words (`words.next_word`), matched (`longest_match`) and entered; one of ASCII letters and digits is a word as it is.
At a character that has no code yet the kernel returns, to be called again, and also at one of the few chunks that only
`tokenizers` can encode. Nothing is read or written outside the arrays; where one is too small, the kernel returns as
well.

The readable version is `tests/oracles/wordpiece_encoding.py`.

80 times as fast as `tokenizers` (`benchmarks/kernels.py --only tokenizer`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.byte_table import hash_key, place_at, seek
from bertdata.kernels.jit import always_inlined, kernel
from bertdata.tokenizers.encode.kernels.id_cache import MAX_KEY, Cache, copy_ids, remember
from bertdata.tokenizers.wordpiece.encode.kernels.chunks import (
    AFTER_START,
    AT_END,
    AT_SPACE,
    LENGTH,
    Window,
    find_places,
    find_stops,
)
from bertdata.tokenizers.wordpiece.encode.kernels.trie import NO_ROOM, SLACK, UNK_ID, Trie, longest_match
from bertdata.tokenizers.wordpiece.encode.kernels.words import NOT_UTF8, REFERENCE_CHARACTER, next_word
from bertdata.tokenizers.wordpiece.tokenizer_json import MAX_WORD_CHARACTERS

WORD_BYTES = 512
DONE, OUTPUT_FULL, REFERENCE_CHUNK, NEW_CHARACTER, BAD_ROW = range(5)
ROW, AT, WRITTEN, SIZE, CHARACTER = range(5)

_U = np.uint64
_0, _1, _2 = _U(0), _U(1), _U(2)


class Characters(NamedTuple):
    """A code for each code point, and the bytes the codes point to: see `characters.py`."""

    codes: NDArray[np.uint32]
    bodies: NDArray[np.uint8]
    folds: NDArray[np.uint8]  # for each byte, what it becomes if it is an ASCII letter or digit; else 0


@always_inlined
def fold(text: Any, i: Any, n: Any, folds: Any, word: Any) -> Any:
    """Write a chunk of ASCII letters and digits into `word`, normalised; returns False for any other chunk."""
    plain: Any = n <= MAX_WORD_CHARACTERS
    if plain:
        for j in range(n):
            byte = folds[text[i + j]]
            word[j] = byte
            plain = plain & (byte != 0)
    return plain


@always_inlined
def encode_chunk(
    text: Any,
    i: Any,
    end: Any,
    characters: Characters,
    trie: Trie,
    word: Any,
    out: Any,
    written: Any,
    registers: Any,
) -> Any:
    """Write the ids of a chunk; returns how many ids there are now, or a negative number that says why it cannot.

    If a character caused it, CHARACTER holds its offset.
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
            written = longest_match(trie, word, n, out, written)
        elif written + SLACK <= len(out):
            out[written] = trie.settings[UNK_ID]
            written += 1
        else:
            return NO_ROOM
        if plain or written < 0:
            return written


@kernel
def scan(
    text: Any,
    offsets: Any,
    last_row: int,
    cache: Cache,
    characters: Characters,
    trie: Trie,
    word: Any,
    out: Any,
    ends: Any,
    window: Window,
    registers: Any,
) -> Any:
    """Write the ids of the rows to `last_row` after the WRITTEN ones, and where each row ends; returns a status.

    It begins at byte AT in row ROW, and unless DONE these say where to go on. At a REFERENCE_CHUNK, which only
    `tokenizers` can encode, SIZE is its length. At a NEW_CHARACTER, which has no code yet, CHARACTER is its offset.
    """
    entries, stops = cache.table.entries, window.stops
    scanned_row, row, at, written = registers[ROW], registers[ROW], _U(registers[AT]), registers[WRITTEN]
    block, before = at, AFTER_START
    while scanned_row < last_row:
        scanned_row, block, before, n_chunks = find_stops(text, offsets, scanned_row, last_row, block, before, stops)
        bound = stops[n_chunks - _1] >> _2  # a chunk in the cache has no more ids than bytes
        find_places(text, at, n_chunks, cache.table, window)
        registers[ROW], registers[AT], registers[WRITTEN] = row, at, written
        if written + np.int64(bound - at) + SLACK > len(out):
            return OUTPUT_FULL
        for j in range(n_chunks):
            k = _U(j)
            stop, place = stops[k], window.places[k]
            n = (stop >> _2) - at
            unlike = (entries[place] ^ window.lows[k]) | (entries[place + _1] ^ window.highs[k])
            if unlike | ((entries[place + _2] & LENGTH) ^ n) != _0:
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
                after = encode_chunk(text, start, start + size, characters, trie, word, out, written, registers)
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
                    registers[SIZE] = size
                    return REFERENCE_CHUNK
                else:
                    return NEW_CHARACTER
            at = (stop >> _2) + (stop & AT_SPACE)
            if stop & AT_END != _0:
                row += 1
                ends[row] = written
    registers[ROW], registers[AT], registers[WRITTEN] = row, at, written
    return DONE
