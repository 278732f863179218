"""A vocabulary as the tokenizer's kernel has it, and WordPiece's longest match first. No texts, no cache here."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.wordpiece.formats import MAX_WORD_CHARACTERS
from bertdata.wordpiece.kernel_loads import borrowing, highest_bit, inlined, load64
from bertdata.wordpiece.kernel_words import Table, enter, find, first_bytes, hash_key, mark_of

SLACK = 16
"""Room behind the ids that may be written to for nothing."""
NO_ROOM = -4
LONGEST, UNK_ID = range(2)
LENGTHS_BITS = 14
_U = np.uint64
_0, _1, _2, _3, _63 = (_U(n) for n in (0, 1, 2, 3, 63))
_FOUR_BYTES, _SPREAD, _SHIFT, _SHORT = _U(0xFFFFFFFF), _U(0x9E3779B97F4A7C15), _U(64 - LENGTHS_BITS), _U(0b1110)


class Pieces(NamedTuple):
    """A vocabulary: its pieces without ##, with the bit CONTINUES in the mark of those that had it, and their ids."""

    table: Table
    lengths: NDArray[np.uint64]  # for a hash of the first four bytes, a bit for each length of a piece that begins so
    settings: NDArray[np.int64]  # LONGEST, UNK_ID


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
    """Write the ids of a word, longest piece first, or [UNK]; returns how many ids there are now, or NO_ROOM."""
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
            return NO_ROOM
        if place == _0:
            out[first] = pieces.settings[UNK_ID]
            return first + 1
        out[written] = pieces.table.entries[place + _3]
        written += 1
        start += n
        continues = 1
    return written
