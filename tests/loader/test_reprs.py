"""What stands in a notebook's output says what an object is and what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples, numpy_batches
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from tests.small_build import write_build


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("build"))


def test_shards_and_data_sets_say_where_they_are_and_how_many_rows_they_have(build: Path) -> None:
    shards, examples = open_shards(build), ShardExamples(str(build))
    assert repr(shards) == f"Shards({str(build)!r}, 'train'): {len(shards):,} rows for pretraining in 2 shards"
    assert repr(examples).startswith(
        f"ShardExamples({build}/train): {len(shards):,} rows for pretraining, with input_ids"
    )
    several = ShardExamples([str(build)] * 5)
    assert f"{build}/train and 2 more): {5 * len(shards):,} rows" in repr(several)


def test_a_sampler_says_its_batches_and_its_place_among_the_ranks(build: Path) -> None:
    sampler = EpochBatchSampler(range(100), 8, rank=1, world_size=4, seed=3, epochs=2)
    assert repr(sampler) == "EpochBatchSampler: 100 examples, batches of 8, 2 epochs, seed 3, rank 1 of 4"
    binned = EpochBatchSampler(ShardExamples(str(build)), max_tokens=256, bins=[16, 32], epochs=None)
    assert "in 2 bins, batches of 8 to 16, no end" in repr(binned)


def test_a_collator_says_how_it_masks_and_pads(build: Path, tmp_path: Path) -> None:
    examples = ShardExamples(str(build))
    masks = "masks of 15% of the tokens by token, seed 0"
    assert repr(BatchCollator(examples)) == f"BatchCollator: {masks}, padded to a multiple of 8"
    assert repr(BatchCollator(examples, packing=True, seed=5)).endswith("seed 5, packed in one row")
    falling = MaskingConfig(mask_schedule=("0=0.3", "1=0.15"))
    changing = "masks of a rate that changes, linear by --mask-schedule 0=0.3 1=0.15, by token"
    assert changing in repr(BatchCollator(examples, masking=falling))
    static = ShardExamples(str(write_build(tmp_path, ExamplesConfig(masking="static", max_seq_length=32))))
    assert "the masks in the shards" in repr(BatchCollator(static))
    assert repr(numpy_batches(str(build), 4)).count("\n") == 3
