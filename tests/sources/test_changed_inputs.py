"""A source that changes while a build reads it stops the build, whatever its format, and leaves no mixture behind."""

from __future__ import annotations

import gzip
import json
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.beam.runner import Runner
from bertdata.engine.parts import Counters, Task, load, run_once
from bertdata.engine.run_stages import run_stages
from bertdata.engine.stages import BuildState, Plan, Stage
from bertdata.errors import InputError
from bertdata.sources.formats import write_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource

ROWS = [{"id": str(number), "text": f"It rained on day {number:04}."} for number in range(400)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
PAGE = (
    "<page><title>{0}</title><ns>0</ns><id>{0}</id><revision><id>1</id>"
    "<text>It rained {0} days.</text></revision></page>"
)
DUMP = "<mediawiki>" + "\n".join(PAGE.format(number) for number in range(1, 200)) + "</mediawiki>"


def write_parquet(path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=100)


def write_arrow(path: Path, compression: str | None = None) -> None:
    table = pa.Table.from_pylist(ROWS)
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, 100)


def write_stream(path: Path) -> None:
    table = pa.Table.from_pylist(ROWS)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, 100)


WRITERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "rows.jsonl": ("documents", lambda path: path.write_bytes(LINES)),
    "rows.jsonl.gz": ("documents", lambda path: path.write_bytes(gzip.compress(LINES))),
    "rows.csv": ("documents", lambda path: path.write_text("text\n" + "It rained.\n" * 400)),
    "rows.parquet": ("documents", write_parquet),
    "rows.arrow": ("documents", write_stream),
    "file.arrow": ("documents", write_arrow),
    "zstd.feather": ("documents", partial(write_arrow, compression="zstd")),
    "rows.txt": ("documents", lambda path: path.write_text("It rained.\n\n" * 400)),
    "book.txt": ("books", lambda path: path.write_text("It rained all day in the town.\n\n" * 400)),
    "wiki.xml": ("wikipedia", lambda path: path.write_text(DUMP)),
}


def written_again(path: Path) -> None:
    """Write the same bytes at another time."""
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(10**18, 10**18))


def stage_of(path: Path, kind: str, into: Path) -> ReadSource:
    config = CleaningConfig(range_bytes=4000)
    return ReadSource(kind, {str(path): kind}, str(into), config)


@pytest.mark.parametrize("name", list(WRITERS))
def test_a_part_of_a_file_that_changed_since_it_was_planned_is_not_done(name: str, tmp_path: Path) -> None:
    kind, write = WRITERS[name]
    path = tmp_path / name
    write(path)
    [step] = stage_of(path, kind, tmp_path / "out").plan(BuildState()).steps
    first, *_, last = [*step.tasks, step.tasks[-1]]
    run_once(first, write_documents)
    assert load(first)
    if first is last:
        os.remove(first.record_path)
    written_again(path)
    with pytest.raises(InputError, match=rf"{name}: changed while it was read: it was written again .* run the same"):
        run_once(last, write_documents)
    assert not load(last)


def test_each_file_of_a_group_is_looked_at(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(5)]
    for path in paths:
        path.write_text("It rained.\n")
    config = CleaningConfig(whole_files=True)
    stage = ReadSource("documents", dict.fromkeys(map(str, paths), "documents"), str(tmp_path / "out"), config)
    [[task]] = [step.tasks for step in stage.plan(BuildState()).steps]
    written_again(paths[3])
    with pytest.raises(InputError, match=r"3\.txt: changed while it was read"):
        run_once(task, write_documents)


@dataclass(frozen=True)
class Change:
    """A stage that changes a file while the build goes on, after its documents were read."""

    change: Callable[[], object]
    title = "change"
    first = False

    def plan(self, build_state: BuildState) -> Plan:
        self.change()
        return Plan([], lambda done: replace(build_state, account={"finished": True}))


def test_a_file_that_changes_after_its_parts_were_made_stops_the_build_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(LINES)
    stages: list[Stage] = [stage_of(path, "documents", tmp_path / "out"), Change(lambda: written_again(path))]
    with pytest.raises(InputError, match=r"rows\.jsonl: changed while it was read"):
        run_stages(stages, Runner(1, quiet=True))
    stages = [stages[0], Change(lambda: None)]
    assert run_stages(stages, Runner(1, quiet=True)).account == {"finished": True}


def test_parts_of_a_file_that_was_replaced_under_the_same_size_and_time_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(LINES)
    status = path.stat()
    stage = stage_of(path, "documents", tmp_path / "out")
    plan = stage.plan(BuildState())
    for task in plan.steps[0].tasks[:2]:
        run_once(task, write_documents)
    path.write_bytes(LINES.replace(b"rained", b"snowed"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(InputError, match="it was replaced, or its time was set"):
        run_stages([stage], Runner(1, quiet=True), [plan])
    documents = run_stages([stage], Runner(1, quiet=True)).documents
    texts = [text for task, _ in documents for text in pq.read_table(task.path)["text"].to_pylist()]
    assert len(texts) == 400
    assert all("snowed" in text for text in texts)


@contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap]:
    """Map a file to memory, and write to it, so that what is written after that changes none of its times."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[:] = memory[:]
        yield memory


@pytest.mark.parametrize("name", list(WRITERS))
def test_a_file_that_changes_without_a_time_while_a_part_reads_it_is_not_taken(name: str, tmp_path: Path) -> None:
    kind, write = WRITERS[name]
    path = tmp_path / name
    write(path)
    with mapped(path) as memory:
        [step] = stage_of(path, kind, tmp_path / "out").plan(BuildState()).steps
        task, before = step.tasks[0], path.stat()
        place = max(memory.find(b"rained"), 300)  # of compressed files any place that holds data

        def read_and_change(task: Task, file: BinaryIO) -> Counters:
            counters = write_documents(task, file)
            memory[place] ^= 1
            return counters

        with pytest.raises(InputError, match=rf"{name}: changed while it was read: its bytes .* run the same"):
            run_once(task, read_and_change)
        after = path.stat()
        assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
        assert not load(task)
        memory[place] ^= 1
        assert run_once(task, write_documents).counts["documents"]
