"""What finding duplicates holds does not grow with the corpus, but for 4 bytes a document; on synthetic signatures."""

from __future__ import annotations

import importlib
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bertdata.curation.dedup import components, decide, planning, signature_rows, stage
from bertdata.curation.dedup.candidates import write_candidates
from bertdata.curation.dedup.decide import BYTES_EACH, find_dropped
from bertdata.curation.settings import DedupConfig
from bertdata.engine.byte_ranges import Stream
from bertdata.engine.parts import PartResult, run_once

NUMBERS = 64
FEW, MANY = 1_000, 4_000
POOLS: list[pa.MemoryPool] = []
"""What is made holds memory of its pool, which must live as long."""


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[3] / "benchmarks"))
    return importlib.import_module("duplicates_memory")


def peak(make: Callable[[], Any]) -> tuple[Any, int]:
    """Return what is made, and the bytes held at most meanwhile: by Python and NumPy, and in Arrow's memory."""
    earlier = pa.default_memory_pool()
    POOLS.append(pool := pa.proxy_memory_pool(earlier))
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        made = make()
        return made, tracemalloc.get_traced_memory()[1] + pool.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(earlier)


def peaks(simulation: Any, folder: Path, documents: int) -> dict[str, int]:
    """Return for each step that follows the signatures the most that a part of it holds."""
    plan = simulation.planned(str(folder), DedupConfig("near"), documents, 5, documents // 100, NUMBERS)
    peak_of: dict[str, int] = {}
    done: list[PartResult] = []
    for step in plan.steps:
        made = []
        for task in step.plan(done):
            record, size = peak(partial(run_once, task, step.make))
            peak_of[task.name.split("-")[0]] = max(size, peak_of.get(task.name.split("-")[0], 0))
            made.append((task, record))
        done = made
    assert done[0][1].counts["dropped"] > 0.75 * documents
    del peak_of["signatures"]
    return peak_of


@pytest.mark.costly
def test_each_step_holds_as_much_for_four_times_the_documents(
    simulation: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "PIECE_DOCUMENTS", 500)
    monkeypatch.setattr(components, "_AT_ONCE", 500)
    monkeypatch.setattr(decide, "_PAIRS_AT_ONCE", 256)
    monkeypatch.setattr(decide, "_MEMBERS_AT_ONCE", 256)
    peaks(simulation, tmp_path / "first", 100)  # imports what the steps import
    few, many = (peaks(simulation, tmp_path / str(count), count) for count in (FEW, MANY))
    grown = {name: many[name] - few[name] for name in few}
    assert set(few) == {"links", "components", "candidates", "decisions", "duplicates"}
    assert grown.pop("components") < 5 * (MANY - FEW) + 40_000, (few, many)
    for name, size in grown.items():
        assert size < 0.3 * few[name] + 30_000, (name, few, many)


@pytest.mark.costly
def test_of_a_piece_that_is_larger_the_signatures_are_in_a_temporary_file(
    simulation: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Groups of 150 documents: each of these is compared with others in nearly every key that it has.
    monkeypatch.setattr(decide, "_PAIRS_AT_ONCE", 256)
    monkeypatch.setattr(decide, "_MEMBERS_AT_ONCE", 256)
    monkeypatch.setattr(signature_rows, "_AT_ONCE", 256)
    monkeypatch.setattr(stage, "write_candidates", partial(write_candidates, held_bytes=30_000))
    sizes = []
    for count in (1_500, 4_500):
        plan = simulation.planned(str(tmp_path / str(count)), DedupConfig("near"), count, 150, 30, NUMBERS)
        done: list[PartResult] = []
        for step in plan.steps[:4]:
            done = [(task, run_once(task, step.make)) for task in step.plan(done)]
        [(task, record)] = done
        assert len(record.details["streams"]) > 8
        streams = [Stream(task.path, record.sha256, *place) for _, *place in record.details["streams"]]
        tables = []
        for held in (0, 1 << 30):
            table, size = peak(partial(find_dropped, streams, 0.8, 8, held))
            tables.append(table)
            sizes.append(size)
        assert tables[0] == tables[1]
        assert tables[0].num_rows > 0.9 * count
    in_file, in_memory = ((sizes[place + 2] - sizes[place]) / 3_000 for place in (0, 1))
    assert in_file < BYTES_EACH
    assert in_memory - in_file > 3 * NUMBERS
