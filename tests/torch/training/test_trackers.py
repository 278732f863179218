"""A run's log in TensorBoard, Trackio and Weights & Biases."""

from __future__ import annotations

import json
import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import ConfigError, MissingExtraError
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
from bertdata.torch.training.trackers import opened, tagged
from tests.torch.training.small_runs import SETTINGS, SMALL, log, stop_at

RUN = replace(SETTINGS, max_steps=4, save_steps=2)


def test_tensorboard_has_each_figure_of_each_step_once_after_a_resume(tmp_path: Path, dynamic_build: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = replace(RUN, report_to=("tensorboard",))
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path, run, report=stop_at(4))
    pretrain(dynamic_build, SMALL, tmp_path, run)
    events = EventAccumulator(str(tmp_path / "tensorboard"), purge_orphaned_data=True).Reload()
    scalars = events.Scalars("train/mlm_loss")
    assert [scalar.step for scalar in scalars] == [1, 2, 3, 4]
    assert [scalar.value for scalar in scalars] == pytest.approx([record["mlm_loss"] for record in log(tmp_path)])
    assert "settings/text_summary" in events.Tags()["tensors"]


def test_tensorboard_hides_the_steps_that_a_run_went_back_from(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with opened(["tensorboard"], str(tmp_path), {}, 0) as report:
        for step, loss in ((1, 9.0), (2, 8.0), (3, 99.0), (2, 7.0), (3, 6.0)):
            report({"step": step, "loss": loss})
    events = EventAccumulator(str(tmp_path / "tensorboard"), purge_orphaned_data=True).Reload()
    assert [(scalar.step, scalar.value) for scalar in events.Scalars("train/loss")] == [(1, 9.0), (2, 7.0), (3, 6.0)]


class Wandb(types.ModuleType):
    """A stand-in for the package wandb, which keeps what it is given."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.runs: list[dict[str, Any]] = []
        self.logged: list[tuple[int, dict[str, float]]] = []
        self.finished = 0

    def Settings(self) -> Any:  # noqa: N802
        return types.SimpleNamespace(project=None)

    def init(self, **given: Any) -> Wandb:
        self.runs.append(given)
        return self

    def log(self, values: dict[str, float], step: int) -> None:
        self.logged.append((step, values))

    def finish(self) -> None:
        self.finished += 1


def test_a_resumed_run_goes_on_in_the_same_run_of_wandb(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", wandb := Wandb())
    run = replace(RUN, report_to=("wandb",))
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path, run, report=stop_at(4))
    pretrain(dynamic_build, SMALL, tmp_path, run)
    assert wandb.finished == 2, "also the one that was interrupted"
    assert len({given["id"] for given in wandb.runs}) == 1
    assert json.loads((tmp_path / "wandb.json").read_text()) == {"id": wandb.runs[0]["id"]}
    assert wandb.runs[0]["project"] == "bertdata"
    assert wandb.runs[0]["config"]["max_steps"] == 4
    assert wandb.logged[-1] == (4, tagged(log(tmp_path)[-1]))
    assert [step for step, _ in wandb.logged] == [1, 2, 3, 3, 4]


def test_a_resumed_run_goes_on_in_the_same_run_of_trackio(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    storage: Any = pytest.importorskip("trackio.sqlite_storage")
    monkeypatch.setattr("trackio.utils.TRACKIO_DIR", tmp_path / "kept")
    monkeypatch.setattr("trackio.sqlite_storage.TRACKIO_DIR", tmp_path / "kept")
    run = replace(RUN, report_to=("trackio",))
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "run", run, report=stop_at(4))
    pretrain(dynamic_build, SMALL, tmp_path / "run", run)
    assert not capsys.readouterr().out, "what trackio says goes to stderr"
    (name,) = storage.SQLiteStorage.get_runs("bertdata")
    assert name.startswith("run-")
    logged = {record["step"]: record["train/loss"] for record in storage.SQLiteStorage.get_logs("bertdata", name)}
    assert logged == {record["step"]: record["loss"] for record in log(tmp_path / "run")}


def test_trackio_gets_what_wandb_gets(tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trackio", stand_in := Wandb())
    monkeypatch.setenv("TRACKIO_PROJECT", "sea")
    pretrain(dynamic_build, SMALL, tmp_path, replace(RUN, report_to=("trackio",)))
    number = json.loads((tmp_path / "trackio.json").read_text())["id"]
    assert stand_in.runs[0]["name"] == f"{tmp_path.name}-{number}"
    assert stand_in.runs[0]["project"] == "sea"
    assert stand_in.runs[0]["resume"] == "allow"
    assert stand_in.logged[-1] == (4, tagged(log(tmp_path)[-1]))
    assert stand_in.finished == 1


def test_another_run_in_the_same_output_is_another_run_of_wandb(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", wandb := Wandb())
    for _ in range(2):
        pretrain(dynamic_build, SMALL, tmp_path, replace(RUN, report_to=("wandb",)), restart=True)
    assert len({given["id"] for given in wandb.runs}) == 2


def test_a_tracker_that_is_not_installed_or_not_known_is_told_before_the_first_step(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingExtraError, match="wandb is not installed"):
        pretrain(dynamic_build, SMALL, tmp_path, replace(RUN, report_to=("wandb",)))
    assert not (tmp_path / "log.jsonl").read_text()
    with pytest.raises(ConfigError, match="there is no tracker 'mlflow'"):
        PretrainSettings(report_to=("mlflow",))
