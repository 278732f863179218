"""The tables in which the vocabulary trainer finds a pair by its symbols, and a symbol by its characters.

What is not there is entered. No counts, no merges here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined, kernel
from bertdata.tokenizers.wordpiece.state import (
    CONTINUES,
    COUNT,
    FIRST_LIST,
    KEY,
    LEFT,
    LENGTH,
    MARKS,
    MERGED,
    N_CHARS,
    N_PAIRS,
    N_SYMBOLS,
    NO_KEY,
    RIGHT,
    START,
    State,
)


@inlined
def _place(s: State, a: Any, b: Any) -> Any:
    """Return where in the table the pair is, or would be."""
    mask = len(s.pair_table) // 2 - 1
    key = np.int64(a) << 32 | np.int64(b)
    h = np.int64(a) * 1640531527 + np.int64(b) * 1013904223
    slot = (h ^ (h >> 21)) & mask
    while s.pair_table[2 * slot] != key and s.pair_table[2 * slot] >= 0:
        slot = (slot + 1) & mask
    return 2 * slot


@inlined
def _enter_place(s: State, place: Any, pair: Any) -> None:
    s.pair_table[place] = np.int64(s.pairs[pair, LEFT]) << 32 | np.int64(s.pairs[pair, RIGHT])
    s.pair_table[place + 1] = pair


@kernel
def rehash(s: State) -> None:
    """Enter all pairs into the table of pairs, which is empty."""
    for pair in range(s.counters[N_PAIRS]):
        _enter_place(s, _place(s, s.pairs[pair, LEFT], s.pairs[pair, RIGHT]), pair)


@inlined
def pair_of(s: State, a: Any, b: Any) -> Any:
    """Return the pair of two symbols, new if need be."""
    place = _place(s, a, b)
    if s.pair_table[place] >= 0:
        return s.pair_table[place + 1]
    pair = s.counters[N_PAIRS]
    s.counters[N_PAIRS] += 1
    s.pairs[pair, LEFT], s.pairs[pair, RIGHT] = a, b
    s.pairs[pair, COUNT] = s.pairs[pair, MERGED] = 0
    s.keys[pair, KEY] = NO_KEY
    s.pairs[pair, FIRST_LIST] = -1
    s.pairs[pair, MARKS] = 0
    _enter_place(s, place, pair)
    return pair


@inlined
def _symbol_place(s: State, start: Any, length: Any, continues: Any) -> Any:
    """Return where in the table the symbol of some characters is, or would be."""
    mask = len(s.symbol_table) - 1
    h = np.int64(continues + 1)
    for i in range(start, start + length):
        h = (h * 1000003 + np.int64(s.chars[i])) & ((1 << 40) - 1)
    place = (h ^ (h >> 19)) & mask
    while s.symbol_table[place] >= 0:
        found = s.symbol_table[place]
        if s.symbols[found, LENGTH] == length and s.symbols[found, CONTINUES] == continues:
            same = 0
            while same < length and s.chars[s.symbols[found, START] + same] == s.chars[start + same]:
                same += 1
            if same == length:
                break
        place = (place + 1) & mask
    return place


@kernel
def add_symbols(s: State) -> None:
    """Enter the initial symbols, 0 to N_SYMBOLS - 1, into the table of symbols."""
    for symbol in range(s.counters[N_SYMBOLS]):
        s.symbol_table[
            _symbol_place(s, s.symbols[symbol, START], s.symbols[symbol, LENGTH], s.symbols[symbol, CONTINUES])
        ] = symbol


@inlined
def joined_symbol(s: State, a: Any, b: Any) -> Any:
    """Return the symbol that two make, new if need be."""
    start, length = s.counters[N_CHARS], np.int64(0)
    for part in (a, b):
        for i in range(s.symbols[part, LENGTH]):
            s.chars[start + length] = s.chars[s.symbols[part, START] + i]
            length += 1
    continues = s.symbols[a, CONTINUES]
    place = _symbol_place(s, start, length, continues)
    if s.symbol_table[place] >= 0:
        return s.symbol_table[place]
    symbol = s.counters[N_SYMBOLS]
    s.counters[N_SYMBOLS] += 1
    s.counters[N_CHARS] += length
    s.symbol_table[place] = symbol
    s.symbols[symbol, START], s.symbols[symbol, LENGTH], s.symbols[symbol, CONTINUES] = start, length, continues
    return symbol
