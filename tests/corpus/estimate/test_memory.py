"""What planning holds stays below what `bertdata.corpus.estimate.memory` says, and grows as it says."""

from __future__ import annotations

import gc
import importlib
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bertdata.corpus.estimate import memory
from bertdata.corpus.plan import ShardPlan, plan_shards
from bertdata.corpus.stage import ShardsSpec, sharded
from bertdata.documents import Dropped, cut_ranges, slot, without_rows
from bertdata.engine.parts import PartMetadata, PartResult, Task
from bertdata.engine.stages import Grouping
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.settings import ShardsConfig
from tests.shards.build import TOKENIZER

FEW, MANY = 20_000, 60_000


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[3] / "benchmarks"))
    memory_module = importlib.import_module("memory")
    parts, plan = stored(memory_module, 100, 2, 2)
    grouped(plan).plan(parts)  # imports what the steps import
    return memory_module


@pytest.fixture(autouse=True)
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def held(make: Callable[[], Any]) -> tuple[Any, int]:
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    made = make()
    gc.collect()
    return made, tracemalloc.get_traced_memory()[0] - before


def grouped(plan: ShardPlan, examples: ExamplesConfig | None = None, phases: int = 1) -> Grouping:
    info = PretrainingInfo.of(TOKENIZER, examples=examples or ExamplesConfig(), masking=MaskingConfig())
    return sharded([ShardsSpec(f"out/{number}", plan, info, "tokenizer") for number in range(phases)])


def stored(simulation: Any, documents: int, ranges: int, shards: int) -> tuple[list[PartResult], ShardPlan]:
    corpus = simulation.Corpus("few", documents, documents * 1000, ranges, documents * 1000 // shards + 1)
    records = simulation.document_records(corpus)
    plan = plan_shards(records, ShardsConfig(corpus.shard_bytes))
    return simulation.token_parts(corpus, records, plan.ends), plan


def sent(grouping: Grouping, parts: list[PartResult]) -> tuple[list[Any], list[Task]]:
    return [pair for part in parts for pair in grouping.references(*part)], grouping.plan(parts)


@pytest.mark.slow
def test_a_document_takes_twelve_bytes_of_the_records(simulation: Any) -> None:
    taken = []
    for documents in (FEW, MANY):
        corpus = simulation.Corpus("few", documents, documents * 1000, 20, 1 << 20)
        _, size = held(partial(simulation.document_records, corpus))
        assert size <= memory.slots_held(documents, 20) * memory.PLACE_BYTES + 20 * memory.PART_BYTES
        taken.append(size)
    assert taken[1] - taken[0] <= 1.1 * memory.PLACE_BYTES * (MANY - FEW)


@pytest.mark.costly
def test_references_grow_with_ranges_and_tasks_with_shards(simulation: Any) -> None:
    for ranges, shards in ((10, 20), (40, 20), (10, 60)):
        parts, plan = stored(simulation, FEW, ranges, shards)
        references, tasks = sent(grouped(plan), parts)
        assert (len(references), len(tasks)) == (ranges, len(plan.ends))
        assert sum(len(task.payload.slices) for task in tasks) == ranges * len(plan.ends)


@pytest.mark.slow
def test_the_tasks_of_shards_take_what_is_said(simulation: Any) -> None:
    sizes = {}
    for ranges in (50, 150):
        parts, plan = stored(simulation, MANY, ranges, 50)
        grouping, shards = grouped(plan), len(plan.ends)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        tasks, sizes[ranges] = held(partial(grouping.plan, parts))
        peak = tracemalloc.get_traced_memory()[1] - before
        assert sizes[ranges] <= memory.task_bytes(MANY, ranges, shards)
        assert peak <= memory.task_bytes(MANY, ranges, shards) + memory.planning_bytes(MANY, ranges, shards)
        references = [pair for part in parts for pair in grouping.references(*part)]
        pickled = sum(len(pickle.dumps(payload)) for payload in (*references, *tasks))
        assert pickled <= memory.shuffle_bytes(MANY, ranges, shards)
    assert sizes[150] - sizes[50] <= memory.SLICE_BYTES * 100 * shards


def test_phases_and_length_bins_share_the_slices_of_a_shard(simulation: Any) -> None:
    parts, plan = stored(simulation, FEW, 10, 5)
    tasks = grouped(plan, ExamplesConfig(bin_size=64), phases=2).plan(parts)
    assert len(tasks) == 2 * 2 * len(plan.ends)
    assert len({id(task.payload.slices) for task in tasks}) == len(plan.ends)


def test_a_corpus_of_many_shards_has_no_more_slices_than_documents(simulation: Any) -> None:
    parts, plan = stored(simulation, FEW, 100, 1000)
    assert 100 * len(plan.ends) > FEW
    assert sum(len(record.details["slices"]) for _, record in parts) <= memory.slices_held(FEW, 100, len(plan.ends))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ["wikipedia-books", "all-wikipedias", "terabyte"])
def test_whole_corpora_take_no_more_than_is_said(simulation: Any, name: str) -> None:
    tracemalloc.stop()
    corpus = simulation.CORPORA[name]
    steps = simulation.simulate(corpus)
    bounds = [bound for _, _, bound in steps]
    assert all(step.peak <= 1.15 * bound + (8 << 20) for _, step, bound in steps if bound), (steps, bounds)


def test_rows_of_dropped_duplicates_take_eight_bytes_each() -> None:
    groups, rows = 25, 2_000
    details: dict[str, Any] = {"slots": [[slot("x"), groups * rows, 10**9]], "row_groups": [[rows, 1 << 20]] * groups}
    record = PartMetadata("x", "f", 1, "s", 0, {"documents": groups * rows, "text_bytes": 10**9}, {}, details)
    gone = [Dropped(row, "x", 1, "near duplicate") for row in range(0, groups * rows, 2)]

    def made() -> Any:
        shortened = without_rows(record, gone)
        return shortened, cut_ranges([("x.parquet", shortened)], 8 << 20)

    (shortened, ranges), bytes_held = held(made)
    assert (
        sum(len(document_range.dropped) for document_range in ranges) == len(shortened.details["dropped"]) == len(gone)
    )
    assert bytes_held < memory.dropped_bytes(len(gone)) + len(ranges) * memory.PART_BYTES
