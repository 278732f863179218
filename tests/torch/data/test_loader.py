"""The loader with worker processes: rules 21, 22, 25 and 27, and a worker that dies."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import weakref
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from bertdata.errors import ConfigError, InputError
from bertdata.loader.examples import ExampleBatch, Index
from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ResumableLoader, ShardDataset
from bertdata.torch.data.workers import begin_worker
from tests.torch.build import write_build

ROOT = Path(__file__).resolve().parents[3]
Plain = dict[str, Any]


def plain(batch: Any) -> Plain:
    return {name: tensor.tolist() for name, tensor in batch.items()}


def loaders(
    dataset: ShardDataset, batch_size: int, world_size: int, workers: int, state: Any = None, **keywords: Any
) -> list[ResumableLoader]:
    made = []
    for rank in range(world_size):
        sampler = ResumableBatchSampler(dataset, batch_size, rank=rank, world_size=world_size, **keywords)
        made.append(ResumableLoader(dataset, sampler, num_workers=workers))
        if state is not None:
            made[-1].load_state_dict(state)
    return made


def examples_of(batches: Sequence[Plain]) -> Counter[str]:
    """Count the rows of batches, each as (ids, labels) without padding: which example, and which mask."""
    rows = (
        (ids[: sum(there)], labels[: sum(there)])
        for batch in batches
        for ids, labels, there in zip(batch["input_ids"], batch["labels"], batch["attention_mask"], strict=True)
    )
    return Counter(json.dumps(row) for row in rows)


@pytest.mark.costly
@pytest.mark.parametrize("bins", [None, (16, 24, 32)])
def test_rule_22_each_example_once_an_epoch_with_any_number_of_workers(
    dynamic_build: Path, bins: tuple[int, ...] | None
) -> None:
    dataset = ShardDataset(dynamic_build)
    rows = dataset.__getitems__([(0, number) for number in range(len(dataset))])
    expected = examples_of([plain(PretrainingCollator(dataset)(rows))])
    for world_size, workers in ((1, 2), (3, 1), (2, 0)):
        seen = [plain(batch) for loader in loaders(dataset, 7, world_size, workers, bins=bins) for batch in loader]
        assert examples_of(seen) == expected


@pytest.mark.costly
@given(
    first=st.tuples(st.integers(1, 9), st.integers(1, 4), st.sampled_from([0, 0, 0, 1, 2])),
    second=st.tuples(st.integers(1, 9), st.integers(1, 4), st.sampled_from([0, 0, 0, 1, 2])),
    stop=st.integers(0, 6),
    bins=st.sampled_from([None, (16, 32), (8, 16, 24, 32)]),
)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rule_25_resumed_with_other_ranks_and_workers_and_prefetch_in_flight_each_mask_comes_once(
    dynamic_build: Path,
    first: tuple[int, int, int],
    second: tuple[int, int, int],
    stop: int,
    bins: tuple[int, ...] | None,
) -> None:
    dataset = ShardDataset(dynamic_build)
    [whole] = loaders(dataset, 8, 1, 0, bins=bins, epochs=2)
    seen: list[Plain] = []
    states = []
    for loader in loaders(dataset, *first, bins=bins, epochs=2):
        running = iter(loader)
        seen += [plain(next(running)) for _ in range(min(stop, len(loader)))]
        states.append(loader.state_dict())
        running.close()
    assert all(state == states[0] for state in states)
    for loader in loaders(dataset, *second, state=states[0], bins=bins, epochs=2):
        if states[0]["position"] < 2 * len(dataset):
            seen += [plain(batch) for batch in loader]
    assert examples_of(seen) == examples_of([plain(batch) for batch in whole])


@pytest.mark.costly
@pytest.mark.parametrize("bins", [None, (16, 24, 32)])
def test_rule_25_resumed_twice_and_past_an_epoch_with_workers_the_batches_are_the_same(
    dynamic_build: Path, bins: tuple[int, ...] | None
) -> None:
    dataset = ShardDataset(dynamic_build)
    [whole] = loaders(dataset, 8, 1, 0, bins=bins)
    expected = [plain(batch) for _ in range(2) for batch in whole]
    state, seen = None, []
    for stop, workers in ((2, 2), (len(whole) - 2, 1), (3, 0), (len(expected), 2)):
        [loader] = loaders(dataset, 8, 1, workers, state=state, bins=bins)
        running = iter(loader)
        seen += [plain(batch) for _, batch in zip(range(stop), running, strict=False)]
        state = loader.state_dict()
        running.close()
    assert seen == expected


@pytest.mark.costly
def test_rule_25_in_a_new_process(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    [loader] = loaders(dataset, 8, 1, 2, epochs=None)
    running = iter(loader)
    made = [plain(next(running)) for _ in range(9)]
    running.close()
    [loader] = loaders(dataset, 8, 1, 2, epochs=None)
    running = iter(loader)
    _ = [next(running) for _ in range(4)]
    state = loader.state_dict()
    running.close()
    code = f"""
import json
from itertools import islice
from bertdata.torch import *
dataset = ShardDataset({str(dynamic_build)!r})
loader = ResumableLoader(dataset, ResumableBatchSampler(dataset, 8, epochs=None))
loader.load_state_dict(json.loads({json.dumps(state)!r}))
print(json.dumps([{{name: tensor.tolist() for name, tensor in batch.items()}} for batch in islice(loader, 5)]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(done.stdout) == made[4:]


class Failing(ShardDataset):
    """Fails at one example."""

    def __getitems__(self, indices: Sequence[Index]) -> ExampleBatch:
        if any((index[1] if isinstance(index, tuple) else index) == 5 for index in indices):
            raise InputError("is not readable here", path="data-00001.arrow")
        return super().__getitems__(indices)


def test_rule_27_an_error_in_a_worker_reaches_the_trainer_with_its_cause(dynamic_build: Path) -> None:
    dataset = Failing(dynamic_build)
    others = {*multiprocessing.active_children()}
    running = iter(ResumableLoader(dataset, ResumableBatchSampler(dataset, 4), num_workers=1))
    gc.disable()
    try:
        with pytest.raises(InputError, match=r"data-00001\.arrow: is not readable here"):
            list(running)
        # The collector would wait 5 seconds for the worker.
        assert {*multiprocessing.active_children()} <= others
    finally:
        gc.enable()


def test_the_frames_of_an_error_without_workers_keep_their_values(dynamic_build: Path) -> None:
    def collate(rows: list[Any]) -> Any:
        number_of_rows = len(rows)
        raise ValueError(number_of_rows)

    dataset = ShardDataset(dynamic_build)
    with pytest.raises(ValueError, match="4") as raised:
        list(ResumableLoader(dataset, ResumableBatchSampler(dataset, 4), collate))  # type: ignore[arg-type]
    assert raised.traceback[-1].frame.f_locals["number_of_rows"] == 4


@pytest.mark.costly
def test_rule_27_a_worker_that_dies_is_an_error_in_the_trainer_that_names_a_shard_cut_off(tmp_path: Path) -> None:
    code = f"""
import multiprocessing, os, signal, time
import psutil
from torch.utils.data import get_worker_info
from bertdata.errors import BertDataError
from bertdata.torch import ResumableLoader, ResumableBatchSampler, ShardDataset
from bertdata.torch.data.workers import explaining_workers

class Killed(ShardDataset):
    def __getitems__(self, indices):
        if get_worker_info():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitems__(indices)

def died(kind):
    dataset = kind({str(write_build(tmp_path))!r})
    loader = ResumableLoader(dataset, ResumableBatchSampler(dataset, 4), num_workers=1)
    if kind is ShardDataset:
        os.truncate(dataset.shards.paths[1], 0)
    try:
        list(loader)
    except BertDataError as error:
        print(type(error).__name__, error)

def died_while_the_trainer_computes():
    dataset = ShardDataset({str(write_build(tmp_path))!r})
    try:
        with explaining_workers(dataset):
            batches = iter(ResumableLoader(dataset, ResumableBatchSampler(dataset, 4, epochs=None), num_workers=1))
            next(batches)
            for worker in psutil.Process().children():
                worker.kill()
            time.sleep(30)
    except BertDataError as error:
        print(type(error).__name__, error)

multiprocessing.set_start_method("fork")  # so that workers are the children of this process
died_while_the_trainer_computes()
died(Killed)
died(ShardDataset)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    meanwhile, killed, cut = done.stdout.splitlines()
    assert meanwhile.startswith("BertDataError a process that prepares batches died (DataLoader worker")
    assert killed.startswith("BertDataError a process that prepares batches died (DataLoader worker")
    assert "all shards are intact" in killed
    assert cut.startswith("InputError ")
    assert "data-00001-of-00002.arrow: has 0 bytes, the manifest says" in cut


@pytest.mark.parametrize("orphaned", [True, False])
@pytest.mark.parametrize("error", [ConnectionResetError(104, "Connection reset by peer"), EOFError(), ValueError("x")])
def test_a_worker_whose_trainer_was_killed_prints_no_traceback_of_its_connection(
    monkeypatch: pytest.MonkeyPatch, error: Exception, orphaned: bool
) -> None:
    printed: list[object] = []
    begun: list[int] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: printed.append(error))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    signals: list[object] = []
    monkeypatch.setattr(signal, "signal", lambda *given: signals.append(given))
    begin_worker(begun.append, 3)
    assert begun == [3], "the caller's worker_init_fn is called, too"
    assert signals == [(signal.SIGINT, signal.SIG_IGN)], "an interrupt is the trainer's"
    if orphaned:
        init = os.getppid() + 1
        monkeypatch.setattr(os, "getppid", lambda: init)
    sys.excepthook(type(error), error, None)
    assert printed == ([] if orphaned and not isinstance(error, ValueError) else [error])


def test_the_workers_of_a_loader_begin_with_it_and_with_what_the_caller_gave(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    given: list[int] = []
    made = ResumableLoader(dataset, ResumableBatchSampler(dataset, 4, epochs=1), worker_init_fn=given.append)
    assert isinstance(made.worker_init_fn, partial)
    assert (made.worker_init_fn.func, made.worker_init_fn.args) == (begin_worker, (given.append,))


def test_a_batch_that_nobody_holds_is_freed_before_the_next_is_made(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    batches = iter(ResumableLoader(dataset, ResumableBatchSampler(dataset, 4)))
    ids = weakref.ref(next(batches)["input_ids"])
    assert ids() is None
    assert next(batches)["input_ids"] is not None


def test_a_plain_data_loader_gives_the_same_batches(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    ours = ResumableLoader(dataset, ResumableBatchSampler(dataset, 8))
    theirs: DataLoader[Any] = DataLoader(
        dataset, batch_sampler=ResumableBatchSampler(dataset, 8), collate_fn=PretrainingCollator(dataset)
    )
    assert len(ours) == len(theirs)
    assert [plain(batch) for batch in ours] == [plain(batch) for batch in theirs]


def test_a_state_of_other_bins_weights_seed_or_data_is_refused(dynamic_build: Path, static_build: Path) -> None:
    dataset, other = ShardDataset(dynamic_build), ShardDataset(static_build)
    state = ResumableBatchSampler(dataset, 8, bins=(16, 32)).state_dict()
    for sampler, message in (
        (ResumableBatchSampler(dataset, 8), "other length bins or weights"),
        (ResumableBatchSampler(dataset, 8, bins=(24, 32)), "other length bins or weights"),
        (ResumableBatchSampler(dataset, 8, bins=(16, 32), seed=3), "of seed 0, this run's is 3"),
        (ResumableBatchSampler(other, 8, bins=(16, 32)), "another data set"),
    ):
        with pytest.raises(ConfigError, match=message):
            sampler.load_state_dict(state)
    with pytest.raises(ConfigError, match="no whole number for seed"):
        ResumableBatchSampler(dataset, 8).load_state_dict({name: state[name] for name in state if name != "seed"})
    with pytest.raises(ConfigError, match="that add up"):
        ResumableBatchSampler(dataset, 8, bins=(16, 32)).load_state_dict(state | {"bin_0": 1})
