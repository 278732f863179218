"""The arrays that the vocabulary trainer works on, laid out for `kernel.py`.

Only the layout is here. A new field changes the types that the kernel was compiled for, so it is compiled anew; for
any other change, change `kernel.py` as well, whose date its compiled code is kept by.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

N_SYMBOLS, N_PAIRS, HEAP_SIZE, TOTAL, POSITION = range(5)

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


TEXT = np.dtype(
    [
        ("symbol", np.int32),  # valid where a symbol begins
        ("following", np.int32),  # where the next symbol of the word begins
        ("preceding", np.int32),
        ("word", np.int32),
        ("pair_here", np.int32),  # the pair whose left symbol begins here
        ("next_here", np.int32),  # the other places of that pair, a doubly linked list
        ("last_here", np.int32),
    ],
    align=True,
)
SYMBOLS = np.dtype(
    [
        ("start", np.int64),  # where in `chars` its characters stand, and how many
        ("length", np.int32),
        ("continues", np.int32),  # 1 for a ## piece
        ("count", np.int64),
        ("log_count", np.float64),
        ("first_left", np.int32),  # the pairs with this symbol on the left, a linked list; on the right
        ("first_right", np.int32),
    ],
    align=True,
)
PAIRS = np.dtype(
    [
        ("left", np.int32),
        ("right", np.int32),
        ("count", np.int64),
        ("log_count", np.float64),
        ("key", np.float64),
        ("first_here", np.int32),  # the first place in the text
        ("slot", np.int32),  # the place in the heap
        ("next_left", np.int32),
        ("next_right", np.int32),
        ("marks", np.int32),
    ],
    align=True,
)


class State(NamedTuple):
    """The trainer's arrays. A place in the text is the number of a character of the corpus; -1 is none."""

    chars: Ints  # code points: the corpus, then the initial symbols
    weight: Longs  # how often each word occurs
    text: Any  # records of TEXT
    symbols: Any  # records of SYMBOLS
    pairs: Any  # records of PAIRS
    heap: Ints
    touched: Ints
    scratch: Ints
    symbol_table: Ints
    pair_table: Ints
    counters: Longs  # N_SYMBOLS ...
    log_total: Floats  # one number


def records(n: int, dtype: np.dtype[np.void]) -> Any:
    """Return an array of `n` zeroed records."""
    return np.zeros(n, dtype).view(np.recarray)


def empty_state(n_places: int, n_symbols: int, n_pairs: int) -> State:
    """Return a state with room for so many places, symbols and pairs, and nothing in it."""
    return State(
        chars=np.zeros(0, np.int32),
        weight=np.zeros(0, np.int64),
        text=records(n_places, TEXT),
        symbols=records(n_symbols, SYMBOLS),
        pairs=records(n_pairs, PAIRS),
        heap=np.zeros(n_pairs, np.int32),
        touched=np.zeros(n_pairs, np.int32),
        scratch=np.zeros(n_places, np.int32),
        symbol_table=_table(n_symbols),
        pair_table=_table(n_pairs),
        counters=np.zeros(5, np.int64),
        log_total=np.zeros(1, np.float64),
    )


def _table(n: int) -> Ints:
    return np.full(1 << max(1, 2 * n - 1).bit_length(), -1, np.int32)
