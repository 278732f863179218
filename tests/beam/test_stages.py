"""A stage keeps what is done, makes the rest, and forgets what belongs to no task any more."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import fsspec
import pytest

from bertdata.beam.runner import Runner
from bertdata.beam.stages import create, delete_stale, finished, read_documents, require_documents, stage_of
from bertdata.documents import DocumentWriter, cut_ranges, read_range
from bertdata.engine.parts import Counters, PartMetadata, Task, load, run_once
from bertdata.errors import BertDataError, InputError
from bertdata.io import files
from bertdata.sources.settings import CleaningConfig
from tests.beam.jobs import make, note_process, tasks

HERE = Runner(1, quiet=True)


def done(task: Task) -> Task:
    run_once(task, note_process)
    return task


def test_progress_weighs_tasks_by_bytes_and_counts_other_units(tmp_path: Path) -> None:
    some = [replace(task, weight=weight) for task, weight in zip(tasks(tmp_path, 3), (0, 7, 50), strict=True)]
    assert stage_of("clean", some).weights == dict(zip((task.record_path for task in some), (1, 7, 50), strict=True))
    assert list(stage_of("write", some, "shard").weights.values()) == [1, 1, 1]


def test_records_that_fit_no_more_are_forgotten_and_their_tasks_come_heaviest_first(tmp_path: Path) -> None:
    some = tasks(tmp_path, 5)
    done(some[1])
    changed = done(replace(some[2], fingerprint="other"))
    damaged = done(some[3])
    Path(damaged.path).write_bytes(b"cut")
    assert [task.name[-1] for task in delete_stale(some)] == ["4", "3", "2", "0"]
    assert load(some[1]) is not None
    assert not any(os.path.exists(task.record_path) for task in (changed, damaged))


def flip(path: str, place: int = -3) -> None:
    """Flip a bit of a file, which keeps its size."""
    data = bytearray(Path(path).read_bytes())
    data[place] ^= 1
    Path(path).write_bytes(data)


def test_a_part_with_a_flipped_bit_is_made_again_and_told(tmp_path: Path) -> None:
    some = [done(task) for task in tasks(tmp_path, 3)]
    whole = Path(some[1].path).read_bytes()
    flip(some[1].path)
    told: list[str] = []
    assert delete_stale(some, told.append) == [some[1]]
    [line] = told
    assert line.startswith(f"{some[1].path}: its SHA-256 is ")
    assert line.endswith("damaged, so it is made again")
    assert Path(done(some[1]).path).read_bytes() == whole
    assert delete_stale(some, told.append) == []
    assert len(told) == 1


def test_a_part_or_a_record_that_is_cut_is_told_and_one_of_other_settings_is_not(tmp_path: Path) -> None:
    some = [done(task) for task in tasks(tmp_path, 3)]
    done(replace(some[0], fingerprint="other"))
    Path(some[1].path).write_bytes(b"cut")
    os.truncate(some[2].record_path, 9)
    told: list[str] = []
    assert delete_stale([*some, *tasks(tmp_path / "more", 1)], told.append)
    assert told == [
        f"{some[1].path}: is missing or has another size than its record says: it is made again",
        f"{some[2].path}: its record is damaged: it is made again",
    ]


def test_a_record_with_a_flipped_bit_is_no_record(tmp_path: Path) -> None:
    [task] = [done(task) for task in tasks(tmp_path, 1)]
    data = Path(task.record_path).read_bytes()
    for place in range(0, len(data), 7):
        flip(task.record_path, place)
        assert load(task) is None or json.loads(data) == json.loads(Path(task.record_path).read_bytes())
        Path(task.record_path).write_bytes(data)
    assert load(task) is not None


def test_a_damaged_part_at_a_url_is_made_again_by_the_worker_that_gets_it(caplog: pytest.LogCaptureFixture) -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    task = done(Task(folder, "part-00000", ".txt", "f", 1, None))
    fs = fsspec.filesystem("memory")
    place = task.path.removeprefix("memory:/")
    whole = fs.cat_file(place)
    fs.pipe_file(place, bytes([whole[0] ^ 1]) + whole[1:])
    assert delete_stale([task]) == []
    done(task)
    assert fs.cat_file(place) == whole
    assert f"{task.path} is damaged: it is made again" in caplog.text
    fs.rm(folder, recursive=True)


def test_damaged_documents_of_the_users_own_are_refused_and_named(tmp_path: Path) -> None:
    def write(task: Task, file: BinaryIO) -> Counters:
        with DocumentWriter(file, tally := Counters()) as writer:
            writer.add("a", "s", "", "", "text " * 90)
        return tally

    part = Task(str(tmp_path), "wiki-00000", ".parquet", "f", 1, None)
    run_once(part, write)
    whole = Path(part.path).read_bytes()
    flip(part.path, 60)
    with pytest.raises(InputError, match=rf"{part.path}: its SHA-256 is .*clean-wikipedia or clean-books again"):
        read_documents(HERE, [part.path], str(tmp_path / "tables"), CleaningConfig(), "text")
    Path(part.path).write_bytes(whole)
    (tmp_path / ".bertdata.json").write_text('{"kind": "documents"}')
    read_documents(HERE, [part.path], str(tmp_path / "tables"), CleaningConfig(), "text")
    flip(part.record_path, 5)
    with pytest.raises(InputError, match="the record beside these documents is missing or damaged"):
        read_documents(HERE, [part.path], str(tmp_path / "tables"), CleaningConfig(), "text")


def test_tasks_of_one_weight_come_by_name(tmp_path: Path) -> None:
    some = [replace(task, weight=1) for task in tasks(tmp_path, 4)]
    assert delete_stale(some[::-1]) == some


def test_every_finished_task_gives_its_record_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    some = tasks(tmp_path, 3)
    for task in some[::-1]:
        done(task)
    assert [(task, record.name) for task, record in finished(some)] == [(task, task.name) for task in some]


def test_a_part_that_the_runner_left_out_is_named(tmp_path: Path) -> None:
    some = tasks(tmp_path, 2)
    done(some[0])
    with pytest.raises(BertDataError, match=r"part-00001\.arrow.*run the same command again"):
        finished(some)


def test_only_what_is_not_done_is_made_and_other_parts_go(tmp_path: Path) -> None:
    some = tasks(tmp_path, 4)
    for task in [*some[:2], *tasks(tmp_path, 6)[4:]]:
        done(task)
    Path(tmp_path / "notes.txt").write_text("mine")
    before = [os.stat(task.path).st_mtime_ns for task in some[:2]]
    found = make(HERE, some, note_process)
    assert [task for task, _ in found] == some
    assert [os.stat(task.path).st_mtime_ns for task in some[:2]] == before
    names = {name for task in some for name in (files.name(task.path), files.name(task.record_path))}
    assert set(os.listdir(tmp_path)) == names | {"notes.txt"}


def test_a_finished_stage_starts_no_pipeline(tmp_path: Path) -> None:
    some = [done(task) for task in tasks(tmp_path, 2)]
    assert len(make(Runner(1, ("--no_such_flag",), quiet=True), some, note_process)) == 2


def test_no_tasks_are_no_work(tmp_path: Path) -> None:
    assert make(HERE, [], note_process) == []
    assert os.listdir(tmp_path) == []


dealt: list[str] = []


def note(task: Task) -> None:
    dealt.append(task.name)


def test_every_task_is_dealt_once(tmp_path: Path) -> None:
    dealt.clear()
    some = tasks(tmp_path, 7)

    def construct(pipeline: Any) -> None:
        import apache_beam as beam

        _ = create(pipeline, some) | beam.Map(note)

    HERE.run([stage_of("count", some)], construct, [])
    assert sorted(dealt) == [task.name for task in some]


def record(documents: int, drops: dict[str, int]) -> PartMetadata:
    return PartMetadata("a", "f", 1, "s", 0.0, {"documents": documents} if documents else {}, drops)


def test_sources_without_a_document_are_refused_with_what_was_dropped(tmp_path: Path) -> None:
    [task] = tasks(tmp_path, 1)
    require_documents([(task, record(0, {"redirect": 3})), (task, record(1, {}))])
    with pytest.raises(InputError, match=r"dropped: redirect: 2,003, too short: 1\)"):
        require_documents([(task, record(0, {"redirect": 3})), (task, record(0, {"redirect": 2000, "too short": 1}))])
    with pytest.raises(InputError, match="dropped: nothing"):
        require_documents([])


def write_documents(task: Task, file: BinaryIO) -> Counters:
    tally = Counters()
    with DocumentWriter(file, tally) as writer:
        for name in task.payload:
            writer.add(name, "test", "", "", f"The text of {name}.")
    return tally


def names(parts: list[tuple[Task, PartMetadata]]) -> list[str]:
    ranges = cut_ranges([(task.path, one) for task, one in parts])
    return [name for one in ranges for table in read_range(one) for name in table["id"].to_pylist()]


def test_parts_of_our_own_are_taken_as_they_are_and_other_tables_are_read(tmp_path: Path) -> None:
    own = Task(str(tmp_path / "own"), "part-00000", ".parquet", "f", 1, ["own:1", "own:2"])
    run_once(own, write_documents)
    lines = [json.dumps({"id": "theirs:1", "body": "Some text."}), json.dumps({"body": "More text."})]
    (tmp_path / "theirs.jsonl").write_text("\n".join(lines))
    target = tmp_path / "stages" / "tables"
    patterns = [str(tmp_path / "own"), str(tmp_path / "theirs.jsonl")]
    parts = read_documents(HERE, patterns, str(target), CleaningConfig(), "body")
    assert names(parts) == ["own:1", "own:2", "theirs:1", "theirs.jsonl:41"]
    assert parts[0][0].path == own.path
    assert [task.directory for task, _ in parts[1:]] == [str(target)]


def test_parts_of_our_own_alone_write_nothing(tmp_path: Path) -> None:
    own = Task(str(tmp_path / "own"), "part-00000", ".parquet", "f", 1, ["own:1"])
    run_once(own, write_documents)
    parts = read_documents(HERE, [str(tmp_path / "own")], str(tmp_path / "tables"), CleaningConfig(), "text")
    assert names(parts) == ["own:1"]
    assert not (tmp_path / "tables").exists()
