"""Dropout as a function of the seed, the step and the tokens of a row, however a batch is split.

torch draws dropout from one stream for each process, so what it drops of a row depends on the other rows and on the
process. `Draws` gives each token a number that depends only on the seed, the step, the token's position and the masked
tokens of its own row. Each use of dropout in a forward pass derives a stream from it (SplitMix's construction on 32
bits: a counter, then a mixer), with 16 bits for each activation. So padding, packing, gradient accumulation and the
number of processes do not change what is dropped. Only the dropout of attention on CUDA does depend on them: it is
torch's own, inside its fused kernels, unless `Draws.explicit`.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from bertdata.counter_rng import bits, key
from bertdata.torch.data.gpu_masking import shifted, signed, tensor_bits
from bertdata.torch.models.places import sequence_of_each

_GOLDEN = 0x9E3779B97F4A7C15
_SPREAD = signed(0xD1B54A32D192ED03)
_STEP, _M1, _M2 = (number - (1 << 32) for number in (0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35))
_LEVELS = 1 << 16


class Draws:
    """The random numbers of a model's dropout; call `begin` with each batch before the forward pass.

    tokens: int64 (N, L), or (1, T) for packed rows, a number for each token; first: int64 (N,), those of [CLS];
    explicit: whether they determine the dropout of attention on CUDA, too.

        draws = attached(model)
        for step, batch in enumerate(loader, 1):
            draws.begin(batch, seed, step)
            model(**batch).loss.backward()
    """

    def __init__(self) -> None:
        self.tokens = self.first = torch.zeros(0, dtype=torch.int64)
        self.uses = 0
        self.explicit = False

    def begin(self, batch: Mapping[str, Tensor], seed: int, step: int) -> None:
        """Number the tokens of a padded or packed batch."""
        ids, use = batch["input_ids"], int(bits(key(seed, "dropout"), step))
        self.uses = 0
        if (offsets := batch.get("cu_seqlens")) is not None:
            place, number = batch["position_ids"][0], sequence_of_each(offsets, ids.shape[1])
            nothing = torch.zeros(len(offsets) - 1, dtype=torch.int64, device=ids.device)
            contents = nothing.scatter_add_(0, number, tensor_bits(use, ids[0], place))
            self.tokens = tensor_bits(use, contents[number], place)[None]
            self.first = self.tokens[0, offsets[:-1].long()]
            return
        place = torch.arange(ids.shape[1], device=ids.device)
        contents = tensor_bits(use, ids, place)
        if "attention_mask" in batch:
            contents = contents * batch["attention_mask"]
        self.tokens = tensor_bits(use, contents.sum(1, keepdim=True), place)
        self.first = self.tokens[:, 0]

    def next(self, tokens: Tensor) -> Tensor:
        """Return the numbers of tokens for the next use in this forward pass, int64."""
        self.uses += 1
        return tokens ^ signed(self.uses * _GOLDEN)

    def heads(self, count: int) -> Tensor:
        """Return the numbers of each token for each of `count` heads, int64 (N, count, L)."""
        return torch.stack([self.next(self.tokens) for _ in range(count)], dim=1)

    def attention(self, count: int, device: torch.device) -> Tensor | None:
        """Return the numbers for the dropout of attention, as `heads` does; None where torch's fused kernels draw it.

        That is on CUDA, unless `explicit`.
        """
        return self.heads(count) if self.explicit or device.type != "cuda" else None

    def dropped(self, hidden: Tensor, probability: float) -> Tensor:
        """Return hidden states (N, L, H), or pooled ones (N, H), after dropout."""
        tokens = self.next(self.tokens if hidden.ndim == 3 else self.first)
        return torch.where(kept(tokens, hidden.shape[-1], probability), hidden, 0.0) * scale(probability)

    def uniform(self) -> Tensor:
        """Return a number between 0 and 1 for each token, float64, in the shape of `tokens`."""
        return (shifted(self.next(self.tokens) * _SPREAD, 32) + 0.5) / (1 << 32)


class Dropout(nn.Dropout):
    """Dropout by `draws` where they are attached, else by torch's generator."""

    draws: Draws | None = None

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        if self.draws is None or not self.training or not self.p:
            return super().forward(input)
        return self.draws.dropped(input, self.p)


def attached(model: nn.Module) -> Draws:
    """Let the `Draws` returned determine all dropout of a model, and the tokens that ELECTRA's generator fills in."""
    draws = Draws()
    for module in model.modules():
        if hasattr(module, "draws"):
            module.draws = draws  # type: ignore[assignment]
    return draws


def kept(tokens: Tensor, count: int, probability: float) -> Tensor:
    """Return which of `count` activations of each token are kept, bool (*tokens.shape, count).

    >>> round(kept(torch.arange(1000), 64, 0.25).float().mean().item(), 2)
    0.75
    """
    stream = shifted((tokens ^ shifted(tokens, 29)) * _SPREAD, 32).int()
    counter = torch.arange((count + 1) // 2, dtype=torch.int32, device=tokens.device) * _STEP
    word = stream[..., None] + counter
    for shift, factor in ((16, _M1), (13, _M2)):
        word ^= (word >> shift) & ((1 << (32 - shift)) - 1)
        word *= factor
    word ^= (word >> 16) & 0xFFFF
    return (word.view(torch.int16) >= _dropped_levels(probability) - _LEVELS // 2)[..., :count]


def scale(probability: float) -> float:
    """Return the factor of kept activations, with which their expectation is unchanged.

    >>> scale(0.5)
    2.0
    """
    return _LEVELS / (_LEVELS - _dropped_levels(probability))


def _dropped_levels(probability: float) -> int:
    return min(round(probability * _LEVELS), _LEVELS - 1)
