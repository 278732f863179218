"""Which tokens of an example are predicted, and what stands in their place (BERT section 3.1, appendix A.1).

A mask is a function of the seed, the epoch (or static copy), the example's id and the position, so an example is masked
the same way on any worker and after any restart, and anew in every epoch. The share is of the tokens that are not
special ([CLS], [SEP], padding); the number in a row is rounded up or down at random so that its mean is exact, and is
at least one. The unit is the token: 80/10/10 is drawn for each. What this module does not do: whole words and spans.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.config import MaskingConfig
from bertdata.draws import below, bits, key, threshold

IGNORE_INDEX = -100

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Masked:
    """One masked batch, flat: ids with masks in place, and labels that are the original id or -100, both int64 (T,).

    capped: rows in which `max_predictions_per_seq` bit.
    """

    input_ids: Ints
    labels: Ints
    capped: int


def mask_tokens(
    input_ids: NDArray[np.integer],
    offsets: Ints,
    special: NDArray[np.bool_],
    example_ids: Ints,
    *,
    config: MaskingConfig,
    seed: int,
    epoch: int,
    mask_token_id: int,
    replacement_ids: NDArray[np.integer],
) -> Masked:
    """Mask the rows of a flat batch: row i is input_ids[offsets[i]:offsets[i+1]], special is True at [CLS] and [SEP].

    A row without ordinary tokens stays as it is.

    >>> row = np.array([2, 9, 8, 7, 3])
    >>> masked = mask_tokens(row, np.array([0, 5]), np.isin(row, [2, 3]), np.array([77]), config=MaskingConfig(),
    ...     seed=0, epoch=0, mask_token_id=4, replacement_ids=np.arange(5, 10))
    >>> masked.input_ids.tolist(), masked.labels.tolist()
    ([2, 9, 4, 7, 3], [-100, -100, 8, -100, -100])
    """
    lengths = np.diff(offsets)
    position = np.arange(len(input_ids), dtype=np.int64) - np.repeat(offsets[:-1], lengths)
    candidates = np.flatnonzero(~special)
    row = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)[candidates]
    available = np.bincount(row, minlength=len(lengths))
    number, capped = number_of_predictions(available, example_ids, config, seed, epoch)

    owner, place = example_ids[row], position[candidates]
    rank_draw = bits(key(seed, "mask position"), epoch, owner, place)
    order = np.lexsort((rank_draw, row))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(available) - available, available)
    chosen = np.sort(candidates[order[rank < number[row[order]]]])

    labels = np.full(len(input_ids), IGNORE_INDEX, np.int64)
    labels[chosen] = input_ids[chosen]
    masked = input_ids.astype(np.int64)
    owner = np.repeat(example_ids, lengths)[chosen]
    action = bits(key(seed, "mask action"), epoch, owner, position[chosen]) >> np.uint64(32)
    to_mask = threshold(config.mask_token_prob)
    to_random = threshold(config.mask_token_prob + config.random_token_prob)
    replaced = chosen[(action >= to_mask) & (action < to_random)]
    masked[chosen[action < to_mask]] = mask_token_id
    if len(replaced):
        draw = bits(key(seed, "mask replacement"), epoch, np.repeat(example_ids, lengths)[replaced], position[replaced])
        masked[replaced] = replacement_ids[below(draw, len(replacement_ids))]
    return Masked(masked, labels, capped)


def number_of_predictions(
    available: Ints, example_ids: Ints, config: MaskingConfig, seed: int, epoch: int
) -> tuple[Ints, int]:
    """Return how many tokens of each row are predicted, int64 (E,), and in how many rows the limit bit.

    The fraction left by 0.15 n is rounded up or down by a draw; `available` is n, the ordinary tokens of each row.
    """
    share = threshold(config.masked_lm_prob)
    fraction = bits(key(seed, "mask number"), epoch, example_ids) >> np.uint64(32)
    number = ((available.astype(np.uint64) * np.uint64(share) + fraction) >> np.uint64(32)).astype(np.int64)
    number = np.minimum(np.maximum(number, 1), available)
    if not config.max_predictions_per_seq:
        return number, 0
    return np.minimum(number, config.max_predictions_per_seq), int((number > config.max_predictions_per_seq).sum())
