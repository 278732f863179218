"""Linear layers of the same input as one product of matrices, which reads the input once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


def side_by_side(hidden: Tensor, layers: Sequence[nn.Module]) -> Sequence[Tensor]:
    """Return what each of some layers of one size makes of hidden states, (..., in) to (..., out) each.

    Where all are plain `nn.Linear` without hooks, their weights are put together for one product. Where something else
    is in the place of one, as an adapter, each is called as it is.

    >>> layers = [nn.Linear(2, 3), nn.Linear(2, 3)]
    >>> first, second = side_by_side(torch.ones(1, 2), layers)
    >>> torch.allclose(first, layers[0](torch.ones(1, 2)))
    True
    """
    if not all(_is_plain(layer) for layer in layers):
        return [layer(hidden) for layer in layers]
    weight = torch.cat([layer.weight for layer in layers])  # type: ignore[misc]
    bias = torch.cat([layer.bias for layer in layers])  # type: ignore[misc]
    return functional.linear(hidden, weight, bias).chunk(len(layers), dim=-1)


def _is_plain(layer: nn.Module) -> bool:
    hooks = (layer._forward_hooks, layer._forward_pre_hooks, layer._backward_hooks, layer._backward_pre_hooks)
    return type(layer) is nn.Linear and layer.bias is not None and not any(hooks)
