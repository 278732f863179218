"""What frameworks tell of epochs is heard, and what would come twice or be lost is refused."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from torch.utils.data import DataLoader

from bertdata.errors import ConfigError
from bertdata.loader import EpochBatchSampler, ShardExamples, numpy_batches
from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ResumableLoader, ShardDataset

SIZE = 20  # the 98 rows are five batches


def loader_of(build: Path, **keywords: Any) -> ResumableLoader:
    dataset = ShardDataset(build)
    return ResumableLoader(dataset, ResumableBatchSampler(dataset, SIZE, **keywords))


def ids(batches: Any) -> list[Any]:
    return [batch["input_ids"].tolist() for batch in batches]


@pytest.fixture
def accelerator(fresh_process: Any) -> Any:
    return fresh_process()


def skip(prepared: Any, batches: int) -> Any:
    from accelerate import skip_first_batches

    return skip_first_batches(prepared, batches)


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_loader_that_skips_batches_reads_the_epoch_that_was_said(
    accelerator: Any, dynamic_build: Path, epoch: int
) -> None:
    whole = loader_of(dynamic_build)
    expected = [ids(whole), ids(whole), ids(whole)]
    prepared = accelerator.prepare(loader_of(dynamic_build))
    prepared.set_epoch(epoch)
    assert ids(skip(prepared, 2)) == expected[epoch][2:]
    prepared.set_epoch(epoch + 1)
    assert ids(prepared) == expected[epoch + 1]
    prepared.set_epoch(epoch)  # which is said, so it is not an error
    assert ids(prepared) == expected[epoch]


def test_a_prepared_loader_whose_count_stays_behind_is_refused(accelerator: Any, dynamic_build: Path) -> None:
    prepared = accelerator.prepare(loader_of(dynamic_build))
    with pytest.warns(UserWarning, match="begins in epoch 0, by its own count"):
        list(skip(prepared, 2))
    with pytest.raises(ConfigError, match=r"epoch 0 was read to its end, .* prepared\.set_epoch\(epoch\)"):
        next(iter(prepared))


@pytest.mark.filterwarnings("ignore:a new iteration of this sampler begins")
def test_a_loader_that_is_told_the_epoch_begins_it(dynamic_build: Path) -> None:
    """The Trainer of transformers calls it, in a run that it resumes too, and again after an error of memory."""
    whole = loader_of(dynamic_build)
    first, second = ids(whole), ids(whole)
    loader = loader_of(dynamic_build)
    loader.set_epoch(1)
    assert ids(loader) == second
    loader.set_epoch(0)
    assert ids(islice(loader, 1)) == first[:1]
    loader.set_epoch(0)
    assert ids(loader) == first


def test_a_run_that_goes_on_does_not_read_an_epoch_twice_by_a_wrong_count() -> None:
    sampler = EpochBatchSampler(range(12), 4)
    list(sampler)
    state = sampler.state_dict()
    sampler.load_state_dict(state)
    list(sampler)
    with pytest.raises(ConfigError, match=r"has read epoch 1 to its end, .* call set_epoch\(2\)"):
        sampler.set_epoch(1)
    sampler.set_epoch(2)
    sampler.load_state_dict(state)
    assert sampler.epoch == 1


@pytest.mark.parametrize("make", [loader_of, lambda build: numpy_batches(build, SIZE)], ids=["torch", "numpy"])
def test_a_thread_that_takes_batches_ahead_is_refused_unless_they_are_counted(make: Any, dynamic_build: Path) -> None:
    loader = make(dynamic_build)
    batches: list[Any] = []
    thread = threading.Thread(target=lambda: batches.extend(islice(loader, 3)))
    thread.start()
    thread.join()
    with pytest.raises(ConfigError, match="another thread took 3 batches"):
        loader.state_dict()
    state = loader.state_dict(2)
    loader.load_state_dict(state)
    assert ids(islice(loader, 1)) == ids(batches[2:])
    assert loader.state_dict() == loader.state_dict(1)


def test_what_ray_train_prepared_is_refused_unless_batches_are_counted(
    dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its wrapper, of which the matrix of loops has the real one, copies what a loader has, and takes a batch ahead."""

    class Wrapper:
        def __init__(self, loader: Any) -> None:
            self.__dict__.update(loader.__dict__)
            self._dataloader = loader

        def __iter__(self) -> Iterator[Any]:
            batches = iter(self._dataloader)
            ahead = next(batches)
            for batch in batches:
                yield ahead
                ahead = batch
            yield ahead

    module = SimpleNamespace(_WrappedDataLoader=Wrapper)
    monkeypatch.setitem(sys.modules, "ray.train.torch.train_loop_utils", module)
    loader, other = loader_of(dynamic_build), loader_of(dynamic_build)
    assert loader.state_dict() == other.state_dict()
    next(iter(Wrapper(loader)))  # what was taken ahead stays unknown when the wrapper is gone
    with pytest.raises(ConfigError, match="prepare_data_loader takes a batch from this loader"):
        loader.state_dict()
    next(iter(other))
    assert loader.state_dict(1) == other.state_dict()
    loader.load_state_dict(loader.state_dict(1))
    assert loader.state_dict() == other.state_dict()


def test_a_sampler_of_another_data_set_is_refused(dynamic_build: Path, static_build: Path) -> None:
    dataset, other = ShardDataset(dynamic_build), ShardDataset([dynamic_build, dynamic_build])
    with pytest.raises(ConfigError, match=r"made for another data set: it has 98 examples .*, this one 196"):
        ResumableLoader(other, ResumableBatchSampler(dataset, SIZE))
    with pytest.raises(ConfigError, match="made for another data set"):
        ResumableLoader(dataset, ResumableBatchSampler(ShardDataset(static_build), SIZE), PretrainingCollator(dataset))


@pytest.mark.parametrize("size", [None, 1, 4])
def test_a_sampler_of_batches_given_as_a_sampler_of_rows_is_named(dynamic_build: Path, size: int | None) -> None:
    dataset = ShardDataset(dynamic_build)
    sampler: Any = ResumableBatchSampler(dataset, SIZE)
    loader = DataLoader(dataset, sampler=sampler, batch_size=size, collate_fn=PretrainingCollator(dataset))
    with pytest.raises(ConfigError, match="is the `batch_sampler` of a DataLoader, not its `sampler`"):
        next(iter(loader))


def test_examples_are_asked_for_by_numbers(dynamic_build: Path) -> None:
    wrong: Any = "3"
    with pytest.raises(ConfigError, match="asked for by '3'"):
        ShardExamples(dynamic_build)[wrong]
