"""Rotary positions (Su et al. 2021, section 3.2): queries and keys are turned by angles that grow with the position.

A score then depends on the distance of two tokens and not on where they are. As in transformers, the dimension d of a
head is turned together with d + size / 2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.exporting import is_traced


class Rotation(NamedTuple):
    """The cosines and sines of the angles of positions, float32 (N, 1, L, size), or (1, 1, L, size) for all rows."""

    cos: Tensor
    sin: Tensor

    def turned(self, states: Tensor) -> Tensor:
        """Return queries or keys (N, heads, L, size) turned by the angles; computed in float32."""
        if torch.compiler.is_compiling() or is_traced():  # the compiler joins the gradient of the formula with the rest
            return _turned(states, self.cos, self.sin, 1)
        result: Tensor = _Turn.apply(states, self.cos, self.sin)  # type: ignore[no-untyped-call]
        return result


class _Turn(torch.autograd.Function):
    """Turns states; the gradient is turned back, so nothing of the states is kept for it."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        ctx.save_for_backward(cos, sin)
        return _turned(states, cos, sin, 1)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None, None]:
        cos, sin = ctx.saved_tensors
        return _turned(slopes[0], cos, sin, -1), None, None


def _turned(states: Tensor, cos: Tensor, sin: Tensor, sign: int) -> Tensor:
    """Return states turned by the angles, or by their negatives where the sign is -1."""
    wide, half = states.float(), states.shape[-1] // 2
    first, second = wide[..., :half], wide[..., half:]
    turned = wide * cos
    turned[..., :half].addcmul_(second, sin[..., :half], value=-sign)
    turned[..., half:].addcmul_(first, sin[..., half:], value=sign)
    return turned.to(states.dtype)


def rotation(positions: Tensor, size: int, theta: float) -> Rotation:
    """Return the rotation of positions, int64 (N, L), for heads of an even size; theta: the base.

    The dimensions d and d + size / 2 are turned by position / theta ^ (2 d / size).

    >>> turn = rotation(torch.tensor([[0, 1]]), 2, 10000.0)
    >>> turn.turned(torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]]))
    tensor([[[[1.0000, 0.0000],
              [0.5403, 0.8415]]]])
    """
    half = torch.arange(0, size, 2, device=positions.device, dtype=torch.float32) / size
    angles = positions[:, None, :, None].float() * (1.0 / theta**half)
    both = torch.cat((angles, angles), dim=-1)
    return Rotation(both.cos(), both.sin())


def set_rope_theta(model: nn.Module, theta: float) -> None:
    """Give the configs of a model, and of its parts, another base of rotary positions; no weight depends on it.

    >>> from bertdata.torch import ModernBertConfig, ModernBertForMaskedLM
    >>> model = ModernBertForMaskedLM(ModernBertConfig.tiny(vocab_size=100, global_rope_theta=10_000.0))
    >>> set_rope_theta(model, 160_000.0)
    >>> model.model.config.global_rope_theta, model.model.config.local_rope_theta
    (160000.0, 10000.0)
    """
    for module in model.modules():
        config = getattr(module, "config", None)
        if isinstance(config, EncoderConfig) and config.rope_field:
            changes: dict[str, Any] = {config.rope_field: theta}
            module.config = replace(config, **changes)  # type: ignore[assignment]
