"""After an iteration that was broken off the next goes on behind the last batch taken, whatever was fetched ahead."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from torch.utils.data import DataLoader

from bertdata.errors import ConfigError
from bertdata.loader import numpy_batches
from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ResumableLoader, ShardDataset

SIZE = 20  # the 98 rows are five batches
BATCHES = 5
WORKERS: list[dict[str, Any]] = [
    {},
    {"num_workers": 2},
    {"num_workers": 1, "prefetch_factor": 1},
    {"num_workers": 2, "prefetch_factor": 4, "persistent_workers": True},
]


def loader_of(kind: str, build: Path, **keywords: Any) -> tuple[Any, Any]:
    """Return a loader, and what has its state."""
    if kind == "numpy":
        batches = numpy_batches(build, SIZE)
        return batches, batches
    dataset = ShardDataset(build)
    sampler = ResumableBatchSampler(dataset, SIZE)
    if kind == "resumable":
        loader = ResumableLoader(dataset, sampler, **keywords)
        return loader, loader
    collator = PretrainingCollator(dataset)
    return DataLoader(dataset, batch_sampler=sampler, collate_fn=collator, **keywords), sampler


def plain(batches: Any) -> list[dict[str, Any]]:
    return [{name: value.tolist() for name, value in batch.items()} for batch in batches]


@pytest.fixture(scope="module")
def expected(dynamic_build: Path) -> list[dict[str, Any]]:
    """The batches of three epochs."""
    batches = numpy_batches(dynamic_build, SIZE)
    return [batch for _ in range(3) for batch in plain(batches)]


KINDS = [("numpy", {}), *((kind, workers) for kind in ("plain", "resumable") for workers in WORKERS)]


@pytest.mark.parametrize(
    ("kind", "keywords", "taken"),
    [
        (kind, keywords, taken)
        for kind, keywords in KINDS
        for taken in ((2, BATCHES) if keywords else (0, 2, BATCHES - 1, BATCHES))
    ],
)
def test_no_batch_is_lost_or_comes_twice_after_a_break(
    dynamic_build: Path, expected: list[dict[str, Any]], kind: str, keywords: dict[str, Any], taken: int
) -> None:
    loader, state = loader_of(kind, dynamic_build, **keywords)
    seen = plain(islice(loader, taken))
    assert state.state_dict()["position"] == min(taken * SIZE, 98)
    seen += plain(loader)
    assert len(seen) == (2 * BATCHES if taken == BATCHES else BATCHES)
    assert state.state_dict()["position"] == len(seen) // BATCHES * 98
    seen += plain(loader)
    assert seen == expected[: len(seen)]
    assert len(loader) == BATCHES


@pytest.mark.parametrize("keywords", WORKERS[:2])
def test_broken_off_again_and_again_a_run_without_end_goes_on(
    dynamic_build: Path, expected: list[dict[str, Any]], keywords: dict[str, Any]
) -> None:
    dataset = ShardDataset(dynamic_build)
    loader = ResumableLoader(dataset, ResumableBatchSampler(dataset, 14, epochs=None), **keywords)
    [whole] = [plain(islice(numpy_batches(dynamic_build, 14, epochs=None), 12))]
    assert [batch for taken in (3, 1, 5, 3) for batch in plain(islice(loader, taken))] == whole


def test_a_loader_that_is_begun_and_left_takes_nothing(dynamic_build: Path) -> None:
    loader, state = loader_of("plain", dynamic_build, num_workers=2)
    before = state.state_dict()
    iter(loader)
    assert state.state_dict() == before


def test_of_two_iterations_at_once_the_newest_counts() -> None:
    sampler = ResumableBatchSampler(range(12), 4)
    first = iter(sampler)
    taken = next(first)
    second = iter(sampler)
    rest = list(first)
    assert sampler.state_dict()["position"] == 4
    assert list(second) == rest
    assert [pair for batch in [taken, *rest] for pair in batch] == [
        pair for batch in ResumableBatchSampler(range(12), 4) for pair in batch
    ]


def test_a_data_loader_that_stands_further_up_but_reads_another_sampler_does_not_count() -> None:
    sampler = ResumableBatchSampler(range(12), 4)

    class Nested(DataLoader[int]):
        def begin(self) -> Iterator[Any]:
            return iter(sampler)

    running = Nested(range(9), num_workers=2).begin()  # type: ignore[arg-type]
    next(running)
    assert sampler.state_dict()["position"] == 4


@pytest.mark.parametrize("epochs", [1, 3])
def test_set_epoch_begins_the_iteration_of_that_number_from_its_start(epochs: int) -> None:
    sampler = ResumableBatchSampler(range(10), 4, epochs=epochs)
    iterations = [list(sampler) for _ in range(3)]
    for number in (2, 0, 1, 1):
        sampler.set_epoch(number)
        assert sampler.epoch == number * epochs
        assert list(islice(sampler, 2)) == iterations[number][:2]
    sampler.set_epoch(0)
    assert [list(sampler) for _ in range(3)] == iterations


def test_set_epoch_of_bins_and_of_a_run_without_end(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    sampler = ResumableBatchSampler(dataset, 4, bins=(16, 32), epochs=None)
    one = ResumableBatchSampler(dataset, 4, bins=(16, 32))
    first = [list(one), list(one)]
    sampler.set_epoch(1)
    assert list(islice(sampler, len(one) - 3)) == first[1][:-3]
    sampler.set_epoch(0)
    assert list(islice(sampler, len(one) - 3)) == first[0][:-3]


def test_set_epoch_keeps_a_loaded_state_of_that_epoch_and_refuses_another() -> None:
    first = ResumableBatchSampler(range(10), 4)
    whole = [list(first), list(first)]
    state = ResumableBatchSampler(range(10), 4).state_dict(3) | {"position": 14}
    sampler = ResumableBatchSampler(range(10), 4)
    sampler.load_state_dict(state)
    with pytest.raises(ConfigError, match=r"is in epoch 1, but set_epoch\(0\) was called"):
        sampler.set_epoch(0)
    sampler.set_epoch(1)
    assert list(sampler) == whole[1][1:]
    sampler.set_epoch(0)
    assert list(sampler) == whole[0]


def test_batches_out_of_order_are_refused(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    with pytest.raises(ConfigError, match="in_order is False"):
        ResumableLoader(dataset, ResumableBatchSampler(dataset, 4), num_workers=1, in_order=False)


def test_loaders_prepared_by_accelerate_count_epochs(dynamic_build: Path, expected: list[dict[str, Any]]) -> None:
    accelerate = pytest.importorskip("accelerate")
    loader, _ = loader_of("plain", dynamic_build, num_workers=2)
    prepared = accelerate.Accelerator(cpu=True).prepare(loader)
    assert plain(islice(prepared, 3)) == expected[:3]
    assert plain(prepared) == expected[:BATCHES]
    assert plain(prepared) == expected[BATCHES : 2 * BATCHES]
