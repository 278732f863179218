"""StableAdamW: AdamW whose update of each tensor is scaled down where it would be large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bertdata.torch.training.optimization import OptimizerKind


class StableAdamW(torch.optim.AdamW):
    """AdamW with the update clipping of AdaFactor (Wortsman et al. 2023, arXiv 2304.13013, section 3.5).

    The learning rate of a tensor is divided by max(1, RMS), where RMS is the root of the mean of g² / max(v, eps²), v
    being the corrected second moment. Where gradients suddenly grow, so that the second moment is far too small, RMS is
    over 1, and the update does not overshoot. So a run needs no clipping of gradients (`max_grad_norm=0`). Its state is
    that of torch's AdamW.

    >>> weight = torch.nn.Parameter(torch.ones(3))
    >>> optimizer = StableAdamW([weight], lr=0.1, weight_decay=0.0)
    >>> weight.grad = torch.full((3,), 2.0)
    >>> optimizer.step()
    >>> weight.tolist() == [torch.tensor(0.9).item()] * 3
    True
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters that have a gradient."""
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, parameter.grad, group)
        return loss

    def _update(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state, (beta1, beta2), eps = self.state[parameter], group["betas"], group["eps"]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        state["step"] += 1
        step, first, second = float(state["step"]), state["exp_avg"], state["exp_avg_sq"]
        first.lerp_(gradient, 1 - beta1)
        second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        corrected = second / (1 - beta2**step)
        rms = gradient.square().div_(corrected.clamp(min=eps**2)).mean().sqrt()
        rate = group["lr"] / rms.clamp(min=1.0)
        parameter.mul_(1 - rate * group["weight_decay"])
        parameter.sub_(rate * (first / (1 - beta1**step)) / (corrected.sqrt_().add_(eps)))


STABLE_ADAMW = OptimizerKind("AdamW whose updates are clipped, for runs without --max-grad-norm", StableAdamW)
