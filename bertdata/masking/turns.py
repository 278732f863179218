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

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bertdata.arrays import Ints
from bertdata.counter_rng import bits, key, threshold
from bertdata.masking.schedule import LEVELS
from bertdata.masking.settings import MaskingConfig

PURPOSE = "mask round"
EPOCHS = 1 << 30
"""Epochs are taken modulo this number."""
ONE = 1 << 32


@dataclass(frozen=True)
class Turns:
    """Where each row of a batch is in an epoch, int64 (E,): the round, and which of the parts of its order is masked.

    reach: how much of the part is masked, in units of 2**-32; least: the least of it that is in any epoch.
    """

    rounds: Ints
    part: Ints
    parts: Ints
    reach: int
    least: int

    @property
    def arrays(self) -> tuple[Ints, Ints, Ints]:
        """The rounds, the part and the parts."""
        return self.rounds, self.part, self.parts


NONE = Turns(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), ONE, ONE)
"""Those of rows that are not masked in turn."""


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
    config: MaskingConfig, seed: int, example_ids: Ints, epoch: int, schedule: MaskingConfig | None = None
) -> Turns:
    """Return where rows are in an epoch, by the ids of their examples, int64 (E,).

    schedule: the settings of which `config` is a level, where a schedule changes the rates.

    >>> config = MaskingConfig(mask_in_turn=True)
    >>> turns = [turns_of(config, 0, np.array([7]), epoch) for epoch in range(15)]
    >>> [int(turn.rounds[0]) for turn in turns]
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2]
    >>> [int(turn.part[0]) for turn in turns]
    [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 0, 1]
    """
    whole = schedule or config
    length, epoch = epochs_of_round(whole), epoch % EPOCHS
    drawn = (bits(key(seed, PURPOSE), example_ids) >> np.uint64(32)).astype(np.int64)
    rounds = (((epoch + 1) << 32) - 1 - drawn) // length
    begin, end = (rounds * length + drawn) >> 32, ((rounds + 1) * length + drawn) >> 32
    reaches = reaches_of(whole)
    reach = reach_of(config.masked_lm_prob, whole) if schedule else ONE
    return Turns(rounds, epoch - begin, end - begin, reach, int(reaches.min()))


def reach_of(rate: float, schedule: MaskingConfig) -> int:
    """Return how much of its part a turn masks at a rate of a schedule, in units of 2**-32."""
    return (threshold(rate) << 32) // _mean_share(schedule)


@lru_cache(maxsize=16)
def reaches_of(config: MaskingConfig) -> Ints:
    """Return `reach_of` at each level of the run, int64 (1001,); (1,) without a schedule."""
    if not config.mask_schedule:
        return np.array([ONE])
    return np.array([reach_of(config.at(level).masked_lm_prob, config) for level in range(LEVELS + 1)], np.int64)
