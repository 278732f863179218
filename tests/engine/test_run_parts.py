"""The parts of steps made in this process and in others, round by round."""

from __future__ import annotations

import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

import pytest

from bertdata.engine import processes
from bertdata.engine.messages import Run
from bertdata.engine.parts import Counters, PartMetadata, Task, load
from bertdata.engine.processes import Workers
from bertdata.engine.run_parts import run_parts
from bertdata.engine.stages import Grouping, Step
from bertdata.errors import InputError
from tests.beam.jobs import meet, slowly


def tasks(folder: Path, names: str) -> list[Task]:
    return [Task(str(folder), f"{name}-00000", ".arrow", "mark", 1, name) for name in names]


def write_name(task: Task, file: BinaryIO) -> Counters:
    file.write(task.name.encode())
    return Counters({"parts": 1})


def grouped(folder: Path) -> Grouping:
    """Return a grouping that makes a task for each key, named after the parts that have it, and one for `none`."""

    def references(task: Task, record: PartMetadata) -> list[tuple[str, str]]:
        return [(task.payload.lower(), task.payload)]

    return Grouping(["x", "y", "none"], references, lambda key, names: tasks(folder, "".join(sorted(names)) or "0"))


def test_a_step_takes_what_the_one_before_has_made_and_stages_do_not_mix(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in "abc")
    steps = [Step("a", write_name), Step("b", write_name, grouping=grouped(second)), Step("c", write_name)]
    run_parts(steps, [tasks(first, "xXy"), tasks(third, "q")], threading.Event())
    made = {
        folder.name: sorted(path.read_text() for path in folder.glob("*.arrow")) for folder in (first, second, third)
    }
    assert made == {
        "a": ["X-00000", "x-00000", "y-00000"],
        "b": ["0-00000", "X-00000", "x-00000", "y-00000"],
        "c": ["q-00000"],
    }
    assert all(load(task) for task in tasks(second, "0xXy"))


def test_no_part_is_begun_once_it_is_stopped(tmp_path: Path) -> None:
    stop = threading.Event()

    def stopping(task: Task, file: BinaryIO) -> Counters:
        stop.set()
        return write_name(task, file)

    run_parts([Step("a", stopping)], [tasks(tmp_path, "abc")], stop)
    assert [path.name for path in tmp_path.glob("*.arrow")] == ["a-00000.arrow"]


def test_an_error_ends_the_work_and_stands_beside_the_records(tmp_path: Path) -> None:
    def refuse(task: Task, file: BinaryIO) -> Counters:
        raise InputError("is damaged", path="x")

    with pytest.raises(InputError, match="x: is damaged"):
        run_parts([Step("a", refuse)], [tasks(tmp_path, "ab")], threading.Event())
    assert [path.name for path in tmp_path.iterdir()] == ["a-00000.failure"]


def bins(folder: Path) -> Grouping:
    """Return a grouping that makes two tasks for each part, which one place makes."""
    return Grouping(
        [None],
        lambda task, record: [(None, task.name)],
        lambda key, names: [
            replace(task, payload=name)
            for name in sorted(names)
            for task in tasks(folder, f"{name[0]}{name[0].upper()}")
        ],
        together=lambda task: task.payload,
    )


def note_process(task: Task, file: BinaryIO) -> Counters:
    file.write(task.name.encode())
    return Counters({"parts": 1}, {}, {"pid": os.getpid()})


@pytest.mark.costly
def test_processes_share_the_parts_and_tasks_that_belong_together_are_made_by_one(tmp_path: Path) -> None:
    steps = [Step("a", meet), Step("b", note_process, grouping=bins(tmp_path / "b"))]
    names = "abcdefghij"
    first = [replace(task, payload=2) for task in tasks(tmp_path / "a", names)]
    with Workers() as workers:
        workers.start(1)
        run = Run([step.make for step in steps])
        run_parts(steps, [first], threading.Event(), workers, run)
        by = {task.name: load(task) for task in tasks(tmp_path / "b", names + names.upper())}
        assert workers.usable
    pids = {name[0]: record.details["pid"] for name, record in by.items() if record}
    assert len(pids) == 20
    assert all(pids[name] == pids[name.upper()] for name in names)
    assert len({record.details["pid"] for task in first if (record := load(task))}) == 2


def test_the_parts_of_several_stages_are_made_in_the_same_rounds(tmp_path: Path) -> None:
    made: list[str] = []

    def noting(task: Task, file: BinaryIO) -> Counters:
        made.append(task.directory[-1])
        return write_name(task, file)

    steps = [Step("a", noting), Step("b", noting, grouping=grouped(tmp_path / "b")), Step("c", noting)]
    run_parts(steps, [tasks(tmp_path / "a", "xy"), tasks(tmp_path / "c", "q")], threading.Event())
    assert made == ["a", "a", "c", "b", "b", "b"]


@pytest.mark.costly
def test_what_no_module_has_goes_to_the_other_processes_by_value(tmp_path: Path) -> None:
    def of_no_module(task: Task, file: BinaryIO) -> Counters:
        return meet(task, file)

    steps = [Step("a", of_no_module)]
    some = [replace(task, payload=2) for task in tasks(tmp_path, "abcd")]
    with Workers() as workers:
        workers.start(1)
        run_parts(steps, [some], threading.Event(), workers, Run([step.make for step in steps]))
    assert len({record.details["pid"] for task in some if (record := load(task))}) == 2


@pytest.mark.costly
def test_what_a_worker_cannot_find_is_an_error_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("only_in_this_process")
    exec("class Payload: pass", vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    some = [replace(task, payload=module.Payload()) for task in tasks(tmp_path, "abcdefgh" * 50)]
    some = [replace(task, name=f"{task.name[:-5]}{number:05d}") for number, task in enumerate(some)]
    with Workers() as workers:
        workers.start(1)
        with pytest.raises(RuntimeError, match=r"(?s)worker process .*No module named 'only_in_this_process'"):
            run_parts([Step("a", slowly)], [some], threading.Event(), workers, Run([slowly]))


def test_a_worker_that_is_not_ready_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORKER", "tests.engine.idle_worker")
    monkeypatch.setenv("IDLE", "begin")
    with Workers() as workers:
        workers.start(1)
        some = tasks(tmp_path, "abc")
        run_parts([Step("a", write_name)], [some], threading.Event(), workers, Run([write_name]))
        assert all(load(task) for task in some)
        assert workers.usable


def test_parts_at_a_url_are_made_several_at_once_and_all_of_them() -> None:
    some = [Task("memory://parts", f"{name}-00000", ".arrow", "mark", 1, name) for name in "abcdefghijklmnop"]
    doing, most = set[str](), [0]

    def noting(task: Task, file: BinaryIO) -> Counters:
        doing.add(task.name)
        most[0] = max(most[0], len(doing))
        time.sleep(0.02)
        doing.discard(task.name)
        return write_name(task, file)

    run_parts([Step("a", noting)], [some], threading.Event())
    assert all(load(task) for task in some)
    assert most[0] > 1
