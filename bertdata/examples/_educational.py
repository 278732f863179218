"""Masking as its definition reads: one row at a time, one draw at a time, in plain Python.

Slow on purpose; for reading, and for checking `masking.mask_tokens`, with which it shares no code: the draws are
written out on Python integers too. No checks of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from bertdata.config import MaskingConfig

_GOLDEN = 0x9E3779B97F4A7C15


def draw(seed: int, purpose: str, *counters: int) -> int:
    """Return the 64 bits that a seed, a purpose and counters name.

    >>> draw(0, "mask position", 1, 2) == draw(0, "mask position", 1, 2) != draw(0, "mask position", 2, 1)
    True
    """
    state = int.from_bytes(blake2b(f"{seed}\x1f{purpose}".encode(), digest_size=8).digest(), "little")
    for counter in counters:
        state = _mix(state ^ _mix(counter + _GOLDEN))
    return state


def _mix(x: int) -> int:
    """One step of SplitMix64 (Steele, Lea and Flood, 2014)."""
    x = (x + _GOLDEN) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def mask_row(
    input_ids: Sequence[int],
    special: Sequence[bool],
    example_id: int,
    *,
    config: MaskingConfig,
    seed: int,
    epoch: int,
    mask_token_id: int,
    replacement_ids: Sequence[int],
) -> tuple[list[int], list[int], bool]:
    """Return what `mask_tokens` makes of one row: its ids, its labels, whether `max_predictions_per_seq` bit.

    >>> mask_row([2, 9, 8, 7, 3], [True, False, False, False, True], 77, config=MaskingConfig(), seed=0, epoch=0,
    ...     mask_token_id=4, replacement_ids=range(5, 10))
    ([2, 9, 4, 7, 3], [-100, -100, 8, -100, -100], False)
    """
    candidates = [position for position in range(len(input_ids)) if not special[position]]

    fraction = draw(seed, "mask number", epoch, example_id) >> 32
    wanted = (len(candidates) * round(config.masked_lm_prob * 2**32) + fraction) // 2**32
    number = min(max(wanted, 1), len(candidates))
    limit = config.max_predictions_per_seq or number
    capped, number = number > limit, min(number, limit)

    candidates.sort(key=lambda position: draw(seed, "mask position", epoch, example_id, position))
    masked, labels = list(input_ids), [-100] * len(input_ids)
    for position in candidates[:number]:
        labels[position] = input_ids[position]
        action = draw(seed, "mask action", epoch, example_id, position) >> 32
        if action < round(config.mask_token_prob * 2**32):
            masked[position] = mask_token_id
        elif action < round((config.mask_token_prob + config.random_token_prob) * 2**32):
            choice = draw(seed, "mask replacement", epoch, example_id, position) >> 32
            masked[position] = replacement_ids[choice * len(replacement_ids) // 2**32]
    return masked, labels, capped
