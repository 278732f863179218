"""A run that is resumed with other weights to begin with: those of another folder, or of another branch."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bertdata.errors import ConfigError
from bertdata.torch import BertConfig
from bertdata.torch.training.checkpoint import newest
from bertdata.torch.training.pretrain import pretrain
from tests.torch.training.small_runs import SETTINGS, SMALL

SHORT = replace(SETTINGS, max_steps=2, save_steps=1)


@pytest.fixture(scope="module")
def trained(dynamic_build: Path, tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    """Two models of one shape, each after a step of a run of its own."""
    folders = [tmp_path_factory.mktemp(name) for name in ("first", "second")]
    for seed, folder in enumerate(folders, 1):
        pretrain(dynamic_build, SMALL, folder, replace(SHORT, max_steps=1, seed=seed))
    return folders


def cut_off(build: Path, config: str | BertConfig, output: Path, branch: str | Path = "") -> None:
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, config, output, SHORT, branch=branch, quiet=True, stop=lambda: True)


def checkpoint_of(output: Path) -> str:
    last = newest(str(output / "checkpoints"))
    assert last is not None
    return last.directory


@pytest.mark.parametrize(("before", "after"), [("first", "second"), ("first", ""), ("", "first")])
def test_other_weights_in_config_are_refused(
    dynamic_build: Path, trained: Sequence[Path], tmp_path: Path, before: str, after: str
) -> None:
    """The checkpoint would go on with its own, as if they had been those of the folder."""
    folders = dict(zip(("first", "second"), map(str, trained), strict=True))
    configs = [folders.get(name, SMALL) for name in (before, after)]
    cut_off(dynamic_build, configs[0], tmp_path)
    with pytest.raises(ConfigError, match=r"SHA-256 of the weights in `config` was '\w*' and is '\w*'"):
        pretrain(dynamic_build, configs[1], tmp_path, SHORT)
    assert pretrain(dynamic_build, configs[0], tmp_path, SHORT)["step"] == 2


def test_the_same_weights_go_on_from_another_place(
    dynamic_build: Path, trained: Sequence[Path], tmp_path: Path
) -> None:
    cut_off(dynamic_build, str(trained[0]), tmp_path / "out")
    shutil.copytree(trained[0], tmp_path / "moved")
    assert pretrain(dynamic_build, str(tmp_path / "moved"), tmp_path / "out", SHORT)["step"] == 2


def test_a_model_trained_in_its_own_folder_goes_on_and_is_then_finished(
    dynamic_build: Path, trained: Sequence[Path], tmp_path: Path
) -> None:
    shutil.copytree(trained[0], tmp_path / "model", ignore=shutil.ignore_patterns("checkpoints"))
    cut_off(dynamic_build, str(tmp_path / "model"), tmp_path / "model")
    for _ in range(2):
        assert pretrain(dynamic_build, str(tmp_path / "model"), tmp_path / "model", SHORT)["step"] == 2


def test_another_branch_is_refused_and_a_run_that_has_gone_on_is_told(
    dynamic_build: Path, trained: Sequence[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    places = [checkpoint_of(folder) for folder in trained]
    cut_off(dynamic_build, "", tmp_path, places[0])
    with pytest.raises(ConfigError, match=r"branch was '\w+' and is '\w+'"):
        pretrain(dynamic_build, "", tmp_path, SHORT, branch=places[1])
    assert "is no longer in" not in caplog.text
    pretrain(dynamic_build, "", tmp_path, SHORT, branch=trained[1])
    assert f"is no longer in {trained[1]}, or --branch was another" in caplog.text


def test_a_branch_for_a_run_that_had_none_is_refused(
    dynamic_build: Path, trained: Sequence[Path], tmp_path: Path
) -> None:
    cut_off(dynamic_build, SMALL, tmp_path)
    with pytest.raises(ConfigError, match=f"branch was None and is '{trained[0]}'"):
        pretrain(dynamic_build, "", tmp_path, SHORT, branch=trained[0])
