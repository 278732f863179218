"""The arrays that the vocabulary trainer works on, laid out for its kernels.

Only the layout is here. -1 is none, in all of them. Arrays whose most is known are made at once, and cost no memory
where they are not written to; `grow` enlarges the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

N_SYMBOLS, N_PAIRS, N_LISTS, N_CHARS, HEAP_SIZE, TOTAL, ARENA_USED, POSITION, N_EVENTS, N_SEEN = range(10)
CRITERION, MIN_FREQUENCY, NEED_PAIRS, NEED_LISTS, NEED_CHARS = range(10, 15)
"""What `counters` holds: how full the arrays are, the settings, and how long those must be that were too short."""
HEADER = 3
"""What stands before the symbols of a word: their number, and how often the word occurs, in two parts of 31 bits."""
NO_KEY = -np.inf

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

START, LENGTH, COUNT, CONTINUES = range(4)
"""Columns of `symbols`: where in `chars` its characters stand, how many, how often it occurs, 1 for a ## piece."""
MEASURE, FLOOR = range(2)
"""Columns of `measures`: what the criterion takes of the count of a symbol, and a bound that it did not fall below."""
LEFT, RIGHT, _, MERGED, FIRST_LIST, MARKS = range(6)
"""Columns of `pairs`, COUNT too: how often its symbols stand side by side; MERGED: how often, under `frequency`,
they were joined; FIRST_LIST: where it occurs."""
KEY, LOG_COUNT = range(2)
"""Columns of `keys`: the key of the entry of a pair in the heap, or NO_KEY; the logarithm of its count."""
FOLLOWING = 2
"""A column of `lists`, which has START and LENGTH as well: the next list of the same pair."""


class State(NamedTuple):
    """The trainer's arrays; rows of two numbers and more have the columns named above."""

    words: Ints  # each word: HEADER, then the ids of its symbols, room for as many as it had at first
    chars: Longs  # code points of the symbols
    symbols: Longs
    measures: Floats
    symbol_table: Longs
    pairs: Longs
    keys: Floats
    pair_table: Longs  # slots of two: left << 32 | right, pair
    lists: Longs  # runs of `arena`, linked; one pair has one or more
    arena: Ints  # where in `words` the words begin that a pair was in when the list was made, once for each time
    links: Longs  # (4, pairs), and the heads (4, symbols), of lists of the pairs that have a symbol: see kernel_pairs
    heads: Longs
    heap_key: Floats
    heap_pair: Longs
    events: Ints  # (2, n): one merge's new neighbours, as 2 * symbol + side, and the words they are in
    sides: Longs  # see kernel_merges
    counters: Longs
    log_total: Floats  # one number


def empty_state(words: Ints, n_places: int, n_symbols: int, n_pairs: int, n_chars: int) -> State:
    """Return a state for words of `n_places` symbols in all, with room for so many symbols, pairs and characters.

    A place takes part in one pair at first and in two more with each join, of which there are fewer than places; so
    `arena` is long enough, and so are the events of one merge.
    """
    return State(
        words=words,
        chars=np.zeros(n_chars, np.int64),
        symbols=np.zeros((n_symbols, 4), np.int64),
        measures=np.zeros((n_symbols, 2), np.float64),
        symbol_table=_table(n_symbols),
        pairs=np.zeros((n_pairs, 6), np.int64),
        keys=np.zeros((n_pairs, 2), np.float64),
        pair_table=_table(2 * n_pairs),
        lists=np.zeros((n_pairs, 3), np.int64),
        arena=np.empty(3 * n_places, np.int32),
        links=np.zeros((4, n_pairs), np.int64),
        heads=np.full((4, n_symbols), -1, np.int64),
        heap_key=np.zeros(2 * n_pairs, np.float64),
        heap_pair=np.zeros(2 * n_pairs, np.int64),
        events=np.empty((2, 2 * n_places), np.int32),
        sides=np.zeros((2 * n_symbols, 4), np.int64),
        counters=np.zeros(15, np.int64),
        log_total=np.zeros(1, np.float64),
    )


def grow(state: State) -> State:
    """Return the state with room for what its counters say it needs; the table of pairs, if it is new, is empty."""
    needs = state.counters
    larger: dict[str, Any] = {}
    if needs[NEED_PAIRS] > len(state.pairs):
        n = _doubled(len(state.pairs), needs[NEED_PAIRS])
        larger["pairs"], larger["keys"] = _longer(state.pairs, (n, 6)), _longer(state.keys, (n, 2))
        larger["links"] = _longer(state.links, (4, n))
        larger["heap_key"], larger["heap_pair"] = (_longer(a, (2 * n,)) for a in (state.heap_key, state.heap_pair))
        larger["pair_table"] = _table(2 * n)
    if needs[NEED_LISTS] > len(state.lists):
        larger["lists"] = _longer(state.lists, (_doubled(len(state.lists), needs[NEED_LISTS]), 3))
    if needs[NEED_CHARS] > len(state.chars):
        larger["chars"] = _longer(state.chars, (_doubled(len(state.chars), needs[NEED_CHARS]),))
    return state._replace(**larger)


def _doubled(length: int, need: int) -> int:
    return max(2 * length, int(need))


def _longer(array: NDArray[Any], shape: Sequence[int]) -> NDArray[Any]:
    result = np.zeros(shape, array.dtype)
    result[tuple(slice(n) for n in array.shape)] = array
    return result


def _table(n: int) -> Longs:
    return np.full(1 << max(2, 2 * n - 1).bit_length(), -1, np.int64)
