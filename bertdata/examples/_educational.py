"""Masking as its definition reads: one row at a time, one draw at a time, in plain Python.

Slow on purpose; for reading, and for checking `masking.mask_tokens`, with which it shares nothing but the chances of
the units' lengths: the draws are written out on Python integers too. No checks of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

from bertdata.config import MaskingConfig
from bertdata.examples.masking import unit_thresholds

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
    continuation: Sequence[bool] = (),
) -> tuple[list[int], list[int], bool]:
    """Return what `mask_tokens` makes of one row: its ids, its labels, whether `max_predictions_per_seq` bit.

    >>> mask_row([2, 9, 8, 7, 3], [True, False, False, False, True], 77, config=MaskingConfig(), seed=0, epoch=0,
    ...     mask_token_id=4, replacement_ids=range(5, 10))
    ([2, 9, 4, 7, 3], [-100, -100, 8, -100, -100], False)
    """

    def high(purpose: str, *counters: int) -> int:
        return draw(seed, f"mask {purpose}", epoch, example_id, *counters) >> 32

    if config.random_tokens == "vocabulary":
        replacement_ids = range(len(continuation))
    units = part_row(input_ids, special, continuation, config, lambda place: high("length", place))
    units.sort(key=lambda unit: draw(seed, "mask position", epoch, example_id, unit[0]))
    tokens = sum(map(len, units))
    wanted = (tokens * round(config.masked_lm_prob * 2**32) + high("number")) // 2**32
    wanted = min(max(wanted, 1), tokens)
    limit = config.max_predictions_per_seq or tokens
    capped, wanted = wanted > limit, min(wanted, limit)

    window = 0 if config.mask_unit == "token" else high("window") * tokens // 2**32
    circle = sorted((((sum(map(len, units[:i])) - window) % max(tokens, 1)), unit) for i, unit in enumerate(units))
    chosen = [unit for distance, unit in circle if distance < wanted] or [unit for _, unit in circle[-1:]]

    masked, labels = list(input_ids), [-100] * len(input_ids)
    taken: list[list[int]] = []
    for unit in chosen:
        left = limit - sum(map(len, taken))
        if not left:
            break
        capped = capped or len(unit) > left
        if len(unit) <= left or not taken:
            taken.append(unit[:left])
    for unit in taken:
        for position in unit:
            labels[position] = input_ids[position]
            action = high("action", unit[0] if config.replace_unit == "unit" else position)
            if action < round(config.mask_token_prob * 2**32):
                masked[position] = mask_token_id
            elif action < round((config.mask_token_prob + config.random_token_prob) * 2**32):
                masked[position] = replacement_ids[high("replacement", position) * len(replacement_ids) // 2**32]
    return masked, labels, capped


def part_row(
    input_ids: Sequence[int],
    special: Sequence[bool],
    continuation: Sequence[bool],
    config: MaskingConfig,
    draw_length: Callable[[int], int],
) -> list[list[int]]:
    """Return the positions of each unit of a row, in order.

    >>> part_row([2, 9, 8, 7, 3], [True, False, False, False, True], [False] * 8 + [True, False],
    ...     MaskingConfig(mask_unit="word"), lambda place: 0)
    [[1, 2], [3]]
    """
    words: list[list[int]] = []
    for position, token in enumerate(input_ids):
        if special[position]:
            continue
        begins = position == 0 or special[position - 1] or not (token < len(continuation) and continuation[token])
        if begins or config.mask_unit == "token":
            words.append([])
        words[-1].append(position)
    units: list[list[int]] = []
    room = 0
    for word in words:
        if not room or special[word[0] - 1]:
            units.append([])
            drawn = draw_length(word[0])
            room = next(n for n, below in enumerate(unit_thresholds(config).tolist(), 1) if drawn < below)
        units[-1] += word
        room -= 1
    return units
