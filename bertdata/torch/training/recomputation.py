"""Gradient checkpointing: hidden states within a layer are not kept for the backward pass but computed again.

A layer then needs the memory of its input alone, for a third more operations. What dropout drops is a function of how
often it was used in the pass (`Draws`), so the count is set back for the second time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from bertdata.errors import ConfigError
from bertdata.torch.models.dropout import Draws
from bertdata.torch.models.encoder import Blocks
from bertdata.torch.models.from_transformers import TransformersModel


def recompute_layers(model: nn.Module, draws: Draws, *, compiled: bool = False) -> None:
    """Have each layer of a model's encoders computed again in the backward pass; compiled: compile it as well.

    Raises ConfigError where the model has no layers that can be.
    """
    reached = False
    for module in model.modules():
        if isinstance(module, TransformersModel):
            if not getattr(module.model, "supports_gradient_checkpointing", False):
                raise ConfigError(
                    f"{module.architecture} of transformers has no gradient checkpointing; leave "
                    "--gradient-checkpointing out, and take more --gradient-accumulation-steps"
                )
            name = "activation_checkpointing_enable"  # its name since transformers 5
            enable = getattr(module.model, name, None) or module.model.gradient_checkpointing_enable
            enable({"use_reentrant": False})
            reached = True
        elif isinstance(module, Blocks):
            for layer in dict.fromkeys(module.layers_in_order()):
                if not isinstance(layer.forward, _Recomputed):
                    compute = torch.compile(layer.forward) if compiled else layer.forward
                    layer.forward = _Recomputed(layer, compute)
                layer.forward.draws = draws
                reached = True
    if not reached:
        raise ConfigError("--gradient-checkpointing is for encoders of layers, and this model has none; leave it out")


def keep_layers(model: nn.Module) -> None:
    """Let the layers of bertdata's encoders keep their hidden states again."""
    for module in model.modules():
        if isinstance(module, Blocks):
            for layer in module.layers_in_order():
                vars(layer).pop("forward", None)


class _Recomputed:
    """The forward pass of a layer in training, which is made again in the backward pass."""

    draws: Draws

    def __init__(self, layer: nn.Module, compute: Callable[..., Any]) -> None:
        self.layer, self.compute = layer, compute

    def __call__(self, *inputs: Any) -> Any:
        if not (self.layer.training and torch.is_grad_enabled()):
            return self.compute(*inputs)
        uses = self.draws.uses

        def again(*inputs: Any) -> Any:
            self.draws.uses = uses
            return self.compute(*inputs)

        return checkpoint(again, *inputs, use_reentrant=False)
