"""Learning rates, optimizers, and the batches and rates of phases."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import nn

from bertdata.errors import ConfigError
from bertdata.torch import BertForPreTraining
from bertdata.torch.training.optimization import DivergenceError, make_optimizer, update
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.schedules import Shape, learning_rate
from bertdata.torch.training.settings import PretrainSettings
from bertdata.torch.training.stable_adamw import StableAdamW
from tests.torch.training.small_runs import SETTINGS, SMALL, log, losses, stop_at


def peers_rates(kind: str, steps: int, warm: int, **numbers: Any) -> list[float]:
    """Return the rates of a scheduler of transformers at each step of a run."""
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = transformers.get_scheduler(kind, optimizer, warm, steps, scheduler_specific_kwargs=numbers or None)
    rates = []
    for _ in range(steps):
        rates.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return rates


@pytest.mark.parametrize("kind", ["linear", "cosine", "constant_with_warmup"])
def test_rates_after_the_warm_up_are_those_of_transformers(kind: str) -> None:
    ours = [learning_rate(step, 50, 1.0, 0.2, Shape(kind)) for step in range(50)]
    assert ours[10:] == pytest.approx(peers_rates(kind, 50, 10)[10:])
    assert ours[:10] == pytest.approx([(step + 1) / 10 for step in range(10)]), "the first step has a rate above 0"


@pytest.mark.parametrize("decay", ["linear", "cosine", "1-sqrt"])
def test_a_trapezoid_is_that_of_transformers(decay: str) -> None:
    numbers = {"num_decay_steps": 15, "min_lr_ratio": 0.1, "decay_type": decay}
    shape = Shape("warmup_stable_decay", 0.3, decay, 0.1)
    ours = [learning_rate(step, 50, 1.0, 0.2, shape) for step in range(50)]
    assert ours[10:] == pytest.approx(peers_rates("warmup_stable_decay", 50, 10, **numbers)[10:])
    assert ours[10:36] == [1.0] * 26


def test_the_update_of_stable_adamw_is_that_of_adamw_while_gradients_are_steady_and_smaller_after_a_jump() -> None:
    models = [nn.Linear(8, 4, bias=False) for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    plain = torch.optim.AdamW(models[0].parameters(), lr=0.01)
    stable = StableAdamW(models[1].parameters(), lr=0.01)
    torch.manual_seed(0)
    for _ in range(20):
        signs = torch.randn(4, 8).sign()
        for model, optimizer in zip(models, (plain, stable), strict=True):
            model.weight.grad = signs.clone()
            optimizer.step()
    torch.testing.assert_close(models[0].weight, models[1].weight, rtol=1e-5, atol=1e-6)
    before = models[1].weight.detach().clone()
    for model, optimizer in zip(models, (plain, stable), strict=True):
        model.weight.grad = torch.full((4, 8), 100.0)
        optimizer.step()
    moved = [(model.weight - before).abs().mean().item() for model in models]
    second = (0.999 * (1 - 0.999**20) + 0.001 * 100**2) / (1 - 0.999**21)
    assert moved[1] / moved[0] == pytest.approx(second**0.5 / 100, rel=1e-3), "by the root mean square of g² / v"
    assert {*stable.state_dict()["state"][0]} == {*plain.state_dict()["state"][0]}


@pytest.mark.costly
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"optim": "stable_adamw", "max_grad_norm": 0.0}, marks=pytest.mark.slow),
        {"lr_scheduler_type": "warmup_stable_decay", "decay_ratio": 0.5},
        {"batch_warmup_ratio": 0.8, "gradient_accumulation_steps": 4},
    ],
)
def test_a_run_that_is_cut_off_goes_on_to_the_same_losses(
    tmp_path: Path, dynamic_build: Path, changes: dict[str, Any]
) -> None:
    settings = replace(SETTINGS, **changes)
    pretrain(dynamic_build, SMALL, tmp_path / "whole", settings)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "cut", settings, report=stop_at(7))
    pretrain(dynamic_build, SMALL, tmp_path / "cut", settings)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    assert losses(tmp_path / "whole")[-1] < losses(tmp_path / "whole")[0]


def test_the_batch_grows_to_its_size_and_then_stays(tmp_path: Path, dynamic_build: Path) -> None:
    settings = replace(SETTINGS, batch_warmup_ratio=0.5, gradient_accumulation_steps=4)
    pretrain(dynamic_build, SMALL, tmp_path, settings)
    epochs = [0.0, *(record["epoch"] for record in log(tmp_path))]
    rows = [(after - before) / epochs[-1] for before, after in pairwise(epochs)]
    parts = [1, 2, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4]
    assert rows == pytest.approx([part / sum(parts) for part in parts])


def test_each_phase_has_its_share_of_the_steps_and_its_rate(tmp_path: Path, two_lengths: Path) -> None:
    settings = replace(
        SETTINGS,
        max_steps=10,
        phase_shares=("0.7", "0.3"),
        phase_learning_rates=("2e-3", "1e-3"),
        warmup_ratio=0.0,
        lr_scheduler_type="constant_with_warmup",
    )
    pretrain(two_lengths, SMALL, tmp_path, settings)
    records = log(tmp_path)
    assert [record["max_seq_length"] for record in records] == [16] * 7 + [48] * 3
    assert [record["learning_rate"] for record in records] == [2e-3] * 7 + [1e-3] * 3
    with pytest.raises(ConfigError, match=r"`phase_shares` 0.5 0.3 0.2 is for 3 phases, and these shards have 2"):
        pretrain(two_lengths, SMALL, tmp_path / "b", replace(settings, phase_shares=("0.5", "0.3", "0.2")))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decay_ratio": 0.2}, "`decay_ratio` is for `lr_scheduler_type` warmup_stable_decay, not linear"),
        (
            {"lr_scheduler_type": "warmup_stable_decay", "decay_ratio": 0.9, "warmup_ratio": 0.2},
            "`warmup_ratio` 0.2 and `decay_ratio` 0.9 are more than all steps",
        ),
        ({"lr_scheduler_type": "step"}, "`lr_scheduler_type` is 'step'; expected one of linear, cosine"),
        ({"optim": "sgd"}, "`optim` is 'sgd'; expected one of adamw, muon, stable_adamw"),
        ({"batch_warmup_ratio": 0.5}, "`gradient_accumulation_steps`, of which there is only one; take more"),
        ({"phase_shares": ("0.5", "0.4")}, "`phase_shares` 0.5 0.4 add up to 0.9; expected 1"),
        ({"phase_learning_rates": ("x",)}, "`phase_learning_rates` is x; expected a number above 0 for each phase"),
        ({"phase_shares": ("1.5", "-0.5")}, "`phase_shares` is 1.5 -0.5; expected a number above 0"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace(".", r"\.")):
        PretrainSettings(**changes)


def test_biases_do_not_decay_whatever_the_optimizer() -> None:
    optimizer = make_optimizer(BertForPreTraining(SMALL), 0.01, optim="stable_adamw")
    assert isinstance(optimizer, StableAdamW)
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.01, 0.0]


def test_a_decay_branches_off_a_checkpoint_and_goes_on_with_its_rows(tmp_path: Path, dynamic_build: Path) -> None:
    stable = replace(SETTINGS, max_steps=9, save_steps=3, save_total_limit=2, lr_scheduler_type="constant_with_warmup")
    config = replace(SMALL, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    pretrain(dynamic_build, config, tmp_path / "trunk", stable)
    kept = sorted(path.name for path in (tmp_path / "trunk" / "checkpoints").iterdir())
    assert kept == ["step-000000006", "step-000000009"]
    decay = replace(
        stable, max_steps=4, lr_scheduler_type="warmup_stable_decay", decay_ratio=1.0, warmup_ratio=0.0, save_steps=2
    )
    branch = tmp_path / "trunk" / "checkpoints" / "step-000000006"
    pretrain(dynamic_build, "base", tmp_path / "branch", decay, branch=branch)
    first, trunk = log(tmp_path / "branch")[0], log(tmp_path / "trunk")[6]
    assert first["epoch"] == trunk["epoch"], "the rows go on"
    assert first["loss"] == trunk["loss"], "with the weights of the checkpoint, and the masks of the same rows"
    assert first["learning_rate"] == stable.learning_rate
    assert [record["step"] for record in log(tmp_path / "branch")] == [1, 2, 3, 4]
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, "base", tmp_path / "cut", decay, branch=branch, report=stop_at(4))
    pretrain(dynamic_build, "base", tmp_path / "cut", decay, branch=branch)
    assert losses(tmp_path / "cut") == losses(tmp_path / "branch")


def test_a_branch_on_other_rows_begins_with_these_and_says_so(
    tmp_path: Path, dynamic_build: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pretrain(dynamic_build, SMALL, tmp_path / "trunk", replace(SETTINGS, max_steps=2))
    pretrain(dynamic_build, SMALL, tmp_path / "b", replace(SETTINGS, max_steps=1, seed=9), branch=tmp_path / "trunk")
    assert "the rows of this branch are gone through from the beginning: the state is of seed 0" in caplog.text
    with pytest.raises(ConfigError, match="holds no checkpoint; expected a folder as checkpoints/step-"):
        pretrain(dynamic_build, SMALL, tmp_path / "c", SETTINGS, branch=tmp_path)


def test_spikes_are_left_out_and_a_sixth_in_a_row_is_none() -> None:
    weight = nn.Parameter(torch.zeros(1))
    model, optimizer = nn.ParameterList([weight]), torch.optim.SGD([weight], lr=0.1)
    norms = [1.0] * 19 + [9.0] + [1.0] * 10 + [9.0, float("nan")] + [1.0] + [9.0] * 6 + [1.0]
    moved = []
    for step, norm in enumerate(norms, 1):
        before = weight.item()
        weight.grad = torch.tensor([norm])
        update(model, optimizer, norm, 0.1, 0.0, step, spike_ratio=4.0)
        moved.append(weight.item() != before)
    left_out = [step for step, was_moved in enumerate(moved) if not was_moved]
    assert left_out == [30, 31, 33, 34, 35, 36, 37], "not the 20th, which is among the first, nor the sixth of a row"
    assert optimizer.param_groups[0]["skipped"] == 7


def test_without_a_ratio_a_gradient_that_is_not_finite_stops_the_run() -> None:
    weight = nn.Parameter(torch.zeros(1))
    weight.grad = torch.tensor([float("nan")])
    for ratio in (0.0, 4.0):
        with pytest.raises(DivergenceError, match=r"the loss is 1\.0 and its gradient has norm nan at step 3"):
            update(nn.ParameterList([weight]), torch.optim.SGD([weight], lr=0.1), 1.0, 0.1, 0.0, 3, spike_ratio=ratio)


def test_a_resumed_run_leaves_out_the_same_updates(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bertdata.torch.training.optimization._NORMS_FIRST", 3)
    settings = replace(SETTINGS, spike_ratio=0.5)
    pretrain(dynamic_build, SMALL, tmp_path / "whole", settings)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "cut", settings, report=stop_at(7))
    pretrain(dynamic_build, SMALL, tmp_path / "cut", settings)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    counts = [[record["skipped_updates"] for record in log(tmp_path / name)] for name in ("whole", "cut")]
    assert counts[0] == counts[1]
    assert 0 < counts[0][-1] < 9


def test_a_share_of_steps_that_is_whole_is_not_rounded_down() -> None:
    """100 * 0.29 is 28.999999999999996."""
    assert learning_rate(28, 100, 1.0, 0.29) == 1.0
    assert learning_rate(27, 100, 1.0, 0.29) == 28 / 29
