"""The pairs of the vocabulary trainer: the value of each, and a lazy heap that gives the best pair.

The key of an entry is an upper bound of the pair's value. The value of the top is computed again before the pair is
taken, so it is the best one. A pair whose value rises is entered once more, and only the entry whose key equals the
pair's `key` is valid. A pair whose value falls gets a lower key when it reaches the top.

Under `frequency` the value is a count, which rises only when a merge forms the pair again. Under the other criteria it
also rises when the count of one of its symbols falls, so after a merge of (a, b) the values of all pairs with a or b
change. To recompute few of them, each symbol has a floor a little below its count, and a pair's key is its value with
its symbols at their floors; the pairs of a symbol are entered again only when its count falls below the floor. A pair
that reaches the top with such a key gets its exact value as key. While it is exact, it is entered again whenever the
count of one of its symbols falls. All other changes lower the value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined
from bertdata.tokenizers.training.merging import merge_score
from bertdata.tokenizers.training.merging.merge_score import FREQUENCY, LIKELIHOOD
from bertdata.tokenizers.training.merging.state import N_LINKS, NO_KEY, State

ON_LEFT, EXACT_LEFT = 0, 2
"""Lists of a symbol's pairs: those with it on the left, and after that on the right; of the exact ones the same."""
_EXACT = 1 << N_LINKS
"""A flag in `marks`; the bits below it say which lists the pair is in."""
_RIGHT = (1 << 32) - 1
_SLACK = 0.5

natural_log = inlined(merge_score.natural_log)


@inlined
def change_symbol(s: State, symbol: Any, change: Any) -> None:
    """Change the count of a symbol (a record)."""
    symbol.count += change
    likelihood = s.counters.criterion == LIKELIHOOD
    symbol.measure = natural_log(symbol.count) if likelihood else np.float64(symbol.count)


@inlined
def lower_floor(s: State, symbol: Any) -> None:
    """Put the floor of a symbol a little below its measure."""
    measure = symbol.measure
    symbol.floor = measure - _SLACK if s.counters.criterion == LIKELIHOOD else measure * (1.0 - _SLACK)


@inlined
def change_count(pair: Any, change: Any) -> None:
    """Change the count of a pair; its entry stays as it is."""
    pair.count += change
    pair.log_count = -1.0


@inlined
def is_eligible(s: State, pair: Any) -> Any:
    """Tell whether a pair occurs, and often enough."""
    return pair.count > 0 and pair.count + pair.merged >= s.counters.min_frequency


@inlined
def is_exact(s: State, pair: Any) -> Any:
    """Tell whether the key of a pair is to be its value, not a bound."""
    return s.counters.criterion == FREQUENCY or pair.marks & _EXACT != 0


@inlined
def worth(s: State, pair: Any, exact: Any) -> Any:
    """Return the value of an eligible pair, or the bound of it that the floors of its symbols give."""
    n, criterion = np.float64(pair.count), s.counters.criterion
    if criterion == FREQUENCY:
        return n + np.float64(pair.merged)
    a, b = s.symbols[pair.symbols >> 32], s.symbols[pair.symbols & _RIGHT]
    first, second = (a.measure, b.measure) if exact else (a.floor, b.floor)
    if criterion != LIKELIHOOD:
        return n / (first * second)
    if pair.log_count < 0.0:
        pair.log_count = natural_log(pair.count)
    return n * ((pair.log_count + s.counters.log_total) - (first + second))


@inlined
def _is_before(s: State, key: float, number: Any, other_key: float, other: Any) -> Any:
    return key > other_key or (key == other_key and s.pairs[number].symbols < s.pairs[other].symbols)


@inlined
def sift_down(s: State, slot: Any) -> None:
    """Move the entry at a place of the heap down to where it belongs."""
    heap, size = s.heap, s.counters.heap
    key, number = heap[slot].key, heap[slot].pair
    child = 2 * slot + 1
    while child < size:
        lower = heap[child]
        if child + 1 < size and _is_before(s, heap[child + 1].key, heap[child + 1].pair, lower.key, lower.pair):
            child += 1
            lower = heap[child]
        if not _is_before(s, lower.key, lower.pair, key, number):
            break
        heap[slot].key, heap[slot].pair = lower.key, lower.pair
        slot, child = child, 2 * child + 1
    heap[slot].key, heap[slot].pair = key, number


@inlined
def _build_heap(s: State) -> None:
    """Enter each pair that has a key, once."""
    size = 0
    for number in range(s.counters.pairs):
        if s.pairs[number].key != NO_KEY:
            s.heap[size].key, s.heap[size].pair = s.pairs[number].key, number
            size += 1
    s.counters.heap = size
    for slot in range(size // 2 - 1, -1, -1):
        sift_down(s, slot)


@inlined
def _push(s: State, number: Any, key: float) -> None:
    """Enter a pair with a key into the heap; a full heap is rebuilt, with one valid entry for each pair."""
    heap, slot = s.heap, s.counters.heap
    s.pairs[number].key = key
    if slot == len(heap):
        _build_heap(s)
        return
    s.counters.heap += 1
    while slot > 0:
        above = heap[(slot - 1) >> 1]
        if not _is_before(s, key, number, above.key, above.pair):
            break
        heap[slot].key, heap[slot].pair = above.key, above.pair
        slot = (slot - 1) >> 1
    heap[slot].key, heap[slot].pair = key, number


@inlined
def _link(s: State, number: Any, which: Any) -> None:
    """Put a pair into the list `which` of its left symbol, and into the one after that of its right symbol."""
    pair = s.pairs[number]
    symbol = pair.symbols >> 32
    for each in range(which, which + 2):
        if pair.marks & 1 << each == 0:
            pair.marks |= 1 << each
            head = N_LINKS * symbol + each
            s.links[N_LINKS * (len(s.symbols) + number) + each] = s.links[head]
            s.links[head] = number
        symbol = pair.symbols & _RIGHT


@inlined
def make_exact(s: State, number: Any) -> None:
    """Let the key of a pair be its value from now on."""
    s.pairs[number].marks |= _EXACT
    _link(s, number, EXACT_LEFT)


@inlined
def enter(s: State, number: Any) -> None:
    """Enter a pair whose count has risen."""
    pair = s.pairs[number]
    if is_eligible(s, pair):
        if s.counters.criterion != FREQUENCY:
            _link(s, number, ON_LEFT)
        key = worth(s, pair, is_exact(s, pair))
        if key > pair.key:
            _push(s, number, key)


@inlined
def renew_pairs(s: State, number: Any) -> None:
    """Enter again the pairs of a symbol whose values may exceed their keys, now that its count has fallen."""
    symbol, links = s.symbols[number], s.links
    is_below = symbol.measure < symbol.floor
    if is_below:
        lower_floor(s, symbol)
    for which in range(ON_LEFT if is_below else EXACT_LEFT, N_LINKS):
        listed_as_exact = which >= EXACT_LEFT
        at = N_LINKS * number + which
        while links[at] >= 0:
            pair = s.pairs[links[at]]
            exact = pair.marks & _EXACT != 0
            stays = exact or not listed_as_exact
            if not is_eligible(s, pair):
                exact = stays = False
            elif exact == listed_as_exact:
                key = worth(s, pair, False)
                if exact:
                    exact = stays = s.counters.heap == 0 or key >= s.heap[0].key  # else its turn is far off
                    key = worth(s, pair, True) if exact else key
                if key > pair.key:
                    _push(s, links[at], key)
            if not exact:
                pair.marks &= ~_EXACT
            following = N_LINKS * (len(s.symbols) + links[at]) + which
            if stays:
                at = following
            else:
                pair.marks &= ~(1 << which)
                links[at] = links[following]
