"""StableAdamW: AdamW whose update of each tensor is scaled down where it would be large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from bertdata.torch.training.optimization import OptimizerKind


class StableAdamW(torch.optim.AdamW):
    """AdamW with the update clipping of AdaFactor (Wortsman et al. 2023, arXiv 2304.13013, section 3.5).

    The learning rate of a tensor is divided by max(1, RMS), where RMS is the root of the mean of g² / max(v, eps²), v
    being the corrected second moment. Where gradients suddenly grow, so that the second moment is far too small, RMS is
    over 1, and the update does not overshoot. So a run needs no clipping of gradients (`max_grad_norm=0`). Its state is
    that of torch's AdamW. All tensors of a group are updated together, by torch's `_foreach` functions: on a GPU two
    kernels a tensor and some for all, in place of twenty a tensor.

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
            if any(parameter.grad is not None for parameter in group["params"]):
                self._update(group)
        return loss

    def _update(self, group: dict[str, Any]) -> None:
        parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
        gradients, (beta1, beta2), eps = [parameter.grad for parameter in parameters], group["betas"], group["eps"]
        for parameter in parameters:
            if not (state := self.state[parameter]):
                state["step"] = torch.tensor(0.0)
                state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
            state["step"] += 1
        states = [self.state[parameter] for parameter in parameters]
        first, second = ([state[name] for state in states] for name in ("exp_avg", "exp_avg_sq"))
        steps = [float(state["step"]) for state in states]
        torch._foreach_lerp_(first, gradients, 1 - beta1)
        torch._foreach_mul_(second, beta2)
        torch._foreach_addcmul_(second, gradients, gradients, 1 - beta2)
        corrected = torch._foreach_div(second, [1 - beta2**step for step in steps])
        ratios = torch._foreach_div(gradients, torch._foreach_sqrt(torch._foreach_clamp_min(corrected, eps**2)))
        norms = torch.stack(torch._foreach_norm(ratios))
        sizes = torch.tensor([parameter.numel() for parameter in parameters], dtype=norms.dtype)
        rms = norms / sizes.sqrt().to(norms.device, non_blocking=True)
        rates = group["lr"] / rms.clamp(min=1.0)
        torch._foreach_sqrt_(corrected)
        torch._foreach_add_(corrected, eps)
        updates = torch._foreach_div(torch._foreach_div(first, [1 - beta1**step for step in steps]), corrected)
        decays = (1 - rates * group["weight_decay"]).unbind()
        for parameter, update, rate, decay in zip(parameters, updates, rates.unbind(), decays, strict=True):
            parameter.mul_(decay).addcmul_(update, rate, value=-1)


STABLE_ADAMW = OptimizerKind("AdamW whose updates are clipped, for runs without --max-grad-norm", StableAdamW)
