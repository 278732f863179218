"""Which tokens permutation language modelling predicts, and in which order (XLNet, Yang et al. 2019, section 2.3).

A row has a factorisation order z of its tokens. The last ones of z, about one in K, are predicted, each from all those
before it in z. Tokens that are not predicted stand in front; each prediction is made from all of them, so their own
order is not drawn: they see one another, as in XLNet's released code.

What is predicted are spans (section 3): L is drawn from 1 to `max_span`, and L neighbours are predicted "within a
context of (KL) tokens", at a place that is drawn. These contexts follow one another from the beginning of a segment, so
K times L tokens have L predictions. In the rest at the end of a segment, which is too short for the context drawn, one
token in K is predicted, rounded up or down at random. So the mean number of predictions is exact in rows of every
length, except that every row has one at least. As a span lies within its context, tokens at the borders of a segment
are predicted less often than others.

All draws are functions of the seed, the epoch, the example's id and the position.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Flags, Ints
from bertdata.counter_rng import Bits, key, randint
from bertdata.masking.units import row_draws, token_draws

_PURPOSES = ("length", "context", "number", "start", "one", "order")
LENGTH, CONTEXT, NUMBER, START, ONE, ORDER = range(6)
"""Places of the keys of the draws."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Flat rows: row i is at offsets[i] to offsets[i+1], int64 (E+1,), and has the id example_ids[i], int64 (E,).

    begins, special: where units begin that are predicted as a whole, tokens or words, and what is never predicted,
    bool (T,); epochs: of all rows, (1,), or of each, int64 (E,); keys: those of the seed, uint64 (6,), see `seed_keys`.
    """

    offsets: Ints
    example_ids: Ints
    begins: Flags
    special: Flags
    epochs: Ints
    keys: Bits

    def draws(self, purpose: int, positions: Ints) -> Bits:
        """Return a draw for each of some positions of the flat rows."""
        return token_draws(self.keys[purpose], self, positions)

    def row_of(self, positions: Ints) -> Ints:
        """Return the row of each position."""
        return np.searchsorted(self.offsets, positions, side="right") - 1


@lru_cache(maxsize=64)
def seed_keys(seed: int) -> Bits:
    """Return the keys of the draws of a seed, uint64 (6,)."""
    return np.array([key(seed, f"permutation {purpose}") for purpose in _PURPOSES], np.uint64)


def factorization_ranks(rows: Rows, probability: float, max_span: int) -> Ints:
    """Return the place of each predicted token among those of its row in the factorisation order, -1 elsewhere.

    int64 (T,). probability: the share that is predicted, 1/K; max_span: the most units of a span.

    >>> special = np.array([True, *[False] * 12, True])
    >>> rows = Rows(np.array([0, 14]), np.array([5]), ~special, special, np.array([0]), seed_keys(0))
    >>> factorization_ranks(rows, 1 / 6, 5).tolist()
    [-1, -1, -1, -1, -1, 0, 1, -1, -1, -1, -1, -1, -1, -1]
    """
    units = np.flatnonzero(rows.begins)
    predicted_units = _predicted_units(rows, units, probability, max_span)
    ranks = np.full(len(rows.special), -1)
    unit_of = np.cumsum(rows.begins) - 1
    inside = ~rows.special & (unit_of >= 0)
    inside[inside] = predicted_units[unit_of[inside]]
    predicted = np.flatnonzero(inside)
    row = rows.row_of(predicted)
    order = np.lexsort((rows.draws(ORDER, predicted), row))
    first = np.searchsorted(row, row)
    ranks[predicted[order]] = np.arange(len(predicted)) - first
    return ranks


def _predicted_units(rows: Rows, units: Ints, probability: float, max_span: int) -> Flags:
    """Return which units, given by their first tokens, are predicted, bool (U,)."""
    row = rows.row_of(units)
    heads = np.append(True, rows.special)[:-1][units] | (units == rows.offsets[row])
    first = np.flatnonzero(heads)
    end = np.append(first[1:], len(units))
    change = np.zeros(len(units) + 1, np.int64)
    while len(first):
        places = units[first]
        length = 1 + randint(rows.draws(LENGTH, places), max_span)
        context = _rounded(length / probability, rows.draws(CONTEXT, places))
        remaining = end - first
        short = context > remaining
        length = np.where(short, _rounded(remaining * probability, rows.draws(NUMBER, places)), length)
        context = np.minimum(context, remaining)
        start = first + randint(rows.draws(START, places), context - length + 1)
        np.add.at(change, start, 1)
        np.add.at(change, start + length, -1)
        first = first + context
        first, end = first[first < end], end[first < end]
    predicted: Flags = np.cumsum(change[:-1]) > 0
    _predict_one(rows, row, predicted)
    return predicted


def _predict_one(rows: Rows, row: Ints, predicted: Flags) -> None:
    """Predict one unit, each with the same chance, of each row that has units and none of them predicted."""
    sizes = np.bincount(row, minlength=len(rows.example_ids))
    none = np.flatnonzero((np.bincount(row[predicted], minlength=len(sizes)) == 0) & (sizes > 0))
    drawn = randint(row_draws(rows.keys[ONE], rows, none), sizes[none])
    predicted[np.searchsorted(row, none) + drawn] = True


def _rounded(numbers: NDArray[np.floating], draws: Bits) -> Ints:
    """Round numbers of 0 or more up or down by draws, so that their means stay."""
    whole: Ints = np.floor(numbers + (draws >> np.uint64(11)) * 2.0**-53).astype(np.int64)
    return whole


def perm_mask(ranks: Ints) -> NDArray[np.float32]:
    """Return which tokens a token may not attend to, float32 (N, L, L), of factorisation ranks (N, L).

    It is 1.0 at [k, i, j] where token i of row k may not attend to token j: where j is predicted, and i does
    not come after it in the factorisation order. So a token that is predicted does not see itself.

    >>> perm_mask(np.array([[-1, 1, 0]]))[0].tolist()
    [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    seeing = ranks.astype(np.int32)
    seen = np.where(ranks < 0, -2, ranks).astype(np.int32)
    hidden = np.empty((len(ranks), *2 * ranks.shape[1:]), np.float32)
    return np.less_equal(seeing[:, :, None], seen[:, None, :], out=hidden)
