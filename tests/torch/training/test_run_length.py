"""How long a run is: by steps, by epochs, by the run that is resumed, and without any of these."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bertdata.errors import ConfigError
from bertdata.torch.training import run_length
from bertdata.torch.training.phases import open_rows, plan_phases
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.run_length import epochs_of_steps, steps_of_epochs, with_length
from tests.torch.training.small_runs import SETTINGS, SMALL, log, losses, stop_at

EPOCHS = replace(SETTINGS, max_steps=0, epochs=2.0)


@pytest.mark.parametrize("epochs", [0.01, 0.5, 1, 2, 3.7, 40])
def test_the_steps_are_the_fewest_that_go_through_the_rows_so_often(dynamic_build: Path, epochs: float) -> None:
    rows = open_rows(dynamic_build)
    steps = steps_of_epochs(epochs, SETTINGS, rows)
    assert steps * 8 >= epochs * len(rows[0].dataset) > (steps - 1) * 8


def test_the_phases_share_the_epochs_and_each_has_a_step(two_lengths: Path) -> None:
    rows = open_rows(two_lengths)
    settings = replace(SETTINGS, max_steps=steps_of_epochs(3, SETTINGS, rows))
    phases = plan_phases(rows, settings, 8, 1)
    assert sum(phase.epochs(settings) for phase in phases) == pytest.approx(3, abs=0.05)
    few = replace(SETTINGS, max_steps=steps_of_epochs(0.001, SETTINGS, rows))
    assert all(phase.first < phase.last for phase in plan_phases(rows, few, 8, 1))
    with pytest.raises(ConfigError, match="give one for each"):
        steps_of_epochs(1, replace(SETTINGS, phase_shares=("0.5", "0.3", "0.2")), rows)


def test_a_batch_warm_up_takes_more_steps(dynamic_build: Path) -> None:
    rows, rising = open_rows(dynamic_build), replace(SETTINGS, batch_warmup_ratio=0.5, gradient_accumulation_steps=4)
    steps = steps_of_epochs(4, rising, rows)
    assert steps > steps_of_epochs(4, SETTINGS, rows)
    assert epochs_of_steps(steps, rising, rows) == pytest.approx(4, rel=0.05)
    [phase] = plan_phases(rows, replace(rising, max_steps=steps), 8, 4)
    each = [phase.parts(step, replace(rising, max_steps=steps)) for step in range(1, steps + 1)]
    assert {1, 2, 3, 4} == {*each}
    assert phase.epochs(replace(rising, max_steps=steps)) == sum(each) * 8 / 4 / len(phase.dataset)


def test_a_run_that_is_not_told_its_length_makes_forty_epochs_or_100_000_steps(dynamic_build: Path) -> None:
    rows, settings = open_rows(dynamic_build), replace(SETTINGS, max_steps=0)
    chosen, why = with_length(settings, rows, None)
    assert chosen.max_steps == steps_of_epochs(40, settings, rows)
    assert "40 epochs" in why
    few = replace(settings, batch_size=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_length, "DEFAULT_STEPS", 10)
        chosen, why = with_length(few, rows, None)
    assert chosen.max_steps == 10
    assert "10 steps" in why
    assert with_length(SETTINGS, rows, None) == (SETTINGS, "")


@pytest.mark.costly
def test_epochs_are_the_steps_that_they_make(dynamic_build: Path, tmp_path: Path) -> None:
    pretrain(dynamic_build, SMALL, tmp_path / "epochs", EPOCHS)
    steps = steps_of_epochs(2, SETTINGS, open_rows(dynamic_build))
    pretrain(dynamic_build, SMALL, tmp_path / "steps", replace(SETTINGS, max_steps=steps))
    assert losses(tmp_path / "epochs") == losses(tmp_path / "steps")
    assert log(tmp_path / "epochs")[-1]["epoch"] >= 2


def test_a_run_that_is_resumed_ends_where_it_was_to_end(dynamic_build: Path, tmp_path: Path) -> None:
    pretrain(dynamic_build, SMALL, tmp_path / "whole", SETTINGS)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "cut", SETTINGS, report=stop_at(8))
    assert pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(SETTINGS, max_steps=0))["steps"] == 12
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")


def test_what_a_longer_run_is_advised_to_do_trains_longer(dynamic_build: Path, tmp_path: Path) -> None:
    first = str(tmp_path / "first")
    pretrain(dynamic_build, SMALL, first, replace(SETTINGS, max_steps=6))
    with pytest.raises(ConfigError, match="To train longer") as refused:
        pretrain(dynamic_build, SMALL, first, replace(SETTINGS, max_steps=10))
    text = str(refused.value)
    [branch], [steps] = re.findall(r"`branch` (\S+) \(", text), re.findall(r"those to add, (\d+);", text)
    more = replace(SETTINGS, max_steps=int(steps), warmup_ratio=0.0)
    assert more.max_steps == 4
    pretrain(dynamic_build, "base", tmp_path / "branch", more, branch=branch)
    pretrain(dynamic_build, branch, tmp_path / "config", more)
    places = {name: log(tmp_path / name) for name in ("branch", "config")}
    assert places["branch"][0]["epoch"] > log(Path(first))[-1]["epoch"]  # its rows go on
    assert places["config"][0]["epoch"] < places["branch"][0]["epoch"]
    begun, learned = log(Path(first))[0]["loss"], log(Path(first))[-1]["loss"]
    for records in places.values():
        assert [record["step"] for record in records] == [1, 2, 3, 4]
        assert records[0]["loss"] - learned < (begun - learned) / 2  # their weights are those of the first run
    with pytest.raises(ConfigError) as shorter:
        pretrain(dynamic_build, SMALL, first, replace(SETTINGS, max_steps=3))
    assert "To train longer" not in str(shorter.value)
