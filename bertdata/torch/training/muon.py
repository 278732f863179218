"""Muon for the matrices inside of an encoder, AdamW for the rest (Jordan et al. 2024; Liu et al. 2025, section 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from bertdata.errors import ConfigError
from bertdata.torch.training.optimization import HIDDEN, OptimizerKind, make_adamw


class MuonAndAdamW(torch.optim.Optimizer):
    """torch's Muon for the groups of parameters that are `hidden`, torch's AdamW for the others.

    A matrix's update is its momentum made orthogonal, scaled so that it is as large as AdamW's (`match_rms_adamw`); so
    both take the same learning rate. `param_groups` are those of both, Muon's first.
    """

    def __init__(self, groups: Sequence[dict[str, Any]], *, betas: tuple[float, float], eps: float) -> None:
        if not hasattr(torch.optim, "Muon"):
            raise ConfigError(f"--optim muon needs torch 2.9 or later, and this is {torch.__version__}; install it")
        hidden, others = ([group for group in groups if bool(group.get(HIDDEN)) is side] for side in (True, False))
        if not hidden:
            raise ConfigError("--optim muon is for the matrices of an encoder's layers, and here are none; take adamw")
        self.parts = [
            torch.optim.Muon(hidden, lr=1e-3, adjust_lr_fn="match_rms_adamw"),
            make_adamw(others, betas=betas, eps=eps),
        ]

    @property
    def param_groups(self) -> list[dict[str, Any]]:  # type: ignore[override]
        """The groups of both optimizers."""
        return [group for part in self.parts for group in part.param_groups]

    @property
    def state(self) -> dict[Any, Any]:  # type: ignore[override]
        """What both optimizers know of each parameter."""
        return {weight: state for part in self.parts for weight, state in part.state.items()}

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Update the parameters that have a gradient."""
        loss = None if closure is None else torch.enable_grad()(closure)()
        for part in self.parts:
            part.step()
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        for part in self.parts:
            part.zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """Return the states of both."""
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the states of both; raises ValueError for those of other parameters."""
        for part, state in zip(self.parts, state_dict["parts"], strict=True):
            part.load_state_dict(state)


MUON = OptimizerKind(
    "Muon for the matrices of the layers, AdamW for the rest (torch 2.9 or later)", MuonAndAdamW, apart=True
)
