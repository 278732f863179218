"""Look up the pair of two symbols, or the symbol of some characters, and add it where it is new.

Both are in one hash table. The key of a pair is its two symbols, at least 0. The key of a symbol is a negative hash of
its characters, or, where other characters have that key, the next lower one that is free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.hash_table import find
from bertdata.kernels.jit import inlined
from bertdata.tokenizers.training.merging.state import NO_KEY, State


@inlined
def pair_of(s: State, left: Any, right: Any) -> Any:
    """Return the number of the pair of two symbols."""
    key = np.int64(left) << 32 | np.int64(right)
    place = find(s.table, key)
    if s.table[place] != key:
        number = s.counters.pairs
        s.counters.pairs += 1
        s.table[place], s.table[place + 1] = key, number
        pair = s.pairs[number]
        pair.symbols, pair.last_list = key, -1
        pair.count = pair.merged = pair.marks = 0
        pair.rank = -1
        pair.key, pair.log_count = NO_KEY, -1.0
    return s.table[place + 1]


@inlined
def symbol_of(s: State, start: Any, length: Any, continues: Any) -> Any:
    """Return the symbol of some characters of `chars`; a new one gets the number that is next."""
    h = np.int64(continues + 1)
    for i in range(start, start + length):
        h = (h * 1000003 + np.int64(s.chars[i])) & ((1 << 40) - 1)
    key = -2 - h
    place = find(s.table, key)
    while s.table[place] == key:
        known, same = s.symbols[s.table[place + 1]], 0
        if known.length == length and known.continues == continues:
            while same < length and s.chars[known.start + same] == s.chars[start + same]:
                same += 1
            if same == length:
                return s.table[place + 1]
        key -= 1
        place = find(s.table, key)
    number = s.counters.symbols
    s.counters.symbols += 1
    s.table[place], s.table[place + 1] = key, number
    symbol = s.symbols[number]
    symbol.start, symbol.length, symbol.continues = start, length, continues
    return number


@inlined
def joined_symbol(s: State, a: Any, b: Any) -> Any:
    """Return the symbol that two symbols make."""
    start, length = s.counters.chars, np.int64(0)
    for number in (a, b):
        symbol = s.symbols[number]
        for i in range(symbol.length):
            s.chars[start + length] = s.chars[symbol.start + i]
            length += 1
    known = s.counters.symbols
    joined = symbol_of(s, start, length, s.symbols[a].continues)
    if joined == known:
        s.counters.chars += length
    return joined
