"""The base of rotary positions by phase (`--phase-rope-thetas`)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import ModernBertConfig, ModernBertForMaskedLM
from bertdata.torch.models.modernbert import model as modernbert
from bertdata.torch.models.rotary import rotation
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.build import write_build
from tests.torch.training.small_runs import SETTINGS, SMALL, losses, stop_at

CONFIG = ModernBertConfig.tiny(
    vocab_size=100,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=48,
    initializer_range=0.5,  # so large that positions matter from the first step
)
RUN = replace(SETTINGS, max_steps=8, last_share=0.5, save_steps=2, phase_rope_thetas=("100", "8000"))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of rows of 16 and of 48 tokens without pairs."""
    place = tmp_path_factory.mktemp("rows")
    for length in (16, 48):
        write_build(place / str(length), ExamplesConfig(objective="doc-sentences", max_seq_length=length))
    files.write_json(str(place / "manifest.json"), {"phases": ["16", "48"]})
    return place


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, rows: Path) -> Path:
    """An uninterrupted run: steps 1 to 4 with a base of 100, 5 to 8 with 8,000."""
    output = tmp_path_factory.mktemp("whole")
    pretrain(rows, CONFIG, output, RUN)
    return output


def saved(output: Path) -> Any:
    return json.loads((output / "config.json").read_text())


def test_each_phase_has_its_base_and_the_saved_config_the_last(
    tmp_path: Path, rows: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bases: list[float] = []

    def watched(positions: Any, size: int, theta: float) -> Any:
        bases.append(theta)
        return rotation(positions, size, theta)

    monkeypatch.setattr(modernbert, "rotation", watched)
    settings = replace(RUN, max_steps=4, save_steps=2, save_total_limit=0)
    pretrain(rows, CONFIG, tmp_path, settings)
    assert {*bases[1::2]} == {CONFIG.local_rope_theta}, "local layers keep theirs"
    assert bases[::2] == sorted(bases[::2])
    assert {*bases[::2]} == {100.0, 8000.0}
    by_step = [saved(tmp_path / "checkpoints" / f"step-{step:09d}")["global_rope_theta"] for step in (2, 4)]
    assert by_step == [100.0, 8000.0]
    config = saved(whole)
    assert config["global_rope_theta"] == 8000.0
    assert config["rope_parameters"]["full_attention"]["rope_theta"] == 8000.0
    assert ModernBertForMaskedLM.from_pretrained(whole).config == replace(CONFIG, global_rope_theta=8000.0)


def test_a_base_by_phase_learns_what_a_run_of_the_config_with_that_base_does(
    tmp_path: Path, rows: Path, whole: Path
) -> None:
    one_base = replace(RUN, phase_rope_thetas=())
    pretrain(rows, replace(CONFIG, global_rope_theta=100.0), tmp_path, one_base)
    assert losses(tmp_path)[:4] == losses(whole)[:4]
    assert abs(losses(tmp_path)[4] - losses(whole)[4]) > 1e-4


@pytest.mark.parametrize(
    "stop", [pytest.param(3, marks=pytest.mark.slow), 5, 7], ids=["first phase", "at the border", "second phase"]
)
def test_a_run_cut_off_in_any_phase_goes_on_to_the_same_weights(
    tmp_path: Path, rows: Path, whole: Path, stop: int
) -> None:
    with pytest.raises(KeyboardInterrupt):
        pretrain(rows, CONFIG, tmp_path, RUN, report=stop_at(stop))
    pretrain(rows, CONFIG, tmp_path, RUN)
    assert losses(tmp_path) == losses(whole)
    assert (tmp_path / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert saved(tmp_path) == saved(whole)


def test_a_branch_that_is_cut_off_in_a_later_phase_goes_on(tmp_path: Path, rows: Path) -> None:
    trunk, branch = tmp_path / "trunk", tmp_path / "branch"
    pretrain(rows, replace(CONFIG, global_rope_theta=5.0), trunk, replace(RUN, phase_rope_thetas=(), max_steps=2))
    with pytest.raises(KeyboardInterrupt):
        pretrain(rows, "base", branch, RUN, branch=trunk, report=stop_at(7))
    pretrain(rows, "base", branch, RUN, branch=trunk)
    assert saved(branch)["global_rope_theta"] == 8000.0


def test_bases_that_have_no_place_are_refused(tmp_path: Path, rows: Path, dynamic_build: Path) -> None:
    with pytest.raises(ConfigError, match="`phase_rope_thetas` is for models with rotary positions, and a bert config"):
        pretrain(dynamic_build, SMALL, tmp_path, replace(RUN, phase_rope_thetas=("100",)))
    with pytest.raises(ConfigError, match="`phase_rope_thetas` 1 2 3 is for 3 phases, and these shards have 2"):
        pretrain(rows, CONFIG, tmp_path, replace(RUN, phase_rope_thetas=("1", "2", "3")))
    with pytest.raises(ConfigError, match="`phase_rope_thetas` is 1 -2; expected a number above 0 for each phase"):
        PretrainSettings(phase_rope_thetas=("1", "-2"))
    with pytest.raises(ConfigError, match="`config_overrides` both set global_rope_theta"):
        pretrain(rows, CONFIG, tmp_path, RUN, config_overrides={"global_rope_theta": "5"})
