"""Layer normalisation that keeps bfloat16: what it takes and returns is as narrow as the layers around it compute in.

Under autocast torch returns float32 from a norm on CUDA. What follows it, sums of the residual stream and dropout, then
reads and writes twice as many bytes, and each linear layer narrows its input once more. `LayerNorm` takes and returns
bfloat16 there. Its kernel computes mean and variance in float32, so only its input and its result are rounded.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class LayerNorm(nn.LayerNorm):
    """A norm that returns bfloat16 under autocast to it; `wide`: that of torch, which may return float32.

    >>> norm = LayerNorm(4)
    >>> with torch.autocast("cpu", torch.bfloat16):
    ...     norm(torch.ones(2, 4)).dtype
    torch.bfloat16
    >>> norm(torch.ones(2, 4)).dtype
    torch.float32
    """

    wide = False

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        device = input.device.type
        if self.wide or not torch.is_autocast_enabled(device) or torch.get_autocast_dtype(device) != torch.bfloat16:
            return super().forward(input)
        with torch.autocast(device, enabled=False):
            weight, bias = (
                None if parameter is None else parameter.bfloat16() for parameter in (self.weight, self.bias)
            )
            return functional.layer_norm(input.bfloat16(), self.normalized_shape, weight, bias, self.eps)


def use_wide_norms(model: nn.Module) -> None:
    """Have the norms of a model compute as those of torch do."""
    for module in model.modules():
        if isinstance(module, LayerNorm):
            module.wide = True
