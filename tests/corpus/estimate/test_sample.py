"""Samples are the beginnings of a few tasks at even distances, the same for the same input."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.corpus.estimate.sample import BeginningsOf, choose
from bertdata.engine.parts import Task, run_once
from bertdata.engine.stages import BuildState
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.sources.formats import write_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource

TEXT = "It rained all day, and the river rose to the bridge. "


def rows(number: int) -> list[dict[str, str]]:
    return [{"id": str(n), "text": f"{n}: " + TEXT * 20} for n in range(number)]


def json_lines(path: Path, number: int) -> Path:
    data = "".join(json.dumps(row) + "\n" for row in rows(number)).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read(kind: str, path: Path | str, sampler: BeginningsOf, range_bytes: int = 0) -> list[Task]:
    """Return the tasks of one file after the sampler."""
    folder = str(Path(sampler.folder) / "documents")
    stage = ReadSource(kind, {str(path): kind}, folder, CleaningConfig(range_bytes=range_bytes), sampler=sampler)
    return list(stage.plan(BuildState()).steps[-1].tasks)


def test_a_small_source_is_read_whole(tmp_path: Path) -> None:
    sampler = BeginningsOf(str(tmp_path))
    read("wikipedia", SAMPLE_DUMP, sampler, 40_000)
    group = sampler.groups["wikipedia"]
    assert len(group.taken) == len(group.tasks) == 4
    assert group.sampled == group.weight == Path(SAMPLE_DUMP).stat().st_size


def test_of_many_ranges_a_few_beginnings_are_read(tmp_path: Path) -> None:
    sampler = BeginningsOf(str(tmp_path), samples=3, sample_bytes=5_000)
    taken = read("documents", json_lines(tmp_path / "rows.jsonl", 200), sampler, 20_000)
    assert [task.weight for task in taken] == [5_000] * 3
    assert [task.payload.start // 20_000 for task in taken] == [1, 5, 9]
    records = [run_once(task, write_documents) for task in taken]
    assert sum(record.counts["documents"] for record in records) == pytest.approx(15_000 / 1_100, rel=0.2)
    again = BeginningsOf(str(tmp_path), samples=3, sample_bytes=5_000)
    assert read("documents", tmp_path / "rows.jsonl", again, 20_000) == taken


def test_a_compressed_file_is_read_from_its_start(tmp_path: Path) -> None:
    sampler = BeginningsOf(str(tmp_path), samples=1, sample_bytes=10_000)
    path = tmp_path / "rows.jsonl.gz"
    draw = Random(0)
    data = "".join(f'{{"text": "{draw.getrandbits(400)} {TEXT}"}}\n' for n in range(10_000))
    path.write_bytes(gzip.compress(data.encode()))
    [task] = read("documents", path, sampler)
    assert 9_000 <= task.weight < path.stat().st_size / 2
    documents = run_once(task, write_documents).counts["documents"]
    assert documents == pytest.approx(10_000 * task.weight / path.stat().st_size, rel=0.3)


def test_the_first_row_groups_of_a_parquet_file_stand_for_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(rows(1_000)), path, row_group_size=100)
    sampler = BeginningsOf(str(tmp_path), samples=1, sample_bytes=20_000)
    [task] = read("documents", path, sampler)
    assert (task.payload.start, task.payload.end) == (0, 1)
    group = sampler.groups["documents"]
    assert group.weight / group.sampled == pytest.approx(10, rel=0.2)


def test_books_are_sampled_by_their_first_files_and_a_long_one_not_at_all(tmp_path: Path) -> None:
    [first, *_] = sorted(Path(SAMPLE_BOOKS).glob("*.txt"))
    sampler = BeginningsOf(str(tmp_path), samples=1, sample_bytes=1)
    assert read("books", SAMPLE_BOOKS, sampler, 1 << 20) == []
    [reason] = sampler.groups["books"].unread
    assert reason.startswith("books has ")
    assert reason.endswith("and is read whole, and a sample has at most 16 B")
    sampler = BeginningsOf(str(tmp_path), samples=1, sample_bytes=first.stat().st_size // 2)
    stage = ReadSource(
        "books",
        {str(path): "books" for path in sorted(Path(SAMPLE_BOOKS).glob("*.txt"))},
        str(tmp_path),
        CleaningConfig(),
    )
    [task] = sampler.tasks("books", list(stage.plan(BuildState()).steps[-1].tasks))
    assert [volume.path for volume in task.payload.volumes] == [str(first)]
    assert task.weight == first.stat().st_size


def test_places_are_at_even_distances_of_the_weights() -> None:
    assert choose([1] * 100, 4) == [12, 37, 62, 87]
    assert choose([90, 5, 5], 10) == [0, 2]
    assert choose([], 3) == []
