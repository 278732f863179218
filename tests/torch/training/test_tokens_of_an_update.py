"""Updates of so many tokens are of the rows that fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bertdata.errors import ConfigError
from bertdata.torch import (
    ResumableBatchSampler,
    ShardDataset,
)
from bertdata.torch.training import steps
from bertdata.torch.training.losses import sent
from bertdata.torch.training.pretrain import _advise_on_attention, pretrain
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.training.small_runs import SETTINGS, SMALL, log, losses, stop_at


def test_an_update_of_so_many_tokens_is_one_of_the_rows_that_fit(tmp_path: Path, dynamic_build: Path) -> None:
    """Rows are those of the order; the loss of the first update is that of the same rows without padding."""
    settings = replace(SETTINGS, packing=True, batch_tokens=256, max_steps=4)
    pretrain(dynamic_build, SMALL, tmp_path / "tokens", settings)
    dataset = ShardDataset(dynamic_build)
    sampler = ResumableBatchSampler(dataset, batch_tokens=256, epochs=None)
    rows = [len(batch) for batch, _ in zip(sampler, range(4), strict=False)]
    assert len({*rows}) > 1, "rows are of different lengths"
    assert [record["epoch"] for record in log(tmp_path / "tokens")] == [
        sum(rows[: number + 1]) / len(dataset) for number in range(4)
    ]
    pretrain(
        dynamic_build, SMALL, tmp_path / "rows", replace(settings, batch_tokens=0, batch_size=rows[0], max_steps=1)
    )
    assert losses(tmp_path / "tokens")[0] == pytest.approx(losses(tmp_path / "rows")[0], abs=1e-5)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(settings, save_steps=2), report=stop_at(3))
    pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(settings, save_steps=2))
    assert losses(tmp_path / "cut") == losses(tmp_path / "tokens")


def test_packed_rows_of_so_many_tokens_have_one_shape(
    tmp_path: Path, two_lengths: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes: set[tuple[int, ...]] = set()

    def noted(batch: Any, device: torch.device) -> dict[str, Any]:
        shapes.add(tuple(batch["input_ids"].shape))
        return sent(batch, device)

    monkeypatch.setattr(steps, "sent", noted)
    settings = replace(SETTINGS, packing=True, batch_tokens=256, gradient_accumulation_steps=2, max_steps=6)
    pretrain(two_lengths, SMALL, tmp_path, replace(settings, last_share=0.5))
    assert shapes == {(1, 128)}


def test_an_update_of_so_many_tokens_is_of_other_rows_in_other_parts_so_a_run_keeps_them(
    tmp_path: Path, dynamic_build: Path
) -> None:
    settings = replace(SETTINGS, packing=True, batch_tokens=256, max_steps=4, save_steps=2)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path, settings, report=stop_at(3))
    with pytest.raises(ConfigError, match="over all processes was 1 and is 2"):
        pretrain(dynamic_build, SMALL, tmp_path, replace(settings, gradient_accumulation_steps=2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_tokens": 64}, "`batch_tokens` 64 are of packed rows; add `packing`, or give `batch_size`"),
        ({"batch_tokens": 100, "packing": True}, "`batch_tokens` 100 cannot be split evenly for 1 processes and"),
        ({"batch_tokens": 16, "packing": True}, "batch_tokens is 16, but the longest row has 32 tokens"),
    ],
)
def test_tokens_of_an_update_that_do_not_fit_are_refused(
    tmp_path: Path, dynamic_build: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        pretrain(dynamic_build, SMALL, tmp_path, replace(SETTINGS, **changes))


def test_what_keeps_packed_rows_from_flash_attention_is_said_with_the_remedy(caplog: pytest.LogCaptureFixture) -> None:
    packed = PretrainSettings(packing=True, bf16=True)
    _advise_on_attention("", SMALL, replace(packed, packing=False))
    _advise_on_attention("", replace(SMALL, attention_probs_dropout_prob=0.0), packed)
    assert not caplog.records
    _advise_on_attention("", SMALL, packed)
    assert "attention_probs_dropout_prob is 0.1, and torch's kernel for packed rows has no dropout" in caplog.text
