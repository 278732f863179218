"""The records of parts at a URL: what they are read from, how many requests that takes; no change is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest

from bertdata.engine.parts import Counters, Task, load, run_once
from bertdata.engine.records import INDEX, load_all, records_there
from bertdata.io import files, listing
from tests.store import CountedStore

FOLDER = "counted://corpora/stage"


@pytest.fixture(autouse=True)
def store() -> Iterator[type[CountedStore]]:
    CountedStore.clear()
    yield CountedStore
    CountedStore.clear()


def tasks(folder: str, number: int, mark: str = "f") -> list[Task]:
    return [Task(folder, f"part-{n:05d}", ".arrow", f"{mark}{n}", 1, None) for n in range(number)]


def work(task: Task, file: BinaryIO) -> Counters:
    file.write(task.fingerprint.encode())
    return Counters({"parts": 1})


def done(some: list[Task]) -> list[Task]:
    for task in some:
        run_once(task, work)
    return some


def requests_of(some: list[Task], *, write_index: bool = False) -> int:
    CountedStore.requests.clear()
    assert load_all(some, write_index=write_index) == [load_quietly(task) for task in some]
    return sum(CountedStore.requests.values())


def load_quietly(task: Task) -> object:
    before = CountedStore.requests.copy()
    record = load(task)
    CountedStore.requests.clear()
    CountedStore.requests.update(before)
    return record


def change(path: str, data: bytes) -> None:
    files.write_bytes(path, data)


@pytest.mark.costly
@pytest.mark.parametrize("number", [1, 40, 400])
def test_the_records_of_a_folder_that_has_an_index_are_two_requests_however_many_they_are(number: int) -> None:
    some = done(tasks(FOLDER, number))
    assert requests_of(some, write_index=True) == 2 + number + 1
    assert requests_of(some) == 2
    assert requests_of(some, write_index=True) == 2


def test_only_records_written_since_are_read_from_their_files() -> None:
    load_all(done(tasks(FOLDER, 30)), write_index=True)
    some = done(tasks(FOLDER, 33))
    assert requests_of(some, write_index=True) == 2 + 3 + 1
    assert requests_of(some) == 2


def test_data_and_records_may_lie_apart() -> None:
    some = done([replace(task, records=f"{FOLDER}/records") for task in tasks(f"{FOLDER}/data", 20)])
    load_all(some, write_index=True)
    assert files.exists(f"{FOLDER}/records/{INDEX}")
    assert not files.exists(f"{FOLDER}/data/{INDEX}")
    assert requests_of(some) == 3


@pytest.mark.parametrize("indexed", [False, True])
def test_what_is_missing_damaged_or_of_other_settings_is_not_done(indexed: bool) -> None:
    some = done(tasks(FOLDER, 7))
    if indexed:
        load_all(some, write_index=True)
    files.remove(some[1].path)
    files.remove(some[2].record_path)
    change(some[3].path, b"cut short, or longer")
    change(some[4].record_path, files.read_if_there(some[4].record_path)[:-9])  # type: ignore[index]
    run_once(replace(some[5], fingerprint="other"), work)
    records = load_all(some, write_index=True)
    assert [record is not None for record in records] == [True, False, False, False, False, False, True]
    assert records == [load(task) for task in some]
    assert load_all(tasks("counted://corpora/none", 2)) == [None, None]


def test_a_record_that_changed_since_the_index_is_read_itself() -> None:
    [task] = done(tasks(FOLDER, 1))
    load_all([task], write_index=True)
    record = files.read_if_there(task.record_path)
    assert record is not None
    changed = record.replace(b'"parts":1', b'"parts":2')  # the same size, a wrong checksum
    assert changed != record
    change(task.record_path, changed)
    assert load_all([task]) == [None]


def test_a_damaged_index_is_not_believed() -> None:
    some = done(tasks(FOLDER, 3))
    wanted = load_all(some, write_index=True)
    whole = files.read_if_there(f"{FOLDER}/{INDEX}")
    assert whole is not None
    for place in range(0, len(whole), 11):
        change(f"{FOLDER}/{INDEX}", whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert load_all(some) == wanted, place
    for data in (b"", b"\n", whole[:70], b"[]"):
        change(f"{FOLDER}/{INDEX}", data)
        assert load_all(some) == wanted


def test_an_index_without_versions_of_files_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    some = done(tasks(FOLDER, 3))
    monkeypatch.setattr(listing, "entries", lambda folder, real=listing.entries: silent(real(folder)))
    load_all(some, write_index=True)
    assert INDEX not in listing.names(FOLDER)
    assert requests_of(some) == 2 + 3


def silent(entries: dict[str, listing.Entry]) -> dict[str, listing.Entry]:
    return {name: replace(entry, version="") for name, entry in entries.items()}


def test_local_records_have_no_index(tmp_path: Path) -> None:
    some = done(tasks(str(tmp_path), 2))
    assert load_all(some, write_index=True) == [load(task) for task in some]
    assert listing.names(str(tmp_path)) == sorted(
        files.name(path) for task in some for path in (task.path, task.record_path)
    )


def test_records_that_are_there_are_found_by_one_listing() -> None:
    some = done(tasks(FOLDER, 3))
    CountedStore.requests.clear()
    assert records_there([*some, *tasks(FOLDER, 9)]) >= {task.record_path for task in some}
    assert records_there(tasks(FOLDER, 9)) & {task.record_path for task in tasks(FOLDER, 9)[3:]} == set()
    assert CountedStore.requests == {"LIST": 2}
