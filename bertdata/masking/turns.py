"""Positions masked in turn: each position of a row once before any of them is masked again.

GPT-BERT (Charpentier and Samuel 2024; `SpanMaskingStrategy` in its code) counts how often each position of a row was
masked, and prefers those masked least: the random number of a span is multiplied by a softmax of the counts, and the
lowest are masked. Such counts are of the run so far. Here a mask stays a function of the seed, the row and the epoch:
the epochs of a row are divided into rounds. In a round, the units of the row are put in an order that is drawn once,
and its epochs, the turns, mask one part of this order after the other. In the next round units and order are drawn
anew. So after any number of epochs all positions were masked equally often, within 1; GPT-BERT's numbers only make that
likely.

A round has 1 / rate epochs in the mean, rounded up or down by a draw for each row: at 15%, two of three rounds have 7
epochs and the third has 6. Of a row of n tokens, n / 6 or n / 7 are masked in an epoch, and 15% in the mean. Where a
row has fewer units than a round has epochs, one is masked in each epoch, and some are masked twice in a round.

Under a schedule, rounds are those of the mean rate over the run, and each turn masks more or less than its part by the
rate of its epoch: beyond its part those of the next turn too, or not all of its own. Then counts differ by as much.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bertdata.arrays import Ints
from bertdata.counter_rng import bits, key, threshold
from bertdata.masking.schedule import LEVELS, shares_at
from bertdata.masking.settings import MaskingConfig

PURPOSE = "mask round"
EPOCHS = 1 << 30
"""Epochs are taken modulo this number."""
ONE = 1 << 32


class Turns(NamedTuple):
    """Where rows are in their epochs, int64 (E,): the round, and which of the parts of their order is masked.

    reach: how much of the part is masked, in units of 2**-32, (1,) where it is the same for all; share: of the places
    of a row, the most that a unit has, in the same units.
    """

    rounds: Any
    part: Any
    parts: Any
    reach: Any
    share: Any


@lru_cache(maxsize=64)
def epochs_of_round(config: MaskingConfig) -> int:
    """Return how many epochs a round has in the mean, 1 / rate, in units of 2**-32.

    >>> round(epochs_of_round(MaskingConfig(mask_in_turn=True)) / 2**32, 2)
    6.67
    """
    return (1 << 64) // _mean_share(config)


@lru_cache(maxsize=64)
def _mean_share(config: MaskingConfig) -> int:
    return threshold(config.mean_rate)


def turns_of(
    config: MaskingConfig, seed: int, example_ids: Ints, epochs: int | Ints, levels: int | Ints | None = None
) -> Turns:
    """Return where rows are in their epochs, by the ids of their examples, int64 (E,).

    levels: of the run, needed where a schedule changes the rates.

    >>> turns = turns_of(MaskingConfig(mask_in_turn=True), 0, np.array([7] * 15), np.arange(15))
    >>> turns.rounds.tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2]
    >>> turns.part.tolist()
    [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 0, 1]
    """
    length, epochs = epochs_of_round(config), epochs % EPOCHS
    drawn = (bits(key(seed, PURPOSE), example_ids) >> np.uint64(32)).astype(np.int64)
    rounds = (((epochs + 1) << 32) - 1 - drawn) // length
    begin, end = (rounds * length + drawn) >> 32, ((rounds + 1) * length + drawn) >> 32
    reaches = _reaches(config)
    reach = reaches.take(np.asarray(levels)).reshape(-1) if config.mask_schedule else reaches
    return Turns(rounds, epochs - begin, end - begin, reach, reaches.min() // (end - begin))


@lru_cache(maxsize=16)
def _reaches(config: MaskingConfig) -> Ints:
    """Return how much of its part a turn masks at each level of the run, in units of 2**-32, int64 (1001,).

    (1,) without a schedule, under which it is the whole part.
    """
    if not config.mask_schedule:
        return np.array([ONE])
    points, shape = config.points, config.mask_schedule_shape
    rates = [threshold(shares_at(points, shape, level)[0]) for level in range(LEVELS + 1)]
    return np.array([(rate << 32) // _mean_share(config) for rate in rates], np.int64)
