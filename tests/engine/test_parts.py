from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.engine.parts import (
    Counters,
    PartMetadata,
    Task,
    add_counts,
    delete_orphans,
    labels,
    load,
    part_name,
    run_once,
)
from bertdata.errors import InputError
from bertdata.io import files


def task(directory: Path | str, name: str = "part-00000", mark: str = "f1", **options: Any) -> Task:
    return Task(str(directory), name, ".bin", mark, 7, "payload", **options)


def work(part: Task, file: BinaryIO) -> Counters:
    counters = Counters()
    file.write(b"payload ")
    file.write(memoryview(b"of " + part.fingerprint.encode()))
    counters.add("pages", 3)
    counters.add("pages")
    counters.drop("redirect", 2)
    counters.drop("a")
    counters.details["slots"] = [[1, 2, 3]]
    return counters


def never(part: Task, file: BinaryIO) -> Counters:
    raise AssertionError("the work was done twice")


def test_a_part_is_written_with_its_record_and_done_once(tmp_path: Path) -> None:
    record = run_once(task(tmp_path), work)
    data = (tmp_path / "part-00000.bin").read_bytes()
    assert data == b"payload of f1"
    assert (record.bytes, record.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert (record.counts, record.drops, record.details) == (
        {"pages": 4},
        {"a": 1, "redirect": 2},
        {"slots": [[1, 2, 3]]},
    )
    assert load(task(tmp_path)) == run_once(task(tmp_path), never) == record


def test_a_record_can_lie_apart_from_its_data(tmp_path: Path) -> None:
    part = task(tmp_path / "data", records=str(tmp_path / "stages"))
    run_once(part, work)
    assert os.listdir(tmp_path / "data") == ["part-00000.bin"]
    assert os.listdir(tmp_path / "stages") == ["part-00000.json"]
    assert part.failure_path == str(tmp_path / "stages" / "part-00000.failure")


def test_a_failure_is_told_beside_the_record(tmp_path: Path) -> None:
    part = task(tmp_path / "data")
    assert part.failure_path == str(tmp_path / "data" / "part-00000.failure")
    assert part.record_path == str(tmp_path / "data" / "part-00000.json")


def test_parts_are_made_at_urls_too() -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    record = run_once(task(folder), work)
    assert load(task(folder)) == record
    fsspec.filesystem("memory").rm(folder, recursive=True)


def test_another_fingerprint_makes_the_part_again(tmp_path: Path) -> None:
    run_once(task(tmp_path), work)
    changed = task(tmp_path, mark="f2")
    assert load(changed) is None
    assert run_once(changed, work).fingerprint == "f2"
    assert (tmp_path / "part-00000.bin").read_bytes() == b"payload of f2"
    assert load(task(tmp_path)) is None


def test_work_that_fails_leaves_neither_part_nor_record(tmp_path: Path) -> None:
    run_once(task(tmp_path), work)

    def fail(part: Task, file: BinaryIO) -> Counters:
        file.write(b"half")
        raise InputError("bad source")

    with pytest.raises(InputError, match="bad source"):
        run_once(task(tmp_path, mark="f2"), fail)
    assert os.listdir(tmp_path) == ["part-00000.bin"]
    assert load(task(tmp_path)) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "part-00000.json").unlink(),
        lambda folder: (folder / "part-00000.bin").unlink(),
        lambda folder: (folder / "part-00000.bin").write_bytes(b"short"),
        lambda folder: (folder / "part-00000.json").write_bytes(b""),
        lambda folder: (folder / "part-00000.json").write_bytes(b'{"name": '),
        lambda folder: (folder / "part-00000.json").write_bytes(b"[1]"),
        lambda folder: (folder / "part-00000.json").write_bytes(b'{"name": "part"}'),
        lambda folder: (folder / "part-00000.json").write_bytes(b'{"unknown": 1}'),
    ],
)
def test_a_damaged_or_missing_part_or_record_is_not_done_and_is_made_again(damage: Any, tmp_path: Path) -> None:
    record = run_once(task(tmp_path), work)
    damage(tmp_path)
    assert load(task(tmp_path)) is None
    assert replace(run_once(task(tmp_path), work), seconds=record.seconds) == record


def test_a_build_killed_between_data_and_record_does_the_part_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_once(task(tmp_path), work)

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_bytes", killed)
        with pytest.raises(KeyboardInterrupt):
            run_once(task(tmp_path, mark="f2"), work)
    assert load(task(tmp_path)) is None
    assert load(task(tmp_path, mark="f2")) is None
    assert run_once(task(tmp_path, mark="f2"), work).fingerprint == "f2"


def test_what_pyarrow_writes_through_the_hash_is_what_lies_on_disk(tmp_path: Path) -> None:
    def parquet(part: Task, file: BinaryIO) -> Counters:
        table = pa.table({"x": list(range(10_000))})
        with pq.ParquetWriter(file, table.schema) as writer:
            writer.write_table(table)
        return Counters()

    record = run_once(task(tmp_path), parquet)
    path = str(tmp_path / "part-00000.bin")
    assert (record.bytes, record.sha256) == (files.size(path), files.sha256(path))
    assert pq.read_table(path).num_rows == 10_000


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 99)), max_size=6))
def test_counts_are_summed_by_name_and_sorted(counts: list[dict[str, int]]) -> None:
    total = add_counts(counts)
    assert list(total) == sorted({name for count in counts for name in count})
    assert all(total[name] == sum(count.get(name, 0) for count in counts) for name in total)


def test_what_is_no_part_of_a_stage_is_removed_from_its_folder(tmp_path: Path) -> None:
    kept = [replace(task(tmp_path, f"part-{number:05d}"), suffix=".arrow") for number in (0, 1)]
    for each_task in [*kept, replace(task(tmp_path, "part-00002"), suffix=".parquet"), task(tmp_path, "notes")]:
        run_once(each_task, work)
    (tmp_path / "part-00000.failure").touch()
    assert delete_orphans(str(tmp_path), kept) == 3
    parts = ["part-00000.arrow", "part-00000.json", "part-00001.arrow", "part-00001.json"]
    assert sorted(os.listdir(tmp_path)) == ["notes.bin", "notes.json", *parts]
    assert delete_orphans(str(tmp_path / "none"), kept) == 0


def test_a_record_holds_only_what_json_holds() -> None:
    record = PartMetadata("a", "f", 1, "s", 0.5, {"pages": 1})
    assert PartMetadata(**json.loads(json.dumps(record.__dict__))) == record


def test_labels_are_as_short_as_tell_the_paths_apart() -> None:
    assert labels(["/x/a.jsonl"]) == ["a.jsonl"]
    assert labels(["/x/a/1", "/y/a/1", "/x/b/2"]) == ["x/a/1", "y/a/1", "x/b/2"]
    assert labels([]) == []
    assert labels(["/x/a/", "/x/b", "x\\c"]) == ["a", "b", "c"]
    assert labels(["gs://one/x.jsonl", "gs://two/x.jsonl"]) == ["one/x.jsonl", "two/x.jsonl"]


@given(st.lists(st.text(st.sampled_from("ab-/ ._\u65e5\u672c\udce9"), max_size=8), unique=True, max_size=30))
def test_different_labels_have_different_part_names_that_any_file_system_takes(names: list[str]) -> None:
    names_made = {part_name(name, number) for name in names for number in range(2)}
    assert len(names_made) == 2 * len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in names_made)


def test_a_part_name_is_no_longer_than_a_file_system_takes() -> None:
    long = part_name("x" * 250 + ".jsonl", 3)
    assert len(long) < 150
    assert long != part_name("y" * 250 + ".jsonl", 3)
    assert part_name("enwiki-1.xml.bz2", 12) == "enwiki-1.xml.bz2-00012"


def test_a_part_that_is_new_is_made_without_a_request_to_delete_its_record(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    deleted: list[str] = []
    remove = files.remove_files

    def remove_files(paths: Iterable[str]) -> None:
        deleted.extend(paths := list(paths))
        remove(paths)

    monkeypatch.setattr(files, "remove_files", remove_files)
    run_once(task(folder), work)
    assert deleted == []
    run_once(task(folder, mark="f2"), work)
    assert deleted == [task(folder).record_path]
