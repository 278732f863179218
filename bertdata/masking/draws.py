"""What the draws of a mask are made from: the thresholds of its rates, and a key for each purpose."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.counter_rng import bits, key, threshold
from bertdata.errors import ConfigError
from bertdata.masking.rate_draws import row_shares
from bertdata.masking.settings import MaskingConfig

_PURPOSES = (
    *("mask number", "mask position", "mask length", "mask window", "mask action", "mask replacement"),
    "mask similar word",
)


@lru_cache(maxsize=64)
def shares_of(config: MaskingConfig) -> NDArray[np.uint64]:
    """Return the thresholds of being predicted, of [MASK], and of [MASK] or a random token, uint64 (3,).

    Raises ConfigError for settings with a schedule, which have them at a level only.
    """
    if config.mask_schedule:
        raise ConfigError(
            f"the rates change during the run ({config.rate_text}), and the position is not known; take "
            "`Masker.at(level)`, the level 0 to 1000"
        )
    of_actions = config.mask_token_prob, config.mask_token_prob + config.random_token_prob
    return np.array([threshold(share) for share in (config.masked_lm_prob, *of_actions)], np.uint64)


@lru_cache(maxsize=64)
def epoch_keys(seed: int, epoch: int) -> NDArray[np.uint64]:
    """Return the keys of the draws of an epoch, uint64 (7,), in the order of `masking_kernel`'s places."""
    return bits(seed_keys(seed), epoch)


@lru_cache(maxsize=8)
def seed_keys(seed: int) -> NDArray[np.uint64]:
    """Return the keys of a seed, uint64 (7,), from which those of an epoch are made."""
    return np.array([key(seed, purpose) for purpose in _PURPOSES], np.uint64)


def number_of_predictions(
    available: Ints, example_ids: Ints, config: MaskingConfig, seed: int, epoch: int | Ints
) -> tuple[Ints, int]:
    """Return how many tokens of each row are predicted, int64 (E,), and how many rows the limit shortened.

    0.15 n is rounded up or down by a draw; `available` is n, the tokens of each row that are not special; epoch: one,
    or that of each row, int64 (E,). This holds for units of one token whose number is rounded; for others see
    `Masker.count`.
    """
    drawn = row_shares(config, seed, example_ids, epoch) if config.mask_rate_draw else None
    share = shares_of(config)[0] if drawn is None else drawn.astype(np.uint64)
    fraction = bits(key(seed, "mask number"), epoch, example_ids) >> np.uint64(32)
    number = ((available.astype(np.uint64) * share + fraction) >> np.uint64(32)).astype(np.int64)
    number = np.minimum(np.maximum(number, 1), available)
    if not config.max_predictions_per_seq:
        return number, 0
    return np.minimum(number, config.max_predictions_per_seq), int((number > config.max_predictions_per_seq).sum())
