"""The law of a mask: the rates of each row, and in which part of its order it is masked, as numbers.

The compiled kernels, torch and the plain loop of the tests take these numbers and draw tokens by them; none of them
knows how rates come about. So another law is written here and in the settings alone. A law is a function of the
settings, the seed, the ids of the examples, their epochs, and under a schedule the level of the run.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bertdata.arrays import Ints
from bertdata.counter_rng import bits, key, threshold
from bertdata.errors import ConfigError
from bertdata.masking.rate_draws import row_shares
from bertdata.masking.schedule import LEVELS, shares_at
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.turns import Turns, turns_of

NUMBER_PURPOSE = "mask number"
"""The purpose of the draw that rounds the number of predictions of a row."""
PURPOSES = (
    *(NUMBER_PURPOSE, "mask position", "mask length", "mask window", "mask action", "mask replacement"),
    "mask similar word",
)
"""The purposes of all draws of a mask, in the order of `masking_kernel`'s places."""
_NONE = np.zeros(0, np.int64)
_NO_TURNS = Turns(_NONE, _NONE, _NONE, _NONE, _NONE)


class RowLaw(NamedTuple):
    """What rows are masked by, int64, each array of one value for all rows, (1,), or one for each, (E,).

    Shares are in units of 2**-32. rate: of the places of a row, what is predicted; to_mask: of predicted tokens, what
    becomes [MASK]; to_random: what becomes that or a random token. turns: where rows are in their rounds, arrays (0,)
    where they are not masked in turn.
    """

    rate: Any
    to_mask: Any
    to_random: Any
    turns: Turns = _NO_TURNS

    @property
    def in_turn(self) -> bool:
        """Whether rows are masked in turn."""
        return len(self.turns.part) > 0

    def columns(self, rows: int) -> Ints:
        """Return the numbers of some rows as int64 (rows, 3), or (rows, 8) where they are masked in turn."""
        columns = [*self[:3], *(self.turns if self.in_turn else ())]
        return np.stack([np.broadcast_to(column, rows) for column in columns], 1)

    @classmethod
    def of_columns(cls, columns: Any) -> RowLaw:
        """Return the law of rows whose `columns` are given, an array or a tensor; its arrays are (rows, 1)."""
        rate, to_mask, to_random, *turns = (columns[:, place, None] for place in range(columns.shape[1]))
        return cls(rate, to_mask, to_random, Turns(*turns) if turns else _NO_TURNS)


def is_constant(config: MaskingConfig) -> bool:
    """Tell whether all rows have the same law in every epoch and at every level."""
    return not (config.mask_schedule or config.mask_rate_draw or config.mask_in_turn)


def law_of(
    config: MaskingConfig, seed: int, example_ids: Ints, epochs: int | Ints, levels: int | Ints | None = None
) -> RowLaw:
    """Return the law of some rows, by the ids of their examples, int64 (E,).

    epochs: of all rows, or of each, int64 (E,); levels: of the run, 0 to 1000, alike. Raises ConfigError for settings
    with a schedule where no level is given.

    >>> law = law_of(MaskingConfig(mask_schedule=("0=0.3", "1=0.1")), 0, np.array([5, 6]), 0, np.array([0, 500]))
    >>> (law.rate / 2**32).round(3).tolist(), (law.to_mask / 2**32).round(3).tolist()
    ([0.3, 0.2], [0.8, 0.8])
    """
    if config.mask_schedule and levels is None:
        raise ConfigError(
            f"the rates change during the run ({config.rate_text}), and the position is not known; give `levels`, 0 "
            "at its beginning to 1000 at its end"
        )
    shares = _shares(config)
    if config.mask_schedule:
        shares = shares.take(np.asarray(levels), axis=1).reshape(3, -1)
    rate, to_mask, to_random = shares
    if config.mask_rate_draw:
        independent = config.mask_number == "independent"
        rate = row_shares(config.mask_rate_draw, seed, example_ids, epochs, independent=independent)
    if config.mask_in_turn:
        return RowLaw(rate, to_mask, to_random, turns_of(config, seed, example_ids, epochs, levels))
    return RowLaw(rate, to_mask, to_random)


@lru_cache(maxsize=64)
def _shares(config: MaskingConfig) -> Ints:
    """Return rate, to_mask and to_random at each level of the run, int64 (3, 1001); (3, 1) without a schedule."""
    shares = [(config.masked_lm_prob, config.mask_token_prob, config.random_token_prob)]
    if config.mask_schedule:
        points, shape = config.points, config.mask_schedule_shape
        shares = [shares_at(points, shape, level) for level in range(LEVELS + 1)]
    thresholds = [[threshold(share) for share in (rate, mask, mask + random)] for rate, mask, random in shares]
    return np.ascontiguousarray(np.array(thresholds, np.int64).T)


def number_of_predictions(
    available: Ints, example_ids: Ints, epochs: int | Ints, law: RowLaw, seed: int, limit: int = 0
) -> tuple[Ints, int]:
    """Return how many tokens of each row are predicted, int64 (E,), and how many rows the limit shortened.

    0.15 n is rounded up or down by a draw; `available` is n, the tokens of each row that are not special; epochs: of
    all rows, or of each, int64 (E,); limit: the most, 0 for none. This holds for units of one token whose number is
    rounded; for others see `Masker.count`.
    """
    fraction = (bits(key(seed, NUMBER_PURPOSE), epochs, example_ids) >> np.uint64(32)).astype(np.int64)
    number = np.minimum(np.maximum((available * law.rate + fraction) >> 32, 1), available)
    if not limit:
        return number, 0
    return np.minimum(number, limit), int((number > limit).sum())


@lru_cache(maxsize=8)
def seed_keys(seed: int) -> Any:
    """Return the keys of a seed for `PURPOSES`, uint64 (7,); with an epoch they are those of its draws."""
    return np.array([key(seed, purpose) for purpose in PURPOSES], np.uint64)
