"""The parts of an update by the memory of a device: on a CPU what is kept for the backward pass stands in for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bertdata.errors import ConfigError
from bertdata.shards import open_shards
from bertdata.torch import BertForPreTraining
from bertdata.torch.training import parts
from bertdata.torch.training.distributed import Group
from bertdata.torch.training.phases import Phase, open_rows, plan_phases
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.run import Run
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.training.small_runs import SETTINGS as TWELVE_STEPS
from tests.torch.training.small_runs import SMALL, log, losses, stop_at

SETTINGS = replace(TWELVE_STEPS, max_steps=3, save_steps=100, gradient_accumulation_steps=0)


def bytes_kept(device: torch.device, work: Callable[[], None]) -> int:
    """Return the bytes that are kept for the backward pass of some work."""
    storages: dict[int, Any] = {}

    def keep(value: Tensor) -> Tensor:
        storages[value.untyped_storage()._cdata] = value.untyped_storage()
        return value

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
        work()
    return sum(storage.nbytes() for storage in storages.values())


@pytest.fixture
def needs(monkeypatch: pytest.MonkeyPatch) -> list[parts.Need]:
    """The needs that are measured, in a device of 4 GB."""
    measured: list[parts.Need] = []
    need_of = parts.need_of

    def noted(run: Run, phase: Phase, settings: PretrainSettings) -> parts.Need:
        measured.append(need_of(run, phase, settings))
        return measured[-1]

    monkeypatch.setattr(parts, "need_of", noted)
    monkeypatch.setattr(parts, "most_memory", bytes_kept)
    monkeypatch.setattr(parts, "device_memory", lambda device: 4e9)
    return measured


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The parts of each phase of the runs."""
    numbers: list[int] = []
    phases_that_fit = parts.phases_that_fit

    def noted(*given: Any) -> list[Phase]:
        phases = phases_that_fit(*given)
        numbers.extend(phase.accumulation_steps for phase in phases)
        return phases

    monkeypatch.setattr("bertdata.torch.training.pretrain.phases_that_fit", noted)
    return numbers


def log_length(build: Path) -> int:
    """Return the longest rows of a build, in tokens."""
    return int(open_shards(build).info.max_seq_length)


def memory_for(need: parts.Need, tokens: float) -> float:
    """Return the memory of a device into which some tokens just fit."""
    return (need.fixed + need.token * tokens * 1.001) / parts._SHARE


@pytest.mark.costly
def test_an_update_has_as_few_parts_as_fit_and_learns_the_same(
    tmp_path: Path, dynamic_build: Path, needs: list[parts.Need], chosen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretrain(dynamic_build, SMALL, tmp_path / "whole", SETTINGS)
    [need], length = needs, log(tmp_path / "whole")[0]["max_seq_length"]
    for rows, expected in ((8, 1), (7, 2), (4, 2), (3, 4), (1, 8)):
        memory = memory_for(need, rows * length)
        monkeypatch.setattr(parts, "device_memory", lambda device, memory=memory: memory)
        chosen.clear()
        pretrain(dynamic_build, SMALL, tmp_path / str(rows), SETTINGS)
        assert chosen == [expected]
        assert losses(tmp_path / str(rows)) == pytest.approx(losses(tmp_path / "whole"), abs=2e-5)


def test_where_twice_the_rows_that_are_measured_do_not_fit_parts_have_as_many(
    tmp_path: Path, dynamic_build: Path, needs: list[parts.Need], chosen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def for_one_batch(device: torch.device, work: Callable[[], None]) -> int:
        calls.append(1)
        if len(calls) == 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return bytes_kept(device, work)

    monkeypatch.setattr(parts, "most_memory", for_one_batch)
    monkeypatch.setattr(parts, "_TOKENS", 2 * log_length(dynamic_build))
    pretrain(dynamic_build, SMALL, tmp_path / "run", SETTINGS)
    assert len(calls) == 2
    assert chosen == [4], "8 rows an update, 2 at once"


@pytest.mark.costly
@pytest.mark.parametrize(
    "changes",
    [{"fp16": True, "optim": "muon"}, {"packing": True}, {"gradient_checkpointing": True}, {"dropout_by": "torch"}],
)
def test_measuring_changes_no_loss_and_no_layer(
    tmp_path: Path,
    dynamic_build: Path,
    needs: list[parts.Need],
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
) -> None:
    settings = replace(SETTINGS, **changes)
    pretrain(dynamic_build, SMALL, tmp_path / "measured", settings)
    assert len(needs) == 1
    monkeypatch.setattr(parts, "device_memory", lambda device: 0)
    pretrain(dynamic_build, SMALL, tmp_path / "plain", settings)
    assert len(needs) == 1
    assert losses(tmp_path / "measured") == losses(tmp_path / "plain")


def test_a_token_takes_what_is_kept_for_it_and_less_with_gradient_checkpointing(
    tmp_path: Path, dynamic_build: Path, needs: list[parts.Need]
) -> None:
    for again in (False, True):
        pretrain(dynamic_build, SMALL, tmp_path / str(again), replace(SETTINGS, gradient_checkpointing=again))
    assert needs[1].token < needs[0].token / 2
    layers, width, inner = SMALL.num_hidden_layers, SMALL.hidden_size, SMALL.intermediate_size
    values = layers * (8 * width + 2 * inner)  # of attention, the residuals and the inner layer, float32 at least
    assert 4 * values < needs[0].token < 16 * values


@pytest.mark.costly
def test_each_phase_has_its_parts(
    tmp_path: Path, two_lengths: Path, needs: list[parts.Need], chosen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(SETTINGS, max_steps=10, last_share=0.4)
    pretrain(two_lengths, SMALL, tmp_path / "plain", settings)
    assert chosen == [1, 1], "on a large device longer rows need not be split"
    memory = memory_for(max(needs, key=lambda need: need.token), 2 * 48)
    monkeypatch.setattr(parts, "device_memory", lambda device: memory)
    pretrain(two_lengths, SMALL, tmp_path / "small", settings)
    assert chosen[2] < chosen[3] == 4
    assert losses(tmp_path / "small") == pytest.approx(losses(tmp_path / "plain"), abs=2e-5)


def test_parts_that_are_given_and_updates_of_tokens_are_not_measured(
    tmp_path: Path, dynamic_build: Path, needs: list[parts.Need]
) -> None:
    pretrain(dynamic_build, SMALL, tmp_path / "given", replace(SETTINGS, gradient_accumulation_steps=2))
    pretrain(dynamic_build, SMALL, tmp_path / "tokens", replace(SETTINGS, packing=True, batch_tokens=256))
    assert not needs


def test_a_row_that_does_not_fit_is_said(
    tmp_path: Path,
    dynamic_build: Path,
    needs: list[parts.Need],
    chosen: list[int],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(parts, "device_memory", lambda device: 1e5)
    with caplog.at_level(logging.WARNING, "bertdata"):
        pretrain(dynamic_build, SMALL, tmp_path, SETTINGS)
    assert chosen == [8]
    assert "take --gradient-checkpointing, --bf16 or a smaller model if memory runs out" in caplog.text


def test_all_processes_take_the_parts_of_the_one_that_needs_most(
    tmp_path: Path, dynamic_build: Path, needs: list[parts.Need], chosen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Group, "all_reduce_max", lambda self, values: [4.0] if len(values) == 1 else list(values))
    pretrain(dynamic_build, SMALL, tmp_path, SETTINGS)
    assert chosen == [4]


@pytest.mark.parametrize("place", ["pretrain.train", "parts.most_memory"])
def test_where_memory_runs_out_a_line_says_what_takes_less(
    tmp_path: Path, dynamic_build: Path, needs: list[parts.Need], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def full(*given: Any) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(f"bertdata.torch.training.{place}", full)
    [phase] = plan_phases(open_rows(dynamic_build), SETTINGS, 8, 1)
    length = phase.dataset.info.max_seq_length
    with pytest.raises(ConfigError, match=f"rows of up to {length} tokens; take `bf16` or `gradient_checkpointing`"):
        pretrain(dynamic_build, SMALL, tmp_path, SETTINGS)


@pytest.mark.costly
@pytest.mark.parametrize("optim", ["adamw", "muon", "stable_adamw"])
def test_moments_that_a_resumed_run_has_are_not_counted_again(
    tmp_path: Path, dynamic_build: Path, needs: list[parts.Need], monkeypatch: pytest.MonkeyPatch, optim: str
) -> None:
    coming: list[int] = []
    bytes_coming = parts.coming

    def noted(run: Run) -> int:
        coming.append(bytes_coming(run))
        return coming[-1]

    monkeypatch.setattr(parts, "coming", noted)
    settings = replace(SETTINGS, optim=optim, max_steps=4, save_steps=2)

    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path, settings, report=stop_at(3))
    pretrain(dynamic_build, SMALL, tmp_path, settings)
    weights = BertForPreTraining(SMALL).parameters()
    assert coming == [8 * sum(weight.numel() for weight in weights), 0]
