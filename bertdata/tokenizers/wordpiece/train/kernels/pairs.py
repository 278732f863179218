"""The pairs of the vocabulary trainer: what each is worth, and a lazy heap whose top is always right.

An entry of the heap has a key that its pair's value never exceeds, and the top is valued again before it is taken, so
the pair that is taken is the best one. Entries are not moved: a pair whose value rises is entered once more, and of its
entries the one counts whose key is the pair's; a pair whose value falls is put right when it comes to the top.

Under `frequency` the value is a count, which only rises when the pair is formed anew. Under the others it also rises
when the count of one of its symbols falls, so after a merge of (a, b) all pairs with a or b would have to be valued
again. Most need not: each symbol has a floor a little below its count, a pair's key is what it would be worth if its
symbols had fallen to their floors, and only when a count passes its floor are the symbol's pairs entered anew. A pair
that comes to the top by such a key gets its value for key (is exact), and while it is, is entered anew whenever the
count of one of its symbols falls. What else changes makes values fall.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined, kernel
from bertdata.tokenizers.wordpiece.state import (
    COUNT,
    CRITERION,
    FLOOR,
    HEAP_SIZE,
    KEY,
    LEFT,
    LOG_COUNT,
    MARKS,
    MEASURE,
    MERGED,
    MIN_FREQUENCY,
    N_PAIRS,
    NO_KEY,
    RIGHT,
    State,
)
from bertdata.tokenizers.wordpiece.train import merge_score
from bertdata.tokenizers.wordpiece.train.merge_score import FREQUENCY, LIKELIHOOD

ON_LEFT, ON_RIGHT, EXACT_LEFT, EXACT_RIGHT = range(4)
"""Lists of a symbol's pairs: those with it on the left, on the right, and of these the exact ones."""
_EXACT, _LOGGED = 16, 32
_SLACK = 0.5

natural_log = kernel(merge_score.natural_log)


@inlined
def measure_symbol(s: State, symbol: Any, change: Any) -> None:
    """Change the count of a symbol."""
    s.symbols[symbol, COUNT] += change
    n = s.symbols[symbol, COUNT]
    if s.counters[CRITERION] == LIKELIHOOD:
        s.measures[symbol, MEASURE] = natural_log(n)
    else:
        s.measures[symbol, MEASURE] = np.float64(n)


@inlined
def lower_floor(s: State, symbol: Any) -> None:
    """Put the floor of a symbol a little below its measure."""
    measure = s.measures[symbol, MEASURE]
    s.measures[symbol, FLOOR] = measure - _SLACK if s.counters[CRITERION] == LIKELIHOOD else measure * (1.0 - _SLACK)


@inlined
def eligible(s: State, pair: Any) -> Any:
    """Tell whether a pair occurs, and often enough."""
    n = s.pairs[pair, COUNT]
    return n > 0 and n + s.pairs[pair, MERGED] >= s.counters[MIN_FREQUENCY]


@inlined
def is_exact(s: State, pair: Any) -> Any:
    """Tell whether the key of a pair is to be its value, not a bound."""
    return s.counters[CRITERION] == FREQUENCY or s.pairs[pair, MARKS] & _EXACT != 0


@inlined
def worth(s: State, pair: Any, exact: Any) -> Any:
    """Return the value of an eligible pair, or the bound of it that the floors of its symbols give."""
    n = np.float64(s.pairs[pair, COUNT])
    if s.counters[CRITERION] == FREQUENCY:
        return n + np.float64(s.pairs[pair, MERGED])
    a, b = s.pairs[pair, LEFT], s.pairs[pair, RIGHT]
    if exact:
        first, second = s.measures[a, MEASURE], s.measures[b, MEASURE]
    else:
        first, second = s.measures[a, FLOOR], s.measures[b, FLOOR]
    if s.counters[CRITERION] != LIKELIHOOD:
        return n / (first * second)
    if s.pairs[pair, MARKS] & _LOGGED == 0:
        s.pairs[pair, MARKS] |= _LOGGED
        s.keys[pair, LOG_COUNT] = natural_log(s.pairs[pair, COUNT])
    return n * ((s.keys[pair, LOG_COUNT] + s.log_total[0]) - (first + second))


@inlined
def change_count(s: State, pair: Any, change: Any) -> None:
    """Change the count of a pair; its entry stays as it is."""
    s.pairs[pair, COUNT] += change
    s.pairs[pair, MARKS] &= ~_LOGGED


@inlined
def _goes_first(s: State, key: float, p: Any, other: float, q: Any) -> Any:
    if key != other:
        return key > other
    if s.pairs[p, LEFT] != s.pairs[q, LEFT]:
        return s.pairs[p, LEFT] < s.pairs[q, LEFT]
    return s.pairs[p, RIGHT] < s.pairs[q, RIGHT]


@inlined
def _sift_down(s: State, slot: Any, key: float, pair: Any) -> None:
    size = s.counters[HEAP_SIZE]
    while 2 * slot + 1 < size:
        child = 2 * slot + 1
        if child + 1 < size and _goes_first(
            s, s.heap_key[child + 1], s.heap_pair[child + 1], s.heap_key[child], s.heap_pair[child]
        ):
            child += 1
        if not _goes_first(s, s.heap_key[child], s.heap_pair[child], key, pair):
            break
        s.heap_key[slot], s.heap_pair[slot] = s.heap_key[child], s.heap_pair[child]
        slot = child
    s.heap_key[slot], s.heap_pair[slot] = key, pair


@inlined
def build_heap(s: State) -> None:
    """Enter each pair that has a key, once."""
    size = 0
    for pair in range(s.counters[N_PAIRS]):
        if s.keys[pair, KEY] != NO_KEY:
            s.heap_key[size], s.heap_pair[size] = s.keys[pair, KEY], pair
            size += 1
    s.counters[HEAP_SIZE] = size
    for slot in range(size // 2 - 1, -1, -1):
        _sift_down(s, slot, s.heap_key[slot], s.heap_pair[slot])


@inlined
def push(s: State, pair: Any, key: float) -> None:
    """Enter a pair with a key; a heap that is full of entries that count no more is built anew."""
    s.keys[pair, KEY] = key
    slot = s.counters[HEAP_SIZE]
    if slot == len(s.heap_key):
        build_heap(s)
        return
    s.counters[HEAP_SIZE] += 1
    while slot > 0:
        above = (slot - 1) >> 1
        if not _goes_first(s, key, pair, s.heap_key[above], s.heap_pair[above]):
            break
        s.heap_key[slot], s.heap_pair[slot] = s.heap_key[above], s.heap_pair[above]
        slot = above
    s.heap_key[slot], s.heap_pair[slot] = key, pair


@inlined
def replace_top(s: State, key: float) -> None:
    """Give the pair at the top a lower key."""
    pair = s.heap_pair[0]
    s.keys[pair, KEY] = key
    _sift_down(s, 0, key, pair)


@inlined
def pop(s: State) -> None:
    """Take the top entry out."""
    s.counters[HEAP_SIZE] -= 1
    last = s.counters[HEAP_SIZE]
    if last > 0:
        _sift_down(s, 0, s.heap_key[last], s.heap_pair[last])


@inlined
def link(s: State, pair: Any, which: Any) -> None:
    """Put a pair into a list of one of its symbols."""
    if s.pairs[pair, MARKS] & 1 << which == 0:
        s.pairs[pair, MARKS] |= 1 << which
        symbol = s.pairs[pair, LEFT] if which & 1 == ON_LEFT else s.pairs[pair, RIGHT]
        s.links[which, pair] = s.heads[which, symbol]
        s.heads[which, symbol] = pair


@inlined
def make_exact(s: State, pair: Any) -> None:
    """Let the key of a pair be its value from now on."""
    s.pairs[pair, MARKS] |= _EXACT
    link(s, pair, EXACT_LEFT)
    link(s, pair, EXACT_RIGHT)


@inlined
def enter(s: State, pair: Any) -> None:
    """Enter a pair whose count has risen."""
    if eligible(s, pair):
        if s.counters[CRITERION] != FREQUENCY:
            link(s, pair, ON_LEFT)
            link(s, pair, ON_RIGHT)
        key = worth(s, pair, is_exact(s, pair))
        if key > s.keys[pair, KEY]:
            push(s, pair, key)


@inlined
def _renew(s: State, pair: Any, which: Any) -> Any:
    """Enter a pair of a list anew if its key has risen; returns whether it stays in the list."""
    if not eligible(s, pair):
        s.pairs[pair, MARKS] &= ~_EXACT
        return False
    exact, listed_as_exact = is_exact(s, pair), which >= EXACT_LEFT
    if not exact and listed_as_exact:
        return False
    if exact and not listed_as_exact:
        return True
    key = worth(s, pair, False)
    if exact and (s.counters[HEAP_SIZE] == 0 or key >= s.heap_key[0]):
        key = worth(s, pair, True)
    elif exact:  # its turn is far off
        s.pairs[pair, MARKS] &= ~_EXACT
        exact = False
    if key > s.keys[pair, KEY]:
        push(s, pair, key)
    return exact or not listed_as_exact


@inlined
def _renew_list(s: State, symbol: Any, which: Any) -> None:
    last, pair = -1, s.heads[which, symbol]
    while pair >= 0:
        following = s.links[which, pair]
        if _renew(s, pair, which):
            last = pair
        else:
            s.pairs[pair, MARKS] &= ~(1 << which)
            if last >= 0:
                s.links[which, last] = following
            else:
                s.heads[which, symbol] = following
        pair = following


@inlined
def renew_pairs(s: State, symbol: Any) -> None:
    """Enter anew those pairs of a symbol, whose count has fallen, that this may have brought above their keys."""
    if s.measures[symbol, MEASURE] < s.measures[symbol, FLOOR]:
        lower_floor(s, symbol)
        _renew_list(s, symbol, ON_LEFT)
        _renew_list(s, symbol, ON_RIGHT)
    _renew_list(s, symbol, EXACT_LEFT)
    _renew_list(s, symbol, EXACT_RIGHT)
