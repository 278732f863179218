"""Builds whose positions are masked in turn: in the shards, by the loader, and counted again by verify."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.cli.show import run as show
from bertdata.errors import VerificationError
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.masking.masked import Masked
from bertdata.masking.masking import Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.torch import DeviceCollator
from bertdata.verify.build import verify
from tests.shards.build import write_build

IN_TURN = MaskingConfig(0.3, mask_unit="token-ngram", ngram_weights=("1", "1", "1"), mask_in_turn=True)


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("dynamic"), masking=IN_TURN)


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    examples = ExamplesConfig("doc-sentences", max_seq_length=32, masking="static", dupe_factor=3)
    return write_build(tmp_path_factory.mktemp("static"), examples, masking=IN_TURN)


def test_verify_draws_static_and_dynamic_masks_again(
    static: Path, dynamic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify(static)
    verify(dynamic)
    mask: Any = Masker.mask

    def mask_of_the_next_epoch(self: Masker, *batch: Any, **flags: Any) -> Masked:
        masked: Masked = mask(self, *batch[:-1], batch[-1] + 1, **flags)
        return masked

    monkeypatch.setattr(Masker, "mask", mask_of_the_next_epoch)
    with pytest.raises(VerificationError, match="the mask is not the one drawn"):
        verify(static)


def test_the_loader_masks_each_position_once_in_a_round_on_the_device_too(dynamic: Path) -> None:
    examples = ShardExamples(dynamic)
    collator, device = BatchCollator(examples), DeviceCollator(examples)
    numbers = range(len(examples))
    counts: Any = 0
    for epoch in range(12):
        given = examples.__getitems__([(epoch, number) for number in numbers])
        batch = collator(given)
        counts = counts + (batch["labels"] >= 0).astype(np.int64)
        on_device = device.finish(device(given))
        assert on_device["labels"].tolist() == batch["labels"].tolist()
        assert on_device["input_ids"].tolist() == batch["input_ids"].tolist()
    plain = collator(examples.__getitems__([(0, number) for number in numbers]))
    ids = np.where(plain["labels"] >= 0, plain["labels"], plain["input_ids"])
    ordinary = (plain["attention_mask"] == 1) & ~np.isin(ids, [examples.info.cls_token_id, examples.info.sep_token_id])
    for row, there in zip(counts, ordinary, strict=True):
        if there.sum() >= 12:
            assert row[there].max() - row[there].min() <= 1


def test_validation_is_masked_alike_in_every_epoch(dynamic: Path) -> None:
    validation = open_shards(dynamic, "validation")
    info = validation.expect_pretraining()
    assert info.masker(validation.tokenizer(), split="validation").config.mask_in_turn is False
    assert info.masker(validation.tokenizer(), split="train").config.mask_in_turn is True


def test_show_says_that_positions_are_masked_in_turn(dynamic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = {"grep": None, "index": 0, "count": 1, "epoch": None, "at": None, "color": "never"}
    show(argparse.Namespace(dropped=None, shards=str(dynamic), split=None, **options))
    assert "Tokens to predict are each position of a row once before any is masked again" in capsys.readouterr().out
    show(argparse.Namespace(dropped=None, shards=str(dynamic), split="validation", **options))
    assert "Tokens to predict are" not in capsys.readouterr().out
