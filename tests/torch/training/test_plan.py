"""What a run says before its first step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bertdata.errors import naming_flags
from bertdata.torch import ShardDataset
from bertdata.torch.training.plan import highest_flops
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.training.plans import ROWS, plan_of
from tests.torch.training.small_runs import SETTINGS, SMALL, stop_at


def test_the_line_has_device_parameters_rows_tokens_steps_and_epochs() -> None:
    plan = plan_of(97, length="--epochs 5", flops=1e8)
    with naming_flags():
        assert plan.lines() == [
            "BertForPreTraining on cpu: 1,000 parameters; 615 rows of up to 128 tokens, 3,712 tokens a step; "
            "97 steps, 5.05 epochs (--epochs 5); 16 minutes or more"
        ]
    assert "(`epochs` 5)" in plan.lines()[0]
    unknown = plan_of(97, processes=8)
    assert "on cpu, 8 processes: " in unknown.lines()[0]
    assert "or more" not in unknown.lines()[0]


def test_the_line_says_whether_weights_are_new_and_else_where_they_are_from() -> None:
    assert plan_of(97, weights="").lines()[0].startswith("BertForPreTraining on cpu: 1,000 new parameters; ")
    assert plan_of(97, weights="start").lines()[0].startswith("BertForPreTraining on cpu: 1,000 parameters of start; ")
    summaries = [plan_of(97, weights=weights).summary().get("weights") for weights in (None, "", "start")]
    assert summaries == [None, "new", "start"]


def test_each_phase_has_a_line_and_the_time_is_that_of_the_steps_that_are_left() -> None:
    short, long = replace(ROWS, name="128", steps=90), replace(ROWS, name="512", steps=10, operations=1e10)
    plan = plan_of(100, phases=[short, long], flops=1e9)
    assert [line.partition(":")[0] for line in plan.lines()] == ["BertForPreTraining on cpu", "  128", "  512"]
    assert plan.lines()[2].endswith("; 10 steps, 5.05 epochs")
    assert plan.least_seconds == pytest.approx(90 + 100)
    assert replace(plan, first=40).least_seconds == pytest.approx(50 + 100)
    assert replace(plan, first=95).least_seconds == pytest.approx(50)
    assert "from step 41" in replace(plan, first=40).lines()[0]
    assert plan.summary()["steps 512"] == 10


def test_a_finished_run_has_nothing_to_do() -> None:
    assert plan_of(60, first=60).lines() == ["nothing to do: model is trained, 60 of 60 steps"]
    assert plan_of(60, first=60).summary()["begins"] == "nothing to do: all steps are taken"


def test_the_speed_of_a_cpu_is_measured_and_that_of_other_devices_is_known_or_given() -> None:
    assert highest_flops(torch.device("cpu"), 1, 0.0, bf16=False) > 1e7
    assert highest_flops(torch.device("cpu"), 2, 3.0, bf16=False) == 6e12
    assert highest_flops(torch.device("meta"), 1, 0.0, bf16=False) == 0


def test_a_run_says_its_plan_first_and_nothing_if_quiet_or_reported(
    dynamic_build: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = replace(SETTINGS, max_steps=2)
    pretrain(dynamic_build, SMALL, tmp_path / "shown", settings)
    first, *others = (line[9:] for line in capsys.readouterr().err.splitlines())  # after the time of day
    assert first.startswith("BertForPreTraining on cpu: ")
    assert "; 2 steps, " in first
    assert others[0].startswith("step 1 of 2: loss ")
    pretrain(dynamic_build, SMALL, tmp_path / "shown", settings)
    assert capsys.readouterr().err[9:] == f"nothing to do: {tmp_path / 'shown'} is trained, 2 of 2 steps\n"
    pretrain(dynamic_build, SMALL, tmp_path / "quiet", settings, quiet=True)
    pretrain(dynamic_build, SMALL, tmp_path / "reported", settings, report=stop_at(3))
    assert capsys.readouterr().err == ""


def test_the_tokens_of_a_step_are_those_of_its_rows_on_average(tmp_path: Path, dynamic_build: Path) -> None:
    plan = pretrain(dynamic_build, SMALL, tmp_path / "out", replace(SETTINGS, max_steps=5, batch_size=8), dry_run=True)
    lengths = ShardDataset(dynamic_build).lengths
    assert plan["tokens_a_step"] == round(8 * float(lengths.mean()))
    assert plan["steps"] == 5
    assert plan["epochs"] == pytest.approx(5 * 8 / len(lengths))


def test_a_dry_run_takes_no_step_and_writes_nothing(dynamic_build: Path, tmp_path: Path) -> None:
    plan = pretrain(dynamic_build, SMALL, tmp_path / "out", replace(SETTINGS, max_steps=12), dry_run=True)
    assert plan["begins"] == "at the first step"
    assert plan["parameters"] > 10_000
    assert not (tmp_path / "out").exists()
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "out", SETTINGS, report=stop_at(8))
    there = sorted(tmp_path.rglob("*"))
    assert pretrain(dynamic_build, SMALL, tmp_path / "out", SETTINGS, dry_run=True)["begins"].startswith(
        "after 5 steps"
    )
    assert pretrain(dynamic_build, SMALL, tmp_path / "out", SETTINGS, dry_run=True, restart=True)["begins"].endswith(
        "first step"
    )
    assert sorted(tmp_path.rglob("*")) == there


def test_a_dry_run_refuses_what_the_run_would_refuse(dynamic_build: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="rotary positions"):
        pretrain(dynamic_build, SMALL, tmp_path, replace(SETTINGS, phase_rope_thetas=("1e4",)), dry_run=True)
    with pytest.raises(ValueError, match="leave one out"):
        PretrainSettings(max_steps=3, epochs=2)
