"""Masks drawn with torch, also on a GPU, bit for bit the same as those of `bertdata.masking`.

Not every device has unsigned 64-bit arithmetic, so the draws of `counter_rng` are written here on int64, whose overflow
wraps in the same way. `mask_units` splits rows into words, n-grams and spans.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bertdata.counter_rng import key
from bertdata.masking import rate_draws, turns
from bertdata.masking.draws import shares_of
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.smoothing import SEGMENTS
from bertdata.masking.units import unit_thresholds
from bertdata.torch.data.mask_units import continuing, places_of, split_rows, take


def mask_tokens(
    input_ids: Tensor,
    special: Tensor,
    example_ids: Tensor,
    epochs: Tensor,
    masker: Masker,
    word_starts: Tensor | None = None,
    levels: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return masked ids and labels, int64 (N, L), as `Masker.mask` draws them.

    special: bool (N, L), True at [CLS], [SEP] and padding; example_ids, epochs: int64 (N,); word_starts: bool (N, L),
    True where a word begins, needed where units are whole words and an id alone does not tell; levels: those of the
    run, 0 to 1000, int64 (N,), needed where a schedule changes the rates.
    """
    config = masker.config
    rows = (epochs[:, None], example_ids[:, None])
    place = torch.arange(input_ids.shape[1], device=input_ids.device)[None]

    def draw(purpose: str, *counters: Tensor, rows: tuple[Tensor, ...] = rows) -> Tensor:
        return tensor_bits(key(masker.seed, f"mask {purpose}"), *rows, *counters)

    share, to_mask, to_random = _shares(masker, levels)
    if config.mask_rate_draw:
        share = row_shares(example_ids, epochs, masker)[:, None]
    limit = config.max_predictions_per_seq
    fraction = shifted(draw("number"), 32)
    position, head = draw("position", place), place.expand_as(input_ids)
    draws = position ^ _LOWEST
    if masker.by_token:
        available = (~special).sum(1, keepdim=True)
        wanted = torch.minimum(((available * share + fraction) >> 32).clamp(min=1), available)
        wanted = wanted.clamp(max=limit) if limit else wanted
        if masker.config.mask_smoothing:
            draws = weighed(shifted(position, 32), input_ids, masker)
        order = draws.masked_fill(special, ~_LOWEST).argsort(dim=1, stable=True)
        rank = torch.empty_like(order).scatter_(1, order, head)
        chosen = (rank < wanted) & ~special
        if config.mask_number == "independent":
            chosen = (shifted(position, 32) < share) & ~special
    else:
        thresholds = torch.from_numpy(unit_thresholds(config).astype(np.int64)).to(input_ids.device)
        in_turn = turns_of(example_ids, epochs, masker, levels) if config.mask_in_turn else None
        if in_turn is not None:
            rows, share = (in_turn.rounds, example_ids[:, None]), in_turn.share
            draws = draw("position", place, rows=rows) ^ _LOWEST
        drawn = shifted(draw("length", place, rows=rows), 32)
        if word_starts is None or not masker.by_words:
            continues = continuing(input_ids, _on(input_ids.device, masker, "continues_word"))
        else:
            continues = ~word_starts
        units = split_rows(special, continues, drawn, thresholds, share, limit)
        around = places_of(units)
        if in_turn is None:
            window, wanted = (shifted(draw("window"), 32) * around) >> 32, (around * share + fraction) >> 32
        else:
            window, end = (_divided(part * around, in_turn.parts) for part in (in_turn.part, in_turn.part + 1))
            wanted = torch.maximum(((end - window) * in_turn.reach + fraction) >> 32, units.most)
        wanted = torch.minimum(wanted.clamp(min=1), around)
        counts = take(units, draws.gather(1, units.first), window, wanted, limit)
        first = units.first.gather(1, units.of)
        chosen = (place - first < counts.gather(1, units.of)) & ~special
        head = first if config.replace_unit == "unit" else head

    action = shifted(draw("action", head), 32)
    masked = torch.where(chosen & (action < to_mask), masker.mask_token_id, input_ids)
    if len(masker.choices):
        replacement_ids = _on(input_ids.device, masker, "choices")
        choice = (shifted(draw("replacement", place), 32) * len(replacement_ids)) >> 32
        masked = torch.where(chosen & (action >= to_mask) & (action < to_random), replacement_ids[choice], masked)
    return masked, torch.where(chosen, input_ids, IGNORE_INDEX)


def row_shares(example_ids: Tensor, epochs: Tensor, masker: Masker) -> Tensor:
    """Return the rate of each row in units of 2**-32, int64 (N,), as `bertdata.masking.rate_draws.row_shares` does."""
    times = shifted(tensor_bits(key(masker.seed, rate_draws.PURPOSE), epochs, example_ids), 32)
    if masker.config.mask_number == "independent" and rate_draws.covers_all(masker.config):
        times = rate_draws.FIRST + shifted(times * ((1 << 32) - rate_draws.FIRST), 32)
    table = _on(example_ids.device, masker, "rate_table")
    piece, part = times >> rate_draws.PART_BITS, times & ((1 << rate_draws.PART_BITS) - 1)
    below = table[piece]
    return below + ((table[piece + 1] - below) * part >> rate_draws.PART_BITS)


class TensorTurns(NamedTuple):
    """`bertdata.masking.turns.Turns` of rows as int64 (N, 1); share: of the places, the most that a unit has."""

    rounds: Tensor
    part: Tensor
    parts: Tensor
    reach: Tensor
    share: Tensor


def turns_of(example_ids: Tensor, epochs: Tensor, masker: Masker, levels: Tensor | None) -> TensorTurns:
    """Return where rows are in their epochs, as `bertdata.masking.turns.turns_of` does; arguments as `mask_tokens`."""
    whole = masker.schedule or masker.config
    reaches, length = turns.reaches_of(whole), turns.epochs_of_round(whole)
    drawn = shifted(tensor_bits(key(masker.seed, turns.PURPOSE), example_ids), 32)
    epochs = epochs % turns.EPOCHS
    rounds = _divided(((epochs + 1) << 32) - 1 - drawn, length)
    begin, end = (rounds * length + drawn) >> 32, ((rounds + 1) * length + drawn) >> 32
    if levels is not None and masker.config.mask_schedule:
        reach = torch.from_numpy(reaches).to(levels.device)[levels]
    else:
        rate = masker.config.masked_lm_prob
        reach = torch.full_like(rounds, turns.reach_of(rate, whole) if masker.schedule else turns.ONE)
    share = _divided(torch.full_like(rounds, int(reaches.min())), end - begin)
    columns = (rounds, epochs - begin, end - begin, reach, share)
    return TensorTurns(*(column[:, None] for column in columns))


def _divided(numbers: Tensor, by: Tensor | int) -> Tensor:
    return torch.div(numbers, by, rounding_mode="floor")


def weighed(draws: Tensor, input_ids: Tensor, masker: Masker) -> Tensor:
    """Return the numbers by which tokens are drawn by weights, int64 (N, L), as `bertdata.masking.smoothing` has them.

    draws: of 32 bits, int64 (N, L); input_ids: int64 (N, L).
    """
    table, delays = (_on(input_ids.device, masker, name) for name in ("spread_table", "delays"))
    side = (draws >= 1 << 31).long()
    size = 2 * torch.where(side > 0, (1 << 32) - 1 - draws, draws) + 1
    power = torch.bucketize(size, 1 << torch.arange(1, 33, device=size.device), right=True)
    rest = (size << (31 - power)) - (1 << 31)
    bits = 31 - SEGMENTS
    entry = side * table.shape[1] + (power << SEGMENTS) + (rest >> bits)
    below, above = table.flatten()[entry], table.flatten()[entry + 1]
    in_vocabulary = (input_ids >= 0) & (input_ids < len(delays))
    delay = delays[input_ids.clamp(0, len(delays) - 1)]
    return below + ((above - below) * (rest & ((1 << bits) - 1)) >> bits) + torch.where(in_vocabulary, delay, 0)


def _shares(masker: Masker, levels: Tensor | None) -> tuple[Any, Any, Any]:
    """Return the thresholds of being predicted, of [MASK], and of [MASK] or a random token: int, or int64 (N, 1)."""
    if levels is None or not masker.config.mask_schedule:
        predicted, mask, random = shares_of(masker.config).tolist()
        return predicted, mask, random
    columns = _on(levels.device, masker, "level_shares")[levels].T[..., None]
    return columns[0], columns[1], columns[2]


@lru_cache(maxsize=8)
def _on(device: torch.device, masker: Masker, name: str) -> Tensor:
    """Return an array of a masker on a device; it is sent there once."""
    return torch.from_numpy(np.array(getattr(masker, name))).to(device)


_LOWEST = -(1 << 63)


def signed(value: int) -> int:
    """Return the int64 with the same 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


_GOLDEN, _M1, _M2 = (signed(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def tensor_bits(key: int, *counters: Tensor) -> Tensor:
    """Return the draws of `bertdata.counter_rng.bits` as int64 of the same bits."""
    state: Tensor | int = signed(key)
    for counter in counters:
        state = _mix(_mix(counter + _GOLDEN) ^ state)
    assert isinstance(state, Tensor)
    return state


def _mix(x: Tensor) -> Tensor:
    x = x + _GOLDEN
    x = (x ^ shifted(x, 30)) * _M1
    x = (x ^ shifted(x, 27)) * _M2
    return x ^ shifted(x, 31)


def shifted(x: Tensor, by: int) -> Tensor:
    """Shift right as an unsigned number, with zeros from the left."""
    return (x >> by) & ((1 << (64 - by)) - 1)
