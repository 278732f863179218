"""Small work for the runner tests, importable by worker processes, and tasks to do it on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from bertdata import errors
from bertdata.beam.runner import Runner
from bertdata.engine.parts import Counters, PartFunction, PartResult, Task
from bertdata.engine.run_stages import make_parts
from bertdata.engine.stages import Step
from tests.clock import PATIENCE


class DataflowRunner(FnApiRunner):  # type: ignore[misc]
    """What Dataflow's runner does with a job that is not to be run: nothing."""

    def run_pipeline(self, pipeline: Any, options: Any) -> Any:
        """Return a result that has ended."""
        return SimpleNamespace(wait_until_finish=lambda: None)


def tasks(directory: Path | str, number: int, payload: Any = None, mark: str = "mark") -> list[Task]:
    """Return tasks of different weights whose names are numbered."""
    return [Task(str(directory), f"part-{n:05d}", ".arrow", mark, 10 + n, payload) for n in range(number)]


def make(runner: Runner, to_do: Sequence[Task], work: PartFunction, inputs: Sequence[str] = ()) -> list[PartResult]:
    """Do tasks by a function of this module."""
    [[done]] = make_parts([[Step("test", work, to_do)]], runner, inputs)
    return done


def note_process(task: Task, file: BinaryIO, seconds: float = 0.0) -> Counters:
    """Write the task's name and counters the process that did it."""
    file.write(task.name.encode())
    time.sleep(seconds)
    return Counters({"parts": 1}, {}, {"pid": os.getpid()})


slowly = partial(note_process, seconds=0.3)


def meet(task: Task, file: BinaryIO) -> Counters:
    """Do as `note_process`, once as many processes as the payload says are doing tasks of this folder."""
    (Path(task.directory) / f"{os.getpid()}.here").touch()
    deadline = time.monotonic() + PATIENCE
    while len(list(Path(task.directory).glob("*.here"))) < task.payload:
        assert time.monotonic() < deadline, "the other processes do nothing"
        time.sleep(0.01)
    return note_process(task, file)


overlaps: list[str] = []
"""The tasks that `note_overlap` did while this process did another one."""
_doing: set[str] = set()


def note_overlap(task: Task, file: BinaryIO) -> Counters:
    """Write the task's name, and note it among `overlaps` where this process does another task at the same time."""
    _doing.add(task.name)
    result = note_process(task, file, 0.1)
    if len(_doing) > 1:
        overlaps.append(task.name)
    _doing.discard(task.name)
    return result


def fail(task: Task, file: BinaryIO) -> Counters:
    """Raise the error that the payload names, half-way through the part."""
    file.write(b"half")
    kind = getattr(errors, task.payload, None)
    if kind is None:
        raise ZeroDivisionError(task.payload)
    raise kind("found this\nand more; do that", path="wiki.xml.bz2", offset=4096)


def fail_elsewhere(task: Task, file: BinaryIO) -> Counters:
    """Do as `fail` in any process but the one whose id the payload has, which waits for that."""
    process, what = task.payload
    failing = Path(f"{task.directory}.failing")
    if os.getpid() != process:
        failing.touch()
        return fail(replace(task, payload=what), file)
    deadline = time.monotonic() + PATIENCE
    while not failing.exists():
        assert time.monotonic() < deadline, "no other process does anything"
        time.sleep(0.01)
    return note_process(task, file)


def die(task: Task, file: BinaryIO) -> Counters:
    """Kill the process that does the task."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def twice(number: int) -> int:
    """Return a number twice; a kernel."""
    return 2 * number


def compile_something(task: Task, file: BinaryIO) -> Counters:
    """Call a kernel, compiled or loaded."""
    from bertdata.kernels.jit import kernel

    return Counters({"parts": kernel(twice)(1)})
