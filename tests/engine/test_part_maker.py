"""The parts of steps made in this process, one step after another."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from bertdata.engine.part_maker import run_here
from bertdata.engine.parts import Counters, PartMetadata, Task, load
from bertdata.engine.stages import Grouping, Step
from bertdata.errors import InputError


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
    run_here(steps, [tasks(first, "xXy"), tasks(third, "q")], threading.Event())
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

    run_here([Step("a", stopping)], [tasks(tmp_path, "abc")], stop)
    assert [path.name for path in tmp_path.glob("*.arrow")] == ["a-00000.arrow"]


def test_an_error_ends_the_work_and_stands_beside_the_records(tmp_path: Path) -> None:
    def refuse(task: Task, file: BinaryIO) -> Counters:
        raise InputError("is damaged", path="x")

    with pytest.raises(InputError, match="x: is damaged"):
        run_here([Step("a", refuse)], [tasks(tmp_path, "ab")], threading.Event())
    assert [path.name for path in tmp_path.iterdir()] == ["a-00000.failure"]
