"""The cross-entropy of a large vocabulary in chunks of tokens, so that the logits of all are never there at once.

ModernBERT-base on 65,536 tokens of which 30% are masked has logits of 4 GB in float32, and as much again for their
gradient. Here the logits of a chunk are made, their loss and their gradient are taken, and they are forgotten; the
products of matrices are the same. What is kept are the gradients of states, weight and bias, the last two summed in
float32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class ChunkedLoss(NamedTuple):
    """total: scalar, float32, the sum of the cross-entropies, by their weights where there are any; right: int64, how
    many targets have the largest logit; plain: scalar, float32, the sum without weights, which has no gradient."""

    total: Tensor
    right: Tensor
    plain: Tensor


def chunked_cross_entropy(
    states: Tensor, decoder: nn.Linear, targets: Tensor, rows: int, weights: Tensor | None = None
) -> ChunkedLoss:
    """Return the cross-entropy of `decoder(states)` at targets.

    states: (M, H); targets: int64 (M,), from 0 on; rows: how many of the M are in a chunk; weights: of the targets,
    float32 (M,). It computes in the type that autocast would, as `nn.Linear`.

    >>> decoder = nn.Linear(2, 3)
    >>> states, targets = torch.ones(4, 2), torch.tensor([0, 1, 2, 0])
    >>> expected = functional.cross_entropy(decoder(states), targets, reduction="sum")
    >>> torch.allclose(chunked_cross_entropy(states, decoder, targets, 3).total, expected)
    True
    """
    device = states.device.type
    kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else states.dtype
    total, right, plain = _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        states, decoder.weight, decoder.bias, targets, weights, rows, kind
    )
    return ChunkedLoss(total, right, plain)


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Takes all gradients in the forward pass, and scales them in the backward pass."""

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor,
        targets: Tensor,
        weights: Tensor | None,
        rows: int,
        kind: torch.dtype,
    ) -> tuple[Tensor, Tensor, Tensor]:
        wanted = any(ctx.needs_input_grad)
        narrow, narrow_bias = weight.to(kind), bias.to(kind)
        total, plain = (torch.zeros((), device=states.device) for _ in range(2))
        right = torch.zeros((), dtype=torch.int64, device=states.device)
        of_states = torch.empty_like(states) if wanted else None
        of_weight, of_bias = (
            torch.zeros_like(parameter, dtype=torch.float32) if wanted else None for parameter in (weight, bias)
        )
        with torch.autocast(states.device.type, enabled=False):
            for first in range(0, len(states), rows):
                some, wished = states[first : first + rows].to(kind), targets[first : first + rows, None]
                logits = functional.linear(some, narrow, narrow_bias).float()
                right += (logits.argmax(-1, keepdim=True) == wished).sum()
                shares = logits.log_softmax(-1)
                picked, weighs = (
                    shares.gather(1, wished),
                    None if weights is None else weights[first : first + rows, None],
                )
                plain -= picked.sum()
                total -= (picked if weighs is None else picked * weighs).sum()
                if of_states is None or of_weight is None or of_bias is None:
                    continue
                slope = shares.exp_().scatter_add_(1, wished, torch.full_like(wished, -1, dtype=shares.dtype))
                slope = slope if weighs is None else slope.mul_(weighs)
                of_bias += slope.sum(0)
                narrow_slope = slope.to(kind)
                of_states[first : first + rows] = narrow_slope @ narrow
                of_weight += narrow_slope.T @ some
        ctx.save_for_backward(of_states, of_weight, of_bias)
        ctx.kinds = (weight.dtype, bias.dtype)
        ctx.mark_non_differentiable(right, plain)
        return total, right, plain

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        of_states, of_weight, of_bias = ctx.saved_tensors
        slope, (weight_kind, bias_kind) = slopes[0], ctx.kinds
        return (
            of_states * slope.to(of_states.dtype),
            (of_weight * slope).to(weight_kind),
            (of_bias * slope).to(bias_kind),
            None,
            None,
            None,
            None,
        )
