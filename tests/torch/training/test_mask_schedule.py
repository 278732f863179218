"""Builds whose mask rate falls over the run: what the shards, verify, show, loaders and pretraining make of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

from bertdata.errors import ConfigError
from bertdata.inspect.examples import read_examples
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ShardDataset
from bertdata.torch.data.device_collator import DeviceCollator
from bertdata.torch.training.pretrain import pretrain
from bertdata.verify.build import verify
from tests.shards.build import TOKENIZER, write_build
from tests.torch.training.small_runs import SETTINGS, SMALL, losses, stop_at

FALLING = MaskingConfig(mask_schedule=("0=0.50", "1=0.10"), eval_masked_lm_prob=0.25)


def write(output: Path, **changes: Any) -> Path:
    examples = ExamplesConfig("doc-chunks", max_seq_length=48, **changes)
    masking = FALLING if examples.masking == "dynamic" else MaskingConfig(masked_lm_prob=0.4, eval_masked_lm_prob=0.2)
    return write_build(output, examples, documents=300, validation_fraction=0.3, masking=masking)


@pytest.fixture(scope="module")
def falling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("falling"))


def rates(build: Path) -> list[float]:
    splits = open_shards(build).manifest["splits"]
    return [splits[name]["counts"]["predictions"] / splits[name]["counts"]["tokens_in_examples"] for name in splits]


def test_counts_are_those_of_the_beginning_and_of_validation_and_are_verified(falling: Path, tmp_path: Path) -> None:
    assert rates(falling) == pytest.approx([0.5, 0.25], abs=0.01)
    verify(falling)
    static = write(tmp_path, masking="static")
    assert rates(static) == pytest.approx([0.4, 0.2], abs=0.01)
    verify(static)


def test_show_has_the_masks_of_a_place_in_the_run(falling: Path) -> None:
    shards = open_shards(falling)
    predicted = [
        sum(example.predictions for example in read_examples(shards, range(30), at=place)) for place in (0.0, 1.0)
    ]
    assert predicted[0] > 3 * predicted[1] > 0


@pytest.mark.costly
@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_the_same_with_workers_and_on_the_device(falling: Path, workers: int) -> None:
    dataset = ShardDataset(falling)

    def sampler() -> ResumableBatchSampler:
        return ResumableBatchSampler(dataset, 16, epochs=2)

    expected = list(DataLoader(dataset, batch_sampler=sampler(), collate_fn=PretrainingCollator(dataset)))
    device = DeviceCollator(dataset)
    small = DataLoader(dataset, batch_sampler=sampler(), collate_fn=device, num_workers=workers)
    for batch, on_device in zip(expected, map(device.finish, small), strict=True):
        assert batch.keys() == on_device.keys()
        assert all(torch.equal(batch[name], on_device[name]) for name in batch)


def test_a_loader_that_does_not_know_the_position_is_refused_and_validation_needs_none(falling: Path) -> None:
    dataset = ShardDataset(falling)
    with pytest.raises(ConfigError, match="run_epochs"):
        next(iter(DataLoader(dataset, 8, collate_fn=PretrainingCollator(dataset))))
    validation = ShardDataset(str(falling / "validation"))
    batch = next(iter(DataLoader(validation, 8, collate_fn=PretrainingCollator(validation))))
    assert (batch["labels"] != -100).any()


@pytest.mark.costly
def test_pretraining_that_was_cut_off_goes_on_with_the_same_masks(falling: Path, tmp_path: Path) -> None:
    whole, cut, small = tmp_path / "whole", tmp_path / "cut", replace(SMALL, vocab_size=len(TOKENIZER.tokens))
    pretrain(falling, small, whole, SETTINGS)
    with pytest.raises(KeyboardInterrupt):
        pretrain(falling, small, cut, SETTINGS, report=stop_at(8))
    pretrain(falling, small, cut, SETTINGS)
    assert losses(cut) == losses(whole)
