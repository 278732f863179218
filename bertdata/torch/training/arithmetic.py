"""The arithmetic of a training: float32, or bfloat16 or float16 under autocast; weights are float32 in each.

The gradients of float16 are so small that many would be 0. So the loss is multiplied by a scale before the backward
pass, and gradients are divided by it (torch's `GradScaler`): it is halved after an update that overflowed, which is
left out, and doubled after 2,000 that did not.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn

from bertdata.torch.models.norm import use_wide_norms
from bertdata.torch.models.pretraining import MaskedLanguageModel
from bertdata.torch.training.optimization import DivergenceError, update
from bertdata.torch.training.settings import TrainingSettings

_SCALE, _OVERFLOWS = "loss_scale", "overflows"
_LOWEST_SCALE = 1.0
_MOST_LOGITS = 1 << 27
"""Half a gigabyte of float32; the logits of BERT-base are as many at 4,400 labelled tokens."""


def autocast(settings: TrainingSettings, device: torch.device) -> AbstractContextManager[None]:
    """Return the context of a forward pass."""
    kind = torch.float16 if settings.fp16 else torch.bfloat16
    return torch.autocast(device.type, kind, enabled=settings.fp16 or settings.bf16)


class Arithmetic:
    """How a model computes on a device, as `settings` say; `optimizer`: in whose first group the loss scale is kept."""

    def __init__(self, settings: TrainingSettings, device: torch.device, optimizer: torch.optim.Optimizer) -> None:
        self.settings, self.device, self.optimizer = settings, device, optimizer
        self.scaler = torch.amp.GradScaler(device.type) if settings.fp16 else None
        if self.scaler is not None and (scale := optimizer.param_groups[0].get(_SCALE)):
            self.scaler.load_state_dict(scale)

    def autocast(self) -> AbstractContextManager[None]:
        """Return the context of a forward pass."""
        return autocast(self.settings, self.device)

    def backward(self, loss: Tensor) -> None:
        """Add the gradients of a loss, scaled where there is a scale."""
        (loss if self.scaler is None else self.scaler.scale(loss)).backward()  # type: ignore[no-untyped-call]

    def update(
        self, model: nn.Module, loss: float, rate: float, max_grad_norm: float, step: int, *spikes: Any
    ) -> float:
        """Update the weights as `optimization.update` does; where float16 has overflowed, leave the update out.

        Raises what that raises, and DivergenceError where even a loss that is not scaled overflows.
        """
        if self.scaler is None:
            return update(model, self.optimizer, loss, rate, max_grad_norm, step, *spikes)
        group = self.optimizer.param_groups[0]
        self.scaler.unscale_(self.optimizer)
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), float("inf")))
        if norm < float("inf"):
            norm = update(model, self.optimizer, loss, rate, max_grad_norm, step, *spikes)
        else:
            group[_OVERFLOWS] = group.get(_OVERFLOWS, 0) + 1
        self.scaler.update()
        group[_SCALE] = self.scaler.state_dict()
        if self.scaler.get_scale() < _LOWEST_SCALE:
            raise DivergenceError(
                f"float16 overflows at step {step}, though the loss is not scaled any more; take --bf16 where the "
                "device has it, lower the learning rate, or lengthen the warm-up; the last checkpoint is kept"
            )
        return norm

    @property
    def overflows(self) -> int:
        """The updates that were left out for an overflow of float16 so far."""
        return int(self.optimizer.param_groups[0].get(_OVERFLOWS, 0))


def set_precision(model: nn.Module, settings: TrainingSettings) -> None:
    """Have the norms and the loss of a model compute as `settings.precision` says."""
    if settings.precision == "reference":
        use_wide_norms(model)
        return
    for trained in (model, getattr(model, "masked_lm", None)):  # others read the logits
        if isinstance(trained, MaskedLanguageModel):
            trained.most_logits = _MOST_LOGITS
