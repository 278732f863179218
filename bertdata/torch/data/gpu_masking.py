"""Masks drawn with torch, also on a GPU, bit for bit the same as those of `bertdata.masking`.

Not every device has unsigned 64-bit arithmetic, so the draws of `counter_rng` are written here on int64, whose overflow
wraps in the same way. `mask_units` splits rows into words, n-grams and spans.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from bertdata.counter_rng import key
from bertdata.masking.law import RowLaw
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
    law: RowLaw,
    word_starts: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return masked ids and labels, int64 (N, L), as `Masker.mask` draws them.

    special: bool (N, L), True at [CLS], [SEP] and padding; example_ids, epochs: int64 (N,); law: that of the rows, of
    tensors (N, 1) or numbers (see `RowLaw.of_columns`); word_starts: bool (N, L), True where a word begins, needed
    where units are whole words and an id alone does not tell.
    """
    config, turns = masker.config, law.turns
    place = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
    # units and their order are drawn anew in each epoch, or where positions are masked in turn in each round
    of_units = turns.rounds if law.in_turn else epochs[:, None]

    def draw(purpose: str, epochs: Tensor, *counters: Tensor) -> Tensor:
        return tensor_bits(key(masker.seed, f"mask {purpose}"), epochs, example_ids[:, None], *counters)

    limit, epochs = config.max_predictions_per_seq, epochs[:, None]
    fraction = shifted(draw("number", epochs), 32)
    position, head = draw("position", of_units, place), place.expand_as(input_ids)
    draws = position ^ _LOWEST
    if masker.by_token:
        available = (~special).sum(1, keepdim=True)
        wanted = torch.minimum(((available * law.rate + fraction) >> 32).clamp(min=1), available)
        wanted = wanted.clamp(max=limit) if limit else wanted
        if masker.config.mask_smoothing:
            draws = weighed(shifted(position, 32), input_ids, masker)
        order = draws.masked_fill(special, ~_LOWEST).argsort(dim=1, stable=True)
        rank = torch.empty_like(order).scatter_(1, order, head)
        chosen = (rank < wanted) & ~special
        if config.mask_number == "independent":
            chosen = (shifted(position, 32) < law.rate) & ~special
    else:
        thresholds = torch.from_numpy(unit_thresholds(config).astype(np.int64)).to(input_ids.device)
        drawn = shifted(draw("length", of_units, place), 32)
        if word_starts is None or not masker.by_words:
            continues = continuing(input_ids, _on(input_ids.device, masker, "continues_word"))
        else:
            continues = ~word_starts
        units = split_rows(special, continues, drawn, thresholds, turns.share if law.in_turn else law.rate, limit)
        around = places_of(units)
        if law.in_turn:
            window, end = (_divided(part * around, turns.parts) for part in (turns.part, turns.part + 1))
            wanted = torch.maximum(((end - window) * turns.reach + fraction) >> 32, units.most)
        else:
            window = (shifted(draw("window", epochs), 32) * around) >> 32
            wanted = (around * law.rate + fraction) >> 32
        wanted = torch.minimum(wanted.clamp(min=1), around)
        counts = take(units, draws.gather(1, units.first), window, wanted, limit)
        first = units.first.gather(1, units.of)
        chosen = (place - first < counts.gather(1, units.of)) & ~special
        head = first if config.replace_unit == "unit" else head

    action = shifted(draw("action", epochs, head), 32)
    masked = torch.where(chosen & (action < law.to_mask), masker.mask_token_id, input_ids)
    if len(masker.choices):
        replacement_ids = _on(input_ids.device, masker, "choices")
        choice = (shifted(draw("replacement", epochs, place), 32) * len(replacement_ids)) >> 32
        at_random = chosen & (action >= law.to_mask) & (action < law.to_random)
        masked = torch.where(at_random, replacement_ids[choice], masked)
    return masked, torch.where(chosen, input_ids, IGNORE_INDEX)


def _divided(numbers: Tensor, by: Tensor) -> Tensor:
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
