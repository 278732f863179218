"""Readers of a sampler by which rows would come twice or not at all are refused, and copies go on where they stand."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, Subset

from bertdata.errors import ConfigError
from bertdata.loader import EpochBatchSampler, numpy_batches
from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset
from bertdata.torch.data.workers import leave_no_cycle

SIZE = 20  # the 98 rows are five batches


def loader_of(build: Path, **keywords: Any) -> ResumableLoader:
    dataset = ShardDataset(build)
    return ResumableLoader(dataset, ResumableBatchSampler(dataset, SIZE), **keywords)


def ids(batches: Any) -> list[Any]:
    return [batch["input_ids"].tolist() for batch in batches]


@pytest.fixture(scope="module")
def expected(dynamic_build: Path) -> list[Any]:
    """The ids of the batches of two epochs."""
    batches = numpy_batches(dynamic_build, SIZE)
    return [*ids(batches), *ids(batches)]


TWICE = "another iteration of this sampler began after 1 batches of this one"


@pytest.mark.parametrize("make", [EpochBatchSampler, ResumableBatchSampler])
def test_of_two_iterations_at_a_time_the_older_is_refused(make: Any) -> None:
    sampler = make(range(12), 4)
    first = iter(sampler)
    next(first)
    second = iter(sampler)
    with pytest.raises(ConfigError, match=TWICE):
        next(first)
    if make is EpochBatchSampler:
        assert list(second) == list(EpochBatchSampler(range(12), 4))[1:]


@pytest.mark.filterwarnings("ignore:a new iteration of this sampler begins")
@pytest.mark.parametrize("keywords", [{}, {"num_workers": 2, "prefetch_factor": 4}])
def test_a_loader_is_not_read_by_two_at_a_time(
    dynamic_build: Path, expected: list[Any], keywords: dict[str, Any]
) -> None:
    """Also where all batches were fetched before the second began."""
    loader = loader_of(dynamic_build, **keywords)
    first, second = iter(loader), iter(loader)
    assert ids([next(first), next(second)]) == expected[:2]
    with pytest.raises(ConfigError, match=TWICE if not keywords else "another iteration of this sampler began"):
        next(first)
    assert ids(second) == expected[2:5]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda whole: pickle.loads(pickle.dumps(whole))])
@pytest.mark.parametrize("taken", [0, 2, 5])
def test_a_copy_of_a_loader_goes_on_where_it_stands(
    dynamic_build: Path, expected: list[Any], copied: Any, taken: int
) -> None:
    loader = loader_of(dynamic_build)
    assert ids(islice(loader, taken)) == expected[:taken]
    other = copied(loader)
    assert other.state_dict() == loader.state_dict()
    assert ids(other) == ids(loader) == expected[taken : 10 if taken == 5 else 5]


def test_a_copy_of_a_running_iteration_goes_on_behind_what_was_asked_for() -> None:
    whole = list(EpochBatchSampler(range(12), 4))
    for asked in range(4):
        iteration = iter(EpochBatchSampler(range(12), 4))
        assert list(islice(iteration, asked)) == whole[:asked]
        other = pickle.loads(pickle.dumps(iteration))
        assert list(other) == list(iteration) == whole[asked:]
        assert list(pickle.loads(pickle.dumps(iteration))) == []


def test_a_copy_of_an_iteration_that_nobody_counts_is_refused_as_the_original_is() -> None:
    sampler = ResumableBatchSampler(range(12), 4)
    next(iter(sampler))
    for each_sampler in (pickle.loads(pickle.dumps(sampler)), sampler):
        with pytest.raises(ConfigError, match="where the next one begins is not known"):
            next(iter(each_sampler))


class Streamed(IterableDataset[Any]):
    """Batches that each worker makes by a loader of its own, or by one that it got from the main process."""

    def __init__(self, build: Path, loader: Any = None, **ranks: Any) -> None:
        self.build, self.loader, self.ranks = build, loader, ranks

    def __iter__(self) -> Iterator[Any]:
        worker = torch.utils.data.get_worker_info()
        assert worker is not None
        ranks: dict[str, Any] = {"rank": worker.id, "world_size": worker.num_workers} if self.ranks else {}
        yield from self.loader or numpy_batches(self.build, SIZE, **ranks)


@pytest.mark.parametrize("outside", [False, True])
def test_workers_that_would_each_have_all_rows_are_refused(dynamic_build: Path, outside: bool) -> None:
    loader = numpy_batches(dynamic_build, SIZE, rank=0, world_size=1) if outside else None
    batches: DataLoader[Any] = DataLoader(Streamed(dynamic_build, loader), batch_size=None, num_workers=2)
    with pytest.raises(
        ConfigError, match=r"one of 2 workers of a DataLoader, and each of them would have all rows"
    ) as raised:
        list(batches)
    del batches
    leave_no_cycle(raised.value)  # torch waits 5 seconds for each worker if the collector frees their iterator


def test_workers_that_divide_the_rows_by_rank_have_each_row_once(dynamic_build: Path) -> None:
    batches: DataLoader[Any] = DataLoader(Streamed(dynamic_build, own=True), batch_size=None, num_workers=2)
    assert sum(len(batch["input_ids"]) for batch in batches) == 98


class Warned(IterableDataset[Any]):
    """What is warned of where an iteration begins."""

    def __iter__(self) -> Iterator[str]:
        with pytest.warns(UserWarning, match="in a worker") as warned:
            iter(EpochBatchSampler(range(4), 2))
        yield str(warned[0].message)


def test_a_single_worker_says_that_the_main_process_has_not_its_state() -> None:
    [message] = DataLoader(Warned(), batch_size=None, num_workers=1)
    assert "what is used there is not in the state that its main process has" in message


def test_a_sampler_that_was_made_before_the_other_processes_were_known_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sampler, divided = ResumableBatchSampler(range(12), 4), ResumableBatchSampler(range(12), 4, rank=0, world_size=1)
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    with pytest.raises(ConfigError, match="made as rank 0 of 1, and this process is rank 1 of 2 now"):
        iter(sampler)
    assert len(list(divided)) == 3
    assert len(list(ResumableBatchSampler(range(12), 4))) == 2


class Batches(Dataset[Any]):
    """What a sampler yields, as a data set."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler

    def __len__(self) -> int:
        return len(self.sampler)


class DistributedWrapper(DistributedSampler[Any]):
    """Gives each process its part of what a sampler yields, as wrappers of this name in several packages do."""

    def __init__(self, sampler: Any, direct: bool) -> None:
        self.sampler = sampler if direct else None
        super().__init__(Batches(sampler), num_replicas=2, rank=0)

    def __iter__(self) -> Iterator[Any]:
        yield from list(self.sampler or self.dataset.sampler)[self.rank :: self.num_replicas]  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("direct", [True, False])
def test_batches_that_a_distributed_sampler_would_divide_once_more_are_refused(direct: bool) -> None:
    def sampler_of(processes: int) -> ResumableBatchSampler:
        return ResumableBatchSampler(range(12), 4, rank=0, world_size=processes)

    sampler, other, alone = sampler_of(2), sampler_of(2), sampler_of(1)
    wrapper = DistributedWrapper(sampler, direct)
    with pytest.raises(ConfigError, match=r"they would be divided once more.* Put no DistributedSampler around it"):
        next(iter(wrapper))
    assert len(list(other)) == 2  # which that one does not divide
    assert len(list(DistributedWrapper(alone, direct))) == 2  # each process reads all, and takes its part


@pytest.mark.parametrize("rows", [np.zeros((12, 40)), torch.zeros(12, 40)])
def test_arrays_in_which_a_pair_is_a_place_are_refused(rows: Any) -> None:
    with pytest.raises(ConfigError, match=r"which takes numbers, and this sampler yields \(epoch, number\)"):
        ResumableBatchSampler(rows, 4)
    batches: DataLoader[Any] = DataLoader(rows, batch_sampler=ResumableBatchSampler(rows, 4, with_epochs=False))
    assert [batch.shape for batch in batches] == [(4, 40)] * 3


def test_data_sets_of_datasets_are_refused_unless_they_get_numbers() -> None:
    rows = type("Dataset", (list,), {"__module__": "datasets.arrow_dataset"})(range(6))
    assert len(list(ResumableBatchSampler(rows, 4, with_epochs=False))) == 2
    with pytest.raises(ConfigError, match=r"datasets\..*Dataset, which takes numbers.* with_epochs=False"):
        ResumableBatchSampler(rows, 4)


def test_a_checkpoint_that_keeps_only_the_names_of_a_counted_state_is_refused() -> None:
    """torch.distributed.checkpoint reads the names that the state of the new object has."""
    sampler, new = ResumableBatchSampler(range(12), 4), ResumableBatchSampler(range(12), 4)
    list(islice(sampler, 2))
    state = sampler.state_dict()
    kept = {name: state[name] for name in new.state_dict()}
    assert len(kept) < len(state)
    new.load_state_dict(kept)
    with pytest.raises(ConfigError, match="nobody had told the sampler how many of them were used"):
        next(iter(new))
    with pytest.raises(ConfigError, match="did not keep how many batches had been asked for"):
        new.state_dict(2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
@pytest.mark.parametrize("counted", [True, False])
def test_checkpoints_of_torch_distributed_go_on_where_the_loader_stood(
    dynamic_build: Path, expected: list[Any], counted: bool, tmp_path: Path
) -> None:
    from torch.distributed.checkpoint import state_dict_loader, state_dict_saver

    first, second = loader_of(dynamic_build), loader_of(dynamic_build)
    read, other = [
        loader if counted else DataLoader(loader.dataset, batch_sampler=loader._order, collate_fn=loader.collate_fn)
        for loader in (first, second)
    ]
    assert ids(islice(read, 2)) == expected[:2]
    state_dict_saver.save({"loader": first}, checkpoint_id=tmp_path)
    state_dict_loader.load({"loader": second}, checkpoint_id=tmp_path)
    if counted:
        assert ids(other) == expected[2:5]
        return
    with pytest.raises(ConfigError, match="nobody had told the sampler"):
        next(iter(other))


SKIPPED = "would leave out as many batches once more"


@pytest.mark.slow
@pytest.mark.parametrize("prepared", [False, True])
def test_batches_that_a_state_has_behind_it_are_not_skipped_again(
    dynamic_build: Path, expected: list[Any], prepared: bool, fresh_process: Any
) -> None:
    accelerator = fresh_process()
    from accelerate import skip_first_batches

    def make() -> tuple[Any, ResumableBatchSampler]:
        loader = loader_of(dynamic_build)
        return accelerator.prepare(loader) if prepared else loader, loader._order

    loader, sampler = make()
    if prepared:
        loader.set_epoch(0)
    assert ids(skip_first_batches(loader, 2)) == expected[2:5]
    accelerator.free_memory()
    loader, sampler = make()
    state = sampler.state_dict(2)
    sampler.load_state_dict(state)
    with pytest.raises(ConfigError, match=SKIPPED):
        next(iter(skip_first_batches(loader, 2)))
    skipping = skip_first_batches(loader, 2)
    if prepared:
        skipping.set_epoch(0)
    sampler.set_epoch(0)  # the Trainer calls both
    with pytest.raises(ConfigError, match=SKIPPED):
        next(iter(skipping))
    assert ids(loader) == expected[2:5]


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("workers", [0, 1])
def test_rows_of_several_lengths_without_a_collator_are_refused_with_the_name_of_one(
    dynamic_build: Path, workers: int
) -> None:
    dataset = ShardDataset(dynamic_build)
    with pytest.raises(ConfigError, match=r"collate_fn=PretrainingCollator\(dataset\)") as raised:
        list(DataLoader(dataset, batch_size=SIZE, num_workers=workers))
    leave_no_cycle(raised.value)  # torch waits 5 seconds for the worker if the collector frees its iterator


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_rows_of_one_length_are_stacked_as_torch_does_without_a_collator(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    [batch] = DataLoader(Subset(dataset, [3]), batch_size=1)
    assert {*batch} == {*dataset[3]}
    np.testing.assert_array_equal(batch["input_ids"].numpy(), [dataset[3]["input_ids"]])
