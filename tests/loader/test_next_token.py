"""Shifted labels and causal rows: exactly what is at each position."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, EpochBatchSampler, PermutationCollator, ShardExamples, causal_ranks
from bertdata.loader.next_token import check_next_token, shift_left
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.schema import ShardInfo
from tests.torch.build import write_build


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("b"), ExamplesConfig(objective="doc-sentences", max_seq_length=40))


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ExamplesConfig(objective="doc-sentences", max_seq_length=40, pack=True, pack_length=96)
    return write_build(tmp_path_factory.mktemp("p"), config)


def rows_of(batch: dict[str, Any], name: str, lengths: list[int]) -> list[list[int]]:
    """Return a column of each example of a padded or packed batch, without padding, which is checked to be empty."""
    if "cu_seqlens" in batch:
        ends = np.cumsum(lengths).tolist()
        values = batch[name][0].tolist()
        rest = values[ends[-1] :]
        rows = [values[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    else:
        rows = [row[:length].tolist() for row, length in zip(batch[name], lengths, strict=True)]
        rest = [value for row, length in zip(batch[name].tolist(), lengths, strict=True) for value in row[length:]]
    assert set(rest) <= {IGNORE_INDEX if name == "labels" else 0}
    return rows


@pytest.mark.parametrize("packing", [False, True])
def test_a_masked_token_is_the_label_of_the_position_before_it(build: Path, packing: bool) -> None:
    examples = ShardExamples(build)
    rows = examples.__getitems__([(2, number) for number in range(12)])
    lengths = [len(row["input_ids"]) for row in rows]
    plain, shifted = (
        BatchCollator(examples, packing=packing, shifted=is_shifted)(rows) for is_shifted in (False, True)
    )
    assert plain["input_ids"].tolist() == shifted["input_ids"].tolist()
    pairs = list(zip(rows_of(plain, "labels", lengths), rows_of(shifted, "labels", lengths), strict=True))
    assert all(after == [*before[1:], IGNORE_INDEX] for before, after in pairs)
    assert sum(label != IGNORE_INDEX for _, after in pairs for label in after) > 12
    assert {*plain} == {*shifted}


@pytest.mark.parametrize("packing", [False, True])
def test_causal_rows_have_every_next_token_as_label_and_no_mask(build: Path, packing: bool) -> None:
    examples = ShardExamples(build)
    rows = examples.__getitems__(range(12))
    ids = [row["input_ids"].tolist() for row in rows]
    lengths = [*map(len, ids)]
    shifted, plain = (
        BatchCollator(examples, packing=packing, causal=True, shifted=is_shifted)(rows) for is_shifted in (True, False)
    )
    assert rows_of(shifted, "input_ids", lengths) == ids
    assert rows_of(shifted, "labels", lengths) == [[*row[1:], IGNORE_INDEX] for row in ids]
    assert rows_of(plain, "labels", lengths) == [[IGNORE_INDEX, *row[1:]] for row in ids]


def test_packed_shards_give_the_labels_of_each_example_in_padded_and_packed_batches(packed: Path) -> None:
    examples = ShardExamples(packed)
    rows = examples.__getitems__([(0, number) for number in range(5)])
    borders = [np.diff(row["cu_seqlens"]).tolist() for row in rows]
    ids = [part.tolist() for row in rows for part in np.split(row["input_ids"], row["cu_seqlens"][1:-1])]
    lengths = [length for row in borders for length in row]
    assert len(lengths) > len(rows)
    for packing in (False, True):
        causal = BatchCollator(examples, packing=packing, causal=True, shifted=True)(rows)
        assert rows_of(causal, "labels", lengths) == [[*row[1:], IGNORE_INDEX] for row in ids]
        plain, shifted = (
            BatchCollator(examples, packing=packing, shifted=is_shifted)(rows) for is_shifted in (False, True)
        )
        for before, after in zip(rows_of(plain, "labels", lengths), rows_of(shifted, "labels", lengths), strict=True):
            assert after == [*before[1:], IGNORE_INDEX]


def test_attention_of_padded_causal_rows_is_to_the_tokens_up_to_each_and_never_to_padding(build: Path) -> None:
    examples = ShardExamples(build)
    rows = examples.__getitems__(range(6))
    batch = BatchCollator(examples, causal=True)(rows)
    mask, width = batch["attention_mask"], batch["input_ids"].shape[1]
    assert (mask.shape, mask.dtype) == ((6, 1, width, width), np.float32)
    for number, row in enumerate(rows):
        length = len(row["input_ids"])
        for place in range(width):
            assert np.flatnonzero(mask[number, 0, place] == 0).tolist() == [*range(min(place + 1, length))]
    assert set(np.unique(mask).tolist()) == {0.0, float(np.finfo(np.float32).min)}


def test_packed_causal_batches_say_so(build: Path) -> None:
    rows = ShardExamples(build).__getitems__(range(3))
    batch = BatchCollator(build, causal=True, packing=True)(rows)
    assert batch["is_causal"].shape == ()
    assert bool(batch["is_causal"])
    assert "attention_mask" not in batch


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=6))
def test_shifting_packed_labels_is_shifting_those_of_each_example(rows: list[list[int]]) -> None:
    flat, ends = [label for row in rows for label in row], np.cumsum([0, *map(len, rows)])
    expected = [label for row in rows for label in [*row[1:], IGNORE_INDEX]]
    assert shift_left(np.array([flat]), ends).tolist() == [expected]


def test_labels_do_not_depend_on_the_batch_or_the_rank(build: Path) -> None:
    examples = ShardExamples(build)
    labels_of: dict[tuple[int, int], list[int]] = {}
    for world_size, batch_size in ((1, 7), (3, 4)):
        for rank in range(world_size):
            collator = BatchCollator(examples, shifted=True, pad_to_multiple_of=world_size)
            for pairs in EpochBatchSampler(examples, batch_size, rank=rank, world_size=world_size):
                rows = examples.__getitems__(pairs)
                labels = rows_of(collator(rows), "labels", [len(row["input_ids"]) for row in rows])
                for (epoch, number, *_), one in zip(pairs, labels, strict=True):
                    assert labels_of.setdefault((epoch, number), one) == one
    assert len(labels_of) == len(examples)


def test_causal_rows_need_no_epoch_and_masked_ones_do(build: Path) -> None:
    rows = ShardExamples(build).__getitems__([0])
    BatchCollator(build, causal=True)(rows)
    with pytest.raises(ConfigError, match="the epoch of the examples is not known"):
        BatchCollator(build, shifted=True)(rows)


def test_static_masks_are_shifted_and_refused_for_causal_rows(static_build: Path) -> None:
    examples = ShardExamples(static_build)
    rows = examples.__getitems__(range(5))
    lengths = [len(row["input_ids"]) for row in rows]
    labels = rows_of(BatchCollator(examples, shifted=True)(rows), "labels", lengths)
    assert labels == [[*row["labels"][1:].tolist(), IGNORE_INDEX] for row in rows]
    with pytest.raises(ConfigError, match="causal was given, but the masks of these shards are static"):
        BatchCollator(examples, causal=True)


def test_labels_of_a_task_are_not_shifted() -> None:
    class TaskInfo:
        purpose, draws_masks = "rows for classification", False

    info: ShardInfo = TaskInfo()  # type: ignore[assignment]
    with pytest.raises(ConfigError, match="these shards hold rows for classification"):
        check_next_token(info, shifted=True, causal=False)
    check_next_token(info, shifted=False, causal=False)


def test_the_permutation_collator_takes_neither(build: Path) -> None:
    with pytest.raises(ConfigError, match="leave out shifted, causal and `training`"):
        PermutationCollator(build, shifted=True)


def test_the_last_ranks_are_causal_a_sixteenth_of_them() -> None:
    assert [*causal_ranks(16)] == [15]
    assert [*causal_ranks(6, 1 / 3)] == [4, 5]
    assert not causal_ranks(3, 0.0)
    assert [*causal_ranks(3, 1.0)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("world_size", "share", "message"),
    [
        (8, 1 / 16, "0.0625 of 8 ranks is 0.5 ranks; expected a whole number, as a share of 1/8"),
        (0, 0.5, "world_size is 0"),
        (4, 1.5, "share is 1.5"),
    ],
)
def test_shares_that_are_not_of_whole_ranks_are_refused(world_size: int, share: float, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        causal_ranks(world_size, share)
