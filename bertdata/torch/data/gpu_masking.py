"""`DeviceCollator`: masks drawn on the device, bit for bit the same as on the CPU; two bytes a token cross the bus.

The collator sends ids without masks, uint16, and what determines their masks; `finish` makes the batch where the
tensors are. Not every device has unsigned 64-bit arithmetic, so the draws of `counter_rng` are written here on int64,
whose overflow wraps in the same way. `mask_units` splits rows into words, n-grams and spans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertdata.counter_rng import key, threshold
from bertdata.errors import ConfigError
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.units import unit_thresholds
from bertdata.torch.data.dataset import PretrainingCollator
from bertdata.torch.data.mask_units import split_rows, take


class DeviceCollator(PretrainingCollator):
    """Makes small batches to send, and from them, on the device, the batches of `PretrainingCollator`.

    A small batch holds input_ids uint16 (N, L) (int32 for large vocabularies), lengths and second_segments int32 (N,)
    (the position from which token types are 1), example_ids and epochs int64 (N,), and the pair label. Settings are
    those of `PretrainingCollator`; raises ConfigError for packing and static masks.

        collator = DeviceCollator(dataset)
        for small in DataLoader(dataset, batch_sampler=sampler, collate_fn=collator, pin_memory=True):
            batch = collator.finish({name: tensor.to("cuda", non_blocking=True) for name, tensor in small.items()})
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        for wrong, why in (
            (self.static, "the masks of these shards are static: written into them"),
            (self.packing, "packing is done on the CPU"),
        ):
            if wrong:
                raise ConfigError(f"masks cannot be drawn on the device: {why}; use PretrainingCollator")

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """Return the small batch of some examples; raises ConfigError as `PretrainingCollator` does."""
        return {name: torch.from_numpy(array) for name, array in self.unmasked(examples).items()}

    def finish(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the batch of a small one, int64, on the same device."""
        ids, lengths = batch["input_ids"].long(), batch["lengths"].long()[:, None]
        place = torch.arange(ids.shape[1], device=ids.device)
        taken = place < lengths
        special = (ids == self.info.cls_token_id) | (ids == self.info.sep_token_id) | ~taken
        masked, labels = mask_tokens(ids, special, batch["example_ids"], batch["epochs"], self.masker)
        whole = {
            "input_ids": masked,
            "token_type_ids": ((place >= batch["second_segments"].long()[:, None]) & taken).long(),
            "attention_mask": taken.long(),
            "labels": labels,
        }
        return whole | {name: batch[name] for name in self.info.scalar_columns.values()}


def mask_tokens(
    input_ids: Tensor, special: Tensor, example_ids: Tensor, epochs: Tensor, masker: Masker
) -> tuple[Tensor, Tensor]:
    """Return masked ids and labels, int64 (N, L), as `Masker.mask` draws them.

    special: bool (N, L), True at [CLS], [SEP] and padding; example_ids, epochs: int64 (N,).
    """
    config = masker.config
    rows = (epochs[:, None], example_ids[:, None])
    place = torch.arange(input_ids.shape[1], device=input_ids.device)[None]

    def draw(purpose: str, *counters: Tensor) -> Tensor:
        return tensor_bits(key(masker.seed, f"mask {purpose}"), *rows, *counters)

    share, limit = threshold(config.masked_lm_prob), config.max_predictions_per_seq
    fraction = shifted(draw("number"), 32)
    draws, head = draw("position", place) ^ _LOWEST, place.expand_as(input_ids)
    if masker.by_token:
        available = (~special).sum(1, keepdim=True)
        wanted = torch.minimum(((available * share + fraction) >> 32).clamp(min=1), available)
        wanted = wanted.clamp(max=limit) if limit else wanted
        order = draws.masked_fill(special, ~_LOWEST).argsort(dim=1, stable=True)
        rank = torch.empty_like(order).scatter_(1, order, head)
        chosen = (rank < wanted) & ~special
    else:
        thresholds = torch.from_numpy(unit_thresholds(config).astype(np.int64)).to(input_ids.device)
        drawn, window = shifted(draw("length", place), 32), shifted(draw("window"), 32)
        continuation = _on(input_ids.device, masker, "continues_word")
        units = split_rows(input_ids, special, continuation, drawn, thresholds, share, limit)
        counts = take(units, draws.gather(1, units.first), window, fraction, share, limit)
        first = units.first.gather(1, units.of)
        chosen = (place - first < counts.gather(1, units.of)) & ~special
        head = first if config.replace_unit == "unit" else head

    action = shifted(draw("action", head), 32)
    to_mask = threshold(config.mask_token_prob)
    to_random = threshold(config.mask_token_prob + config.random_token_prob)
    masked = torch.where(chosen & (action < to_mask), masker.mask_token_id, input_ids)
    if len(masker.choices):
        replacement_ids = _on(input_ids.device, masker, "choices")
        choice = (shifted(draw("replacement", place), 32) * len(replacement_ids)) >> 32
        masked = torch.where(chosen & (action >= to_mask) & (action < to_random), replacement_ids[choice], masked)
    return masked, torch.where(chosen, input_ids, IGNORE_INDEX)


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
