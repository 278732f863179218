"""After an iteration that was broken off the next goes on behind the last batch taken, whatever was fetched ahead."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from torch.utils.data import ConcatDataset, DataLoader, Subset

from bertdata.errors import ConfigError
from bertdata.loader import EpochBatchSampler, ShardExamples, numpy_batches
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
    loader = ResumableLoader(dataset := ShardDataset(build), ResumableBatchSampler(dataset, SIZE), **keywords)
    return loader, loader


def plain_loader_of(build: Path, epochs: int = 1, **keywords: Any) -> tuple[DataLoader[Any], ResumableBatchSampler]:
    """Return a loader of torch, and its sampler."""
    dataset = ShardDataset(build)
    sampler = ResumableBatchSampler(dataset, SIZE, epochs=epochs)
    return DataLoader(dataset, batch_sampler=sampler, collate_fn=PretrainingCollator(dataset), **keywords), sampler


def plain(batches: Any) -> list[dict[str, Any]]:
    return [{name: value.tolist() for name, value in batch.items()} for batch in batches]


@pytest.fixture(scope="module")
def expected(dynamic_build: Path) -> list[dict[str, Any]]:
    """The batches of three epochs."""
    batches = numpy_batches(dynamic_build, SIZE)
    return [batch for _ in range(3) for batch in plain(batches)]


KINDS = [("numpy", {}), *(("resumable", workers) for workers in WORKERS)]


@pytest.mark.costly
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


@pytest.mark.costly
@pytest.mark.parametrize("keywords", WORKERS[:2])
def test_broken_off_again_and_again_a_run_without_end_goes_on(
    dynamic_build: Path, expected: list[dict[str, Any]], keywords: dict[str, Any]
) -> None:
    dataset = ShardDataset(dynamic_build)
    loader = ResumableLoader(dataset, ResumableBatchSampler(dataset, 14, epochs=None), **keywords)
    [whole] = [plain(islice(numpy_batches(dynamic_build, 14, epochs=None), 12))]
    assert [batch for taken in (3, 2, 5, 2) for batch in plain(islice(loader, taken))] == whole


LEFT_EARLY = "left after its first batch, and it goes on with the second"


@pytest.mark.parametrize("kind", ["numpy", "resumable"])
def test_an_epoch_that_was_only_looked_at_goes_on_with_its_second_batch_and_says_so(
    dynamic_build: Path, expected: list[dict[str, Any]], kind: str
) -> None:
    batches, _ = loader_of(kind, dynamic_build)
    next(iter(batches))
    with pytest.warns(UserWarning, match=LEFT_EARLY):
        assert plain(batches) == expected[1:BATCHES]


def test_set_epoch_begins_an_epoch_that_was_looked_at_again(
    dynamic_build: Path, expected: list[dict[str, Any]]
) -> None:
    dataset = ShardDataset(dynamic_build)
    sampler = ResumableBatchSampler(dataset, SIZE)
    loader = ResumableLoader(dataset, sampler)
    next(iter(loader))
    sampler.set_epoch(0)
    assert plain(loader) == expected[:BATCHES]


def test_a_loader_that_is_begun_and_left_takes_nothing(dynamic_build: Path) -> None:
    loader, state = loader_of("resumable", dynamic_build, num_workers=2)
    before = state.state_dict()
    iter(loader)
    assert state.state_dict() == before


NOBODY = "nobody had told the sampler how many of them were used"


@pytest.mark.costly
@pytest.mark.parametrize("keywords", WORKERS[:2])
def test_a_state_of_a_plain_loader_is_refused_until_the_number_of_batches_is_told(
    dynamic_build: Path, expected: list[dict[str, Any]], keywords: dict[str, Any]
) -> None:
    loader, sampler = plain_loader_of(dynamic_build, **keywords)
    running = iter(loader)
    assert plain(islice(running, 2)) == expected[:2]
    state = sampler.state_dict()
    loader, sampler = plain_loader_of(dynamic_build, **keywords)
    sampler.load_state_dict(state)
    assert sampler.state_dict() == state
    for use in (lambda: next(iter(loader)), lambda: sampler.set_epoch(0)):
        with pytest.raises(ConfigError, match=NOBODY):
            use()
    with pytest.raises(ConfigError, match=f"the state is of a run that had asked for {state['asked']}"):
        sampler.state_dict(state["asked"] + 1)
    sampler.load_state_dict(sampler.state_dict(2))
    assert plain(loader) == expected[2:BATCHES]


def test_batches_of_another_size_do_not_say_where_a_run_was() -> None:
    sampler = ResumableBatchSampler(range(12), 4)
    next(iter(sampler))
    other = ResumableBatchSampler(range(12), 3)
    other.load_state_dict(sampler.state_dict())
    with pytest.raises(ConfigError, match="counts batches of another size"):
        other.state_dict(1)


@pytest.mark.costly
@pytest.mark.parametrize("keywords", WORKERS[:2])
def test_after_a_break_a_plain_loader_says_what_to_do(dynamic_build: Path, keywords: dict[str, Any]) -> None:
    whole = plain(numpy_batches(dynamic_build, SIZE, epochs=3))
    loader, sampler = plain_loader_of(dynamic_build, epochs=3, **keywords)
    assert plain(islice(loader, 2)) == whole[:2]
    with pytest.raises(ConfigError, match=r"where the next one begins is not known.* use ResumableLoader"):
        next(iter(loader))
    sampler.load_state_dict(sampler.state_dict(2))
    assert plain(loader) == whole[2:]
    sampler.set_epoch(0)
    assert plain(islice(loader, 3)) == whole[:3]


def test_epochs_of_a_plain_loader_follow_one_another_with_a_warning_once_unless_they_are_told(
    dynamic_build: Path, expected: list[dict[str, Any]]
) -> None:
    loader, sampler = plain_loader_of(dynamic_build)
    assert plain(loader) == expected[:BATCHES]
    with pytest.warns(UserWarning, match=r"the next epochs begin.* call sampler.set_epoch"):
        assert plain(loader) == expected[BATCHES : 2 * BATCHES]
    assert plain(loader) == expected[2 * BATCHES :]
    loader, sampler = plain_loader_of(dynamic_build)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        assert plain(loader) == expected[epoch * BATCHES : (epoch + 1) * BATCHES]


def test_an_iterator_that_began_before_set_epoch_follows_it_or_is_refused() -> None:
    sampler = ResumableBatchSampler(range(10), 4)
    epochs = []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        epochs.append(list(sampler))
    sampler.set_epoch(0)
    iterator = iter(sampler)
    sampler.set_epoch(1)
    assert list(iterator) == epochs[1]
    sampler.set_epoch(0)
    iterator = iter(sampler)
    next(iterator)
    sampler.set_epoch(0)  # where it began
    assert next(iterator) == epochs[0][1]
    sampler.set_epoch(1)
    with pytest.raises(ConfigError, match="after 2 batches of this iteration had been asked for"):
        next(iterator)


@pytest.mark.parametrize("epochs", [1, 3])
def test_set_epoch_begins_the_iteration_of_that_number_from_its_start(epochs: int) -> None:
    sampler = ResumableBatchSampler(range(10), 4, epochs=epochs)
    direct = EpochBatchSampler(range(10), 4, epochs=epochs)
    iterations = [list(direct) for _ in range(3)]
    for number in (2, 0, 1, 1):
        for each_sampler in (sampler, direct):
            each_sampler.set_epoch(number)
            assert each_sampler.epoch == number * epochs
            assert list(islice(each_sampler, 2)) == iterations[number][:2]
    direct.set_epoch(0)
    assert [list(direct) for _ in range(3)] == iterations


def test_set_epoch_of_bins_and_of_a_run_without_end(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    sampler = ResumableBatchSampler(dataset, 4, bins=(16, 32), epochs=None)
    sampler_of_bins = EpochBatchSampler(ShardExamples(dynamic_build), 4, bins=(16, 32))
    first = [list(sampler_of_bins), list(sampler_of_bins)]
    sampler.set_epoch(1)
    assert list(islice(sampler, len(sampler_of_bins) - 3)) == first[1][:-3]
    sampler.set_epoch(0)
    assert list(islice(sampler, len(sampler_of_bins) - 3)) == first[0][:-3]


def test_set_epoch_keeps_a_loaded_state_of_that_epoch_and_refuses_another() -> None:
    first = EpochBatchSampler(range(10), 4)
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


def test_set_epoch_keeps_the_state_of_an_iterator_that_was_not_asked_and_refuses_another_epoch() -> None:
    """As Lightning calls them where torchdata's StatefulDataLoader has its state: loads, begins, tells the epoch."""
    first = EpochBatchSampler(range(10), 4)
    whole = [list(first), list(first)]
    sampler = ResumableBatchSampler(range(10), 4)
    iterator = iter(sampler)
    iterator.load_state_dict(sampler.state_dict(3) | {"position": 14})
    with pytest.raises(ConfigError, match=r"is in epoch 1, but set_epoch\(0\) was called"):
        sampler.set_epoch(0)
    sampler.sampler.set_epoch(1)
    assert list(iterator) == whole[1][1:]


def test_batches_out_of_order_are_refused(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    with pytest.raises(ConfigError, match="in_order is False"):
        ResumableLoader(dataset, ResumableBatchSampler(dataset, 4), num_workers=1, in_order=False)


@pytest.mark.costly
def test_loaders_prepared_by_accelerate_count_epochs(
    dynamic_build: Path, expected: list[dict[str, Any]], fresh_process: Any
) -> None:
    loader, _ = plain_loader_of(dynamic_build, num_workers=2)
    prepared = fresh_process().prepare(loader)
    assert plain(islice(prepared, 3)) == expected[:3]
    assert plain(prepared) == expected[:BATCHES]
    assert plain(prepared) == expected[BATCHES : 2 * BATCHES]


@pytest.mark.parametrize("wrap", [lambda rows: Subset(rows, range(9)), lambda rows: ConcatDataset([rows])])
def test_wrappers_of_torch_that_take_numbers_alone_are_refused_and_work_without_the_sampler(
    dynamic_build: Path, wrap: Any
) -> None:
    dataset = ShardDataset(dynamic_build)
    with pytest.raises(ConfigError, match=r"which takes numbers, and this sampler yields \(epoch, number\)"):
        ResumableBatchSampler(wrap(dataset), 4)
    loader: DataLoader[Any] = DataLoader(wrap(dataset), shuffle=True, collate_fn=PretrainingCollator(dataset))
    assert len(list(loader)) == len(wrap(dataset))


def test_a_reader_that_takes_batches_ahead_of_our_loader_says_how_many_were_used(dynamic_build: Path) -> None:
    loader, _ = loader_of("resumable", dynamic_build)
    running = iter(loader)
    for _ in range(3):
        next(running)
    assert loader.state_dict()["position"] == 3 * SIZE
    assert loader.state_dict(2)["position"] == 2 * SIZE


@pytest.mark.parametrize("processes", [1, 2])
def test_who_asks_for_the_size_of_batches_to_divide_them_is_refused_on_several_processes(processes: int) -> None:
    sampler = ResumableBatchSampler(range(12), 4, rank=0, world_size=processes)
    if processes == 1:
        assert getattr(sampler, "batch_size", None) is None
        return
    with pytest.raises(ConfigError, match=r"divided once more.* leave the loader out of prepare"):
        _ = sampler.batch_size


def test_frameworks_find_set_epoch_in_the_sampler_of_the_batch_sampler() -> None:
    sampler = ResumableBatchSampler(range(10), 4)
    sampler.sampler.set_epoch(2)
    assert sampler.epoch == 2
    long = ResumableBatchSampler(range(10), 4, epochs=10**6)
    long.load_state_dict(long.state_dict(2))
    long.sampler.set_epoch(1)  # as Lightning does after a run of max_steps
    assert long.state_dict()["position"] == 8
    endless = ResumableBatchSampler(range(10), 4, epochs=None)
    with pytest.raises(ConfigError, match=r"epochs=10\*\*6"):
        endless.sampler.set_epoch(0)
    endless.set_epoch(0)
    endless.sampler.set_epoch(0)  # Accelerate calls both
