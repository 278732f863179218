"""A checkpoint is the one that was written, the newest, or an error that names what is damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.torch import BertConfig, BertForPreTraining
from bertdata.torch.training import checkpoint
from bertdata.torch.training.optimization import make_optimizer
from tests.torch.build import tokenizer_of

CONFIG = BertConfig(
    vocab_size=30,
    hidden_size=8,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=8,
    max_position_embeddings=8,
)
SAMPLER = {"epoch": 1, "batch": 3}


def saved(root: Path, step: int) -> tuple[BertForPreTraining, torch.optim.Optimizer]:
    """Write the checkpoint of a step; returns what is in it."""
    model = BertForPreTraining(CONFIG)
    optimizer = make_optimizer(model, 0.01, 0.999)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, step / 100)
    optimizer.step()
    checkpoint.save(str(root), step, model, optimizer, SAMPLER, {"max_steps": 9}, tokenizer=tokenizer_of())
    return model, optimizer


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    model, optimizer = saved(tmp_path, 4)
    newest = checkpoint.newest(str(tmp_path))
    assert newest is not None
    assert newest == checkpoint.Checkpoint(
        str(tmp_path / "step-000000004"), 4, SAMPLER, {"max_steps": 9}, newest.digest
    )
    again = BertForPreTraining.from_pretrained(newest.directory)
    other = make_optimizer(again, 0.01, 0.999)
    checkpoint.load_optimizer(newest, other)
    assert all(
        torch.equal(ours_weight, two) for ours_weight, two in zip(model.parameters(), again.parameters(), strict=True)
    )
    moments = [state["exp_avg"] for state in optimizer.state.values()]
    assert all(
        torch.equal(ours_weight, state["exp_avg"])
        for ours_weight, state in zip(moments, other.state.values(), strict=True)
    )


def test_the_newest_is_that_of_the_most_steps_and_others_go_once_it_is_whole(tmp_path: Path) -> None:
    saved(tmp_path / "a", 12)
    for step in (2, 9):
        saved(tmp_path / "b", step)
        (tmp_path / "b" / f"step-{step:09d}").rename(tmp_path / "a" / f"step-{step:09d}")
    (tmp_path / "a" / "step-x").mkdir()
    (tmp_path / "a" / "notes").mkdir()
    newest = checkpoint.newest(str(tmp_path / "a"))
    assert newest is not None
    assert newest.step == 12
    saved(tmp_path / "a", 10)
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["notes", "step-000000010", "step-x"]


def test_a_checkpoint_written_over_an_older_one_of_its_step_is_not_whole_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path, 4)

    def fail(self: Any, directory: str, about: Any) -> None:
        assert not files.exists(files.join(directory, "state.json"))
        raise KeyboardInterrupt

    monkeypatch.setattr(BertForPreTraining, "save_pretrained", fail)
    with pytest.raises(KeyboardInterrupt):
        saved(tmp_path, 4)


def test_one_without_its_state_is_passed_over_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    saved(tmp_path / "a", 4)
    saved(tmp_path / "b", 2)
    (tmp_path / "b" / "step-000000002").rename(tmp_path / "a" / "step-000000002")
    (tmp_path / "a" / "step-000000004" / "state.json").unlink()
    newest = checkpoint.newest(str(tmp_path / "a"))
    assert newest is not None
    assert newest.step == 2
    assert "step-000000004 has no state.json" in caplog.text
    assert checkpoint.newest(str(tmp_path / "nowhere")) is None


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "optimizer.pt", "state.json"])
@pytest.mark.parametrize("damage", ["flip", "cut", "delete"])
def test_a_damaged_file_is_an_error_that_names_it_and_the_remedy(tmp_path: Path, name: str, damage: str) -> None:
    saved(tmp_path, 4)
    path = tmp_path / "step-000000004" / name
    data = bytearray(path.read_bytes())
    if damage == "delete":
        if name == "state.json":
            pytest.skip("without its state it is no checkpoint")
        path.unlink()
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    else:
        data[len(data) // 2] ^= 2
        path.write_bytes(data)
    with pytest.raises(InputError, match=rf"{name}: this checkpoint is damaged: .*; delete this checkpoint's folder"):
        checkpoint.newest(str(tmp_path))


def test_files_in_the_folders_of_a_checkpoint_are_compared_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_generator(self: Any, directory: str, about: Any) -> None:
        files.write_bytes(f"{directory}/generator/model.safetensors", b"weights")

    monkeypatch.setattr(BertForPreTraining, "save_pretrained", with_generator)
    saved(tmp_path, 4)
    assert checkpoint.newest(str(tmp_path)) is not None
    (tmp_path / "step-000000004" / "generator" / "model.safetensors").write_bytes(b"Weights")
    with pytest.raises(InputError, match=r"generator/model\.safetensors: this checkpoint is damaged"):
        checkpoint.newest(str(tmp_path))


def test_a_checkpoint_without_digests_is_refused(tmp_path: Path) -> None:
    saved(tmp_path, 4)
    path = str(tmp_path / "step-000000004" / "state.json")
    state = files.read_json(path)
    files.write_json(path, {name: state[name] for name in ("step", "sampler", "settings")})
    with pytest.raises(InputError, match="this checkpoint is damaged: its state was changed after it was written"):
        checkpoint.newest(str(tmp_path))


def test_settings_that_differ_come_or_go_are_named_each_and_equal_ones_pass(tmp_path: Path) -> None:
    last = checkpoint.Checkpoint(str(tmp_path), 4, SAMPLER, {"max_steps": 9, "max_grad_norm": 1.0, "seed": 3}, "")
    checkpoint.check_settings(last, {"seed": 3, "max_grad_norm": 1.0, "max_steps": 9})
    with pytest.raises(
        ConfigError,
        match=r"run: adam was None and is 2; max_grad_norm was 1\.0 and is None; max_steps was 9 and is 8; use",
    ):
        checkpoint.check_settings(last, {"max_steps": 8, "adam": 2, "seed": 3})


def test_settings_of_several_values_are_those_that_were_written(tmp_path: Path) -> None:
    """A tuple is read back as a list."""
    model, optimizer = saved(tmp_path, 4)
    checkpoint.save(
        str(tmp_path), 5, model, optimizer, SAMPLER, {"phase_shares": ("0.7", "0.3")}, tokenizer=tokenizer_of()
    )
    newest = checkpoint.newest(str(tmp_path))
    assert newest is not None
    checkpoint.check_settings(newest, {"phase_shares": ("0.7", "0.3")})
    with pytest.raises(ConfigError, match=r"phase_shares was .* and is"):
        checkpoint.check_settings(newest, {"phase_shares": ("0.6", "0.4")})


def test_a_pickle_that_runs_code_is_refused_and_named(tmp_path: Path) -> None:
    _, optimizer = saved(tmp_path, 4)
    newest = checkpoint.newest(str(tmp_path))
    assert newest is not None
    path = tmp_path / "step-000000004" / "optimizer.pt"
    torch.save({"state": Evil(tmp_path / "ran")}, path)
    with pytest.raises(
        InputError, match=r"optimizer\.pt: is not an optimizer state of this model .*delete this checkpoint"
    ):
        checkpoint.load_optimizer(newest, optimizer)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("data", [b"", b"x", b"PK\x03\x04 cut"])
def test_an_optimizer_that_cannot_be_read_is_named(tmp_path: Path, data: bytes) -> None:
    _, optimizer = saved(tmp_path, 4)
    newest = checkpoint.newest(str(tmp_path))
    assert newest is not None
    (tmp_path / "step-000000004" / "optimizer.pt").write_bytes(data)
    with pytest.raises(InputError, match=r"optimizer\.pt: "):
        checkpoint.load_optimizer(replace(newest), optimizer)


class Evil:
    """What a pickle makes a file with when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)
