"""The loader on shards in length bins, packed shards, and sources mixed by name."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples
from bertdata.objectives.settings import ExamplesConfig
from tests.shards.build import write_build

Key = tuple[int, ...]
PLAIN: dict[str, Any] = {"max_seq_length": 32, "short_seq_prob": 0.5}


@pytest.fixture(scope="module", params=["dynamic", "static"])
def builds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same examples one a row, and packed."""
    folder = tmp_path_factory.mktemp("packed")
    plain = write_build(folder / "plain", ExamplesConfig(masking=request.param, **PLAIN))
    packed = write_build(folder / "packed", ExamplesConfig(masking=request.param, **PLAIN, pack=True, pack_length=64))
    return plain, packed


def masked_examples(path: Path, packing: bool, epoch: int) -> dict[tuple[Key, int], list[tuple[Key, Key]]]:
    """Return the masked ids, token types and labels of each example from the collator, by its ids and pair label."""
    examples = ShardExamples(path)
    collator = BatchCollator(examples, packing=packing)
    masked: dict[tuple[Key, int], list[tuple[Key, Key]]] = {}
    for start in range(0, len(examples), 7):
        numbers = range(start, min(start + 7, len(examples)))
        batch = collator.arrays(examples.__getitems__([(epoch, number) for number in numbers]))
        if packing:
            bounds = batch["cu_seqlens"].tolist()[: len(batch["next_sentence_label"]) + 1]
            parts = [(0, slice(begin, end)) for begin, end in pairwise(bounds)]
            assert all((batch["position_ids"][part] == np.arange(part[1].stop - part[1].start)).all() for part in parts)
        else:
            parts = [(row, slice(0, int(size))) for row, size in enumerate(batch["attention_mask"].sum(1))]
        for part, label in zip(parts, batch["next_sentence_label"].tolist(), strict=True):
            ids, types, labels = (
                tuple(batch[name][part].tolist()) for name in ("input_ids", "token_type_ids", "labels")
            )
            whole = tuple(np.where(np.array(labels) == -100, ids, labels).tolist())
            masked.setdefault((whole, label), []).append((ids, types + labels))
    return {key: sorted(rows) for key, rows in masked.items()}


@pytest.mark.parametrize("packing", [False, True])
@pytest.mark.parametrize("epoch", [0, 3])
def test_packed_shards_give_the_examples_and_masks_of_those_that_are_not(
    builds: tuple[Path, Path], packing: bool, epoch: int
) -> None:
    plain, packed = builds
    expected = masked_examples(plain, False, epoch)
    assert sum(map(len, expected.values())) == len(ShardExamples(plain)) > 50
    assert masked_examples(packed, packing, epoch) == expected


def test_a_packed_batch_of_packed_rows_has_hardly_any_padding(builds: tuple[Path, Path]) -> None:
    examples = ShardExamples(builds[1])
    rows = examples.__getitems__([(0, number) for number in range(len(examples))])
    batch = BatchCollator(examples, packing=True).arrays(rows)
    assert batch["input_ids"].shape[1] > 0.95 * 64 * len(examples)
    assert len(batch["next_sentence_label"]) > len(examples)


def test_packed_rows_are_read_one_by_one_and_pickled(builds: tuple[Path, Path]) -> None:
    examples = ShardExamples(builds[1])
    rows = [examples[(2, number)] for number in range(5)]
    assert all(row["cu_seqlens"][-1] == len(row["input_ids"]) for row in rows)
    collator = BatchCollator(examples, packing=True)
    unpickled = collator.arrays(pickle.loads(pickle.dumps(examples.__getitems__([(2, number) for number in range(5)]))))
    other = collator.arrays(rows)
    assert all(np.array_equal(unpickled[name], other[name]) for name in unpickled)


def test_packed_and_other_shards_are_not_read_together(builds: tuple[Path, Path]) -> None:
    with pytest.raises(ConfigError, match=r"has another `pack` than .*: packed here, not packed there"):
        ShardExamples(list(builds))


@pytest.fixture(scope="module")
def binned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("binned"), ExamplesConfig(**PLAIN, bin_size=8))


def test_shards_in_bins_are_read_in_their_bins_without_being_asked(binned: Path) -> None:
    examples = ShardExamples(binned)
    assert examples.bins == (8, 16, 24, 32)
    sampler = EpochBatchSampler(examples, 4)
    assert {length_bin.width for length_bin in sampler.bins} == set(np.unique(-(-examples.lengths // 8) * 8).tolist())
    seen = []
    for batch in sampler:
        numbers = [number for _, number in batch]
        seen += numbers
        assert len(numbers) < 4 or len({-(-int(length) // 8) for length in examples.lengths[numbers]}) == 1
    assert sorted(seen) == list(range(len(examples)))
    other = EpochBatchSampler(examples, 4, bins=(16, 32))
    assert [length_bin.width for length_bin in other.bins] == [16, 32]


def test_every_batch_of_one_bin_pads_by_less_than_the_bin(binned: Path) -> None:
    examples = ShardExamples(binned)
    collator = BatchCollator(examples, pad_to_multiple_of=1)
    padding = [
        int((1 - collator.arrays(examples.__getitems__(batch))["attention_mask"]).sum(1).max())
        for batch in EpochBatchSampler(examples, 4, drop_last=True)
    ]
    assert max(padding) < 8


@pytest.mark.costly
@pytest.mark.parametrize("bins", [None, (16, 32)])
@pytest.mark.parametrize("pack", [False, True])
def test_sources_come_by_weight_and_each_example_of_a_source_as_often(
    bins: tuple[int, ...] | None, pack: bool, tmp_path: Path
) -> None:
    config = ExamplesConfig(**PLAIN, pack=pack)
    examples = ShardExamples(write_build(tmp_path, config, documents=60))
    assert examples.source_names == ("wikipedia", "books")
    sizes = np.bincount(examples.sources)
    sampler = EpochBatchSampler(examples, 8, weights={"books": 1, "wikipedia": 3}, bins=bins, epochs=40)
    drawn = np.bincount([number for batch in sampler for _, number in batch], minlength=len(examples))
    shares = np.array([drawn[examples.sources == source].sum() for source in (0, 1)]) / drawn.sum()
    assert shares[0] == pytest.approx(0.75, abs=0.02)
    if bins is None:
        for source in (0, 1):
            assert np.ptp(drawn[examples.sources == source]) <= 1
    assert min(sizes) > 5


@pytest.mark.parametrize("weights", [{"wikipedia": 1}, {"wikipedia": 1, "books": 1, "news": 1}, {}])
def test_weights_of_other_sources_are_refused_with_the_list(binned: Path, weights: dict[str, float]) -> None:
    with pytest.raises(
        ConfigError, match="but the sources of these shards are wikipedia, books; expected one for each"
    ):
        EpochBatchSampler(ShardExamples(binned), 4, weights=weights)


def test_a_mixture_by_source_resumes_exactly(binned: Path) -> None:
    examples = ShardExamples(binned)
    whole = EpochBatchSampler(examples, 4, weights={"wikipedia": 3, "books": 1})
    batches = list(whole)
    first = EpochBatchSampler(examples, 4, weights={"wikipedia": 3, "books": 1})
    taken = [batch for batch, _ in zip(first, range(5), strict=False)]
    state = first.state_dict(5)
    rest = EpochBatchSampler(examples, 4, weights={"books": 1, "wikipedia": 3})
    rest.load_state_dict(state)
    assert taken + list(rest) == batches


@pytest.mark.parametrize("packing", [False, True])
def test_packed_rows_of_two_epochs_in_a_batch_have_each_the_masks_of_its_own(
    builds: tuple[Path, Path], packing: bool
) -> None:
    examples = ShardExamples(builds[1])
    collator = BatchCollator(examples, packing=packing, pad_to_multiple_of=1)
    pairs = [(2, 0), (5, 1), (2, 2), (0, 0)]

    def labels(pairs: list[tuple[int, int]]) -> list[int]:
        batch = collator.arrays(examples.__getitems__(pairs))
        there = batch["attention_mask"].astype(bool) if "attention_mask" in batch else slice(None)
        labels_there: list[int] = batch["labels"][there].ravel().tolist()
        return labels_there

    assert labels(pairs) == [label for pair in pairs for label in labels([pair])]
