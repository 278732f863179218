"""Masks that follow a schedule: functions of the position in the run, however the run is split and resumed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples, numpy_batches
from bertdata.masking.settings import MaskingConfig
from tests.loader.runs import Lengths, Pair, ranks, run

DATA = Lengths([8, 16, 30, 12, 64, 40, 7], (100, 110), repeat=30)
FALLING = MaskingConfig(mask_schedule=("0=0.60", "1=0.10"))
Levels = dict[Pair, int]


def levels_of(outputs: Sequence[Sequence[Sequence[Pair]]]) -> Levels:
    """Return the level of each (epoch, number)."""
    return {row[:2]: row[2] for batches in outputs for batch in batches for row in batch}


WAYS: list[dict[str, Any]] = [{}, {"bins": (16, 64)}, {"weights": (3, 1)}, {"bins": (16, 64), "weights": (1, 2)}]


@pytest.mark.costly
@pytest.mark.parametrize("way", WAYS)
def test_levels_do_not_depend_on_ranks_batch_size_or_where_the_run_was_resumed(way: dict[str, Any]) -> None:
    way = way | {"epochs": 3, "run_epochs": 3.0}
    expected = levels_of(run(ranks(DATA, 1, batch_size=4, **way)))
    assert min(expected.values()) == 0
    assert 995 < max(expected.values()) < 1000
    for world_size, batch_size in ((2, 7), (3, 1), (5, 16)):
        assert levels_of(run(ranks(DATA, world_size, batch_size=batch_size, **way))) == expected
    first = ranks(DATA, 3, batch_size=5, **way)
    before = run(first, 9)
    state = json.loads(json.dumps(first[0].state_dict(9)))
    second = ranks(DATA, 2, batch_size=11, **way)
    for sampler in second:
        sampler.load_state_dict(state)
    assert levels_of([*before, *run(second)]) == expected


def test_the_level_is_the_share_of_the_run_and_stays_at_its_end() -> None:
    batches = list(EpochBatchSampler(range(10), 1, epochs=4, run_epochs=2.0))
    assert [row[2] for [row] in batches] == [min(1000, 50 * place) for place in range(40)]


def test_without_a_schedule_the_sampler_yields_pairs_and_its_state_is_as_before() -> None:
    sampler = EpochBatchSampler(range(10), 2)
    assert {len(row) for batch in sampler for row in batch} == {2}
    assert "run" not in sampler.state_dict()


def test_another_length_of_the_run_is_refused_on_resuming() -> None:
    state = EpochBatchSampler(range(10), 2, run_epochs=2.0).state_dict()
    for other in (3.0, None):
        with pytest.raises(ConfigError, match=r"of a run of 2 epochs \(20 examples\).*give the same run_epochs"):
            EpochBatchSampler(range(10), 2, run_epochs=other).load_state_dict(state)


class Scheduled(Lengths):
    follows_schedule = True


def test_the_length_of_the_run_is_needed_and_is_not_exceeded_unless_given() -> None:
    with pytest.raises(ConfigError, match="give run_epochs"):
        EpochBatchSampler(Scheduled([8] * 10), 2, epochs=None)
    with pytest.raises(ConfigError, match="expected more than 0"):
        EpochBatchSampler(range(10), 2, run_epochs=0)
    sampler = EpochBatchSampler(Scheduled([8] * 10), 2)
    assert len(list(sampler)) == 5
    with pytest.raises(ConfigError, match=r"has ended; give run_epochs"):
        next(iter(sampler))
    assert next(islice(EpochBatchSampler(Scheduled([8] * 10), 2, epochs=None, run_epochs=0.5), 9, None))[0][2] == 1000


@pytest.mark.parametrize("packing", [False, True])
def test_the_share_of_masked_tokens_follows_the_schedule_over_the_run(dynamic_build: Path, packing: bool) -> None:
    epochs = 40
    batches = list(numpy_batches(dynamic_build, 16, masking=FALLING, epochs=epochs, packing=packing))
    info = ShardExamples(dynamic_build).info
    for quarter in range(4):
        part = batches[quarter * len(batches) // 4 : (quarter + 1) * len(batches) // 4]
        labels = sum(int((batch["labels"] != -100).sum()) for batch in part)
        special = (info.pad_token_id, info.cls_token_id, info.sep_token_id)
        ordinary = sum(
            int((~np.isin(example["input_ids"], special) | (example["labels"] != -100)).sum()) for example in part
        )
        expected = 0.6 - 0.5 * (quarter + 0.5) / 4
        assert labels / ordinary == pytest.approx(expected, abs=0.01)


def test_masks_of_each_row_are_those_of_its_level(dynamic_build: Path) -> None:
    examples = ShardExamples(dynamic_build)
    collator = BatchCollator(examples, masking=FALLING)
    rows = [(epoch, number, level) for epoch in (0, 1) for number in range(9) for level in (0, 500, 1000)]
    batch = collator.arrays(examples.__getitems__(rows))
    for place, (epoch, number, level) in enumerate(rows):
        alone = BatchCollator(examples, masking=FALLING.at(level)).arrays(examples.__getitems__([(epoch, number)]))
        width = alone["labels"].shape[1]
        assert (batch["labels"][place, :width] == alone["labels"][0]).all()
        assert (batch["input_ids"][place, :width] == alone["input_ids"][0]).all()


def test_rows_whose_position_is_not_known_are_refused_with_what_to_do(dynamic_build: Path) -> None:
    examples = ShardExamples(dynamic_build)
    collator = BatchCollator(examples, masking=FALLING, epoch=0)
    for index in (3, (0, 3)):
        for rows in (examples.__getitems__([index]), [examples[index]]):
            with pytest.raises(ConfigError, match="EpochBatchSampler with run_epochs"):
                collator.arrays(rows)
