"""Optimizers of one kernel and of matrices update as their formulas, and runs of them go on exactly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.torch import (
    BertForPreTraining,
)
from bertdata.torch.training.optimization import make_adamw, make_optimizer
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.stable_adamw import StableAdamW
from tests.torch.training.small_runs import SETTINGS, SMALL, losses, run, stop_at

CPU = torch.device("cpu")


def stepped(optimizer: torch.optim.Optimizer, weights: list[nn.Parameter]) -> list[Tensor]:
    """Take five steps by drawn gradients, one of them large, and return the weights."""
    generator = torch.Generator().manual_seed(3)
    for number in range(5):
        for weight in weights:
            weight.grad = torch.randn(weight.shape, generator=generator) * (100 if number == 3 else 1)
        optimizer.step()
    return [weight.detach() for weight in weights]


def weights_of() -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(2)
    return [nn.Parameter(torch.randn(shape, generator=generator)) for shape in ((4, 6), (6,), (3, 2, 5), (1,))]


def by_the_formula(rate: float, betas: tuple[float, float], eps: float, decay: float) -> list[Tensor]:
    """Return what StableAdamW makes of `weights_of` by the gradients of `stepped`, tensor by tensor in float64."""
    generator = torch.Generator().manual_seed(3)
    values = [weight.detach().double() for weight in weights_of()]
    first, second = ([torch.zeros_like(value) for value in values] for _ in range(2))
    for number in range(5):
        for place, value in enumerate(values):
            slope = (torch.randn(value.shape, generator=generator) * (100 if number == 3 else 1)).double()
            first[place] = betas[0] * first[place] + (1 - betas[0]) * slope
            second[place] = betas[1] * second[place] + (1 - betas[1]) * slope**2
            corrected = second[place] / (1 - betas[1] ** (number + 1))
            rms = (slope**2 / corrected.clamp(min=eps**2)).mean().sqrt()
            slower = rate / max(1.0, float(rms))
            update = first[place] / (1 - betas[0] ** (number + 1)) / (corrected.sqrt() + eps)
            values[place] = value * (1 - slower * decay) - slower * update
    return values


def test_stable_adamw_of_all_tensors_together_is_the_formula_of_each() -> None:
    expected = by_the_formula(0.01, (0.9, 0.98), 1e-6, 0.1)
    weights = weights_of()
    weights_after = stepped(StableAdamW(weights, lr=0.01, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.1), weights)
    for weight, two in zip(weights_after, expected, strict=True):
        assert torch.allclose(weight.double(), two, rtol=1e-6, atol=1e-7)


def test_stable_adamw_launches_few_kernels_a_tensor() -> None:
    """Counted for one tensor more: the kernels of a loop over tensors were about twenty each."""

    def calls(tensors: int) -> int:
        weights = [nn.Parameter(torch.ones(4, 4)) for _ in range(tensors)]
        optimizer = StableAdamW(weights)
        for weight in weights:
            weight.grad = torch.ones_like(weight)
        optimizer.step()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            optimizer.step()
        return sum(event.count for event in profile.key_averages() if event.key in ("aten::mul_", "aten::addcmul_"))

    assert calls(9) - calls(8) <= 2 + 2, "two of its own, and on a CPU two inside of the functions for all tensors"


def test_fused_adamw_is_adamw() -> None:
    weights_after = []
    for fused in (False, True):
        weights = weights_of()
        optimizer = make_adamw([{"params": weights, "weight_decay": 0.1}], betas=(0.9, 0.98), eps=1e-6, fused=fused)
        weights_after.append(stepped(optimizer, weights))
        assert optimizer.param_groups[0]["fused"] == (fused or None)
    for weight, two in zip(*weights_after, strict=True):
        assert torch.allclose(weight, two, rtol=1e-6, atol=1e-7)
    assert make_adamw([{"params": weights_of()}], betas=(0.9, 0.98), eps=1e-6).param_groups[0]["fused"] is None


def test_dropout_of_torch_changes_with_the_parts_of_a_batch_and_that_of_the_row_does_not(
    tmp_path: Path, dynamic_build: Path
) -> None:
    for kind, same in (("row", True), ("torch", False)):
        gradients = [
            run(
                tmp_path,
                dynamic_build,
                f"{kind}{parts}",
                max_steps=3,
                dropout_by=kind,
                gradient_accumulation_steps=parts,
            )
            for parts in (1, 4)
        ]
        assert (gradients[0] == pytest.approx(gradients[1], abs=1e-5)) == same
    with pytest.raises(ConfigError, match="`dropout_by` torch leaves all dropout to torch"):
        replace(SETTINGS, dropout_by="torch", attention_dropout_by_row=True)


def test_muon_takes_the_matrices_of_the_layers_and_adamw_the_rest() -> None:
    model = BertForPreTraining(SMALL)
    optimizer: Any = make_optimizer(model, 0.01, optim="muon")
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    muon, adamw = (
        {names[id(parameter)] for group in part.param_groups for parameter in group["params"]}
        for part in optimizer.parts
    )
    assert muon | adamw == set(names.values())
    assert not muon & adamw
    assert all(name.endswith("weight") and ("encoder.layer" in name or "pooler" in name) for name in muon)
    assert {name for name in adamw if "encoder.layer" in name and "LayerNorm" not in name} <= {
        name for name in names.values() if name.endswith("bias")
    }
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.01, 0.01, 0.0]


def test_muon_updates_as_torchs_with_the_size_of_adamws() -> None:
    """The update of a matrix is orthogonal: its singular values are alike, and their size is that of AdamW's steps."""
    model: Any = BertForPreTraining(SMALL)
    optimizer = make_optimizer(model, 0.0, optim="muon")
    weight = model.bert.encoder.layer[0].intermediate.dense.weight
    weight.grad = torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))
    before = weight.detach().clone()
    for group in optimizer.param_groups:
        group["lr"] = 0.01
    optimizer.step()
    update = before - weight.detach()
    values = torch.linalg.svdvals(update)
    assert values.max() / values.min() < 2, "those of the gradient differ more"
    assert update.square().mean().sqrt() == pytest.approx(0.01 * 0.2, rel=0.3)


@pytest.mark.costly
@pytest.mark.parametrize(
    "changes", [{"dropout_by": "torch"}, {"optim": "muon"}, {"optim": "stable_adamw", "max_grad_norm": 0.0}]
)
def test_runs_of_other_optimizers_or_dropout_go_on_exactly(
    tmp_path: Path, dynamic_build: Path, changes: dict[str, Any]
) -> None:
    whole = run(tmp_path, dynamic_build, **changes)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(SETTINGS, **changes), report=stop_at(8))
    pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(SETTINGS, **changes))
    assert losses(tmp_path / "cut") == whole
    assert whole[-1] < whole[0]
