"""Carries the stages of a build: of each, what is done already is kept, the rest is made, and orphans are deleted.

The runner that makes parts is handed in (`bertdata.beam.runner`). A stage whose parts are all there starts no pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from bertdata.engine.parts import PartResult, Task, delete_orphans, load, read_record
from bertdata.engine.stages import Stage, Standing, Step
from bertdata.errors import BertDataError, printable
from bertdata.io import files
from bertdata.io.digests import damaged


class StageRunner(Protocol):
    """What makes the parts of a stage."""

    def run(self, steps: Sequence[tuple[Step, Sequence[Task]]], begin: Sequence[Task], paths: Sequence[str]) -> None:
        """Make the parts of all steps, each with the tasks to be expected of it; `begin` are those of the first."""

    def say(self, text: str) -> None:
        """Tell the user something."""


def run_stages(stages: Sequence[Stage], runner: StageRunner) -> Standing:
    """Carry stages one after another, each to its end; returns what stands after the last."""
    standing = Standing()
    for stage in stages:
        plan = stage.plan(standing)
        for note in plan.notes:
            runner.say(note)
        plan.prepare()
        done = make_parts(plan.steps, runner, plan.inputs)
        _delete_orphans(plan.folders, [task for step in done for task, _ in step])
        standing = plan.finish(done)
    return standing


def make_parts(steps: Sequence[Step], runner: StageRunner, inputs: Sequence[str] = ()) -> list[list[PartResult]]:
    """Make the parts of steps that are not done yet, in one pipeline; returns those of each step with their records."""
    expected: list[tuple[Step, list[Task]]] = []
    pending: list[Task] = []
    parts: list[PartResult] = []
    for step in steps:
        tasks = step.plan(parts)
        pending += delete_stale(tasks, runner.say)
        parts = [] if pending else finished(tasks)
        expected.append((step, tasks))
    if pending:
        begin = pending if len(steps) == 1 else _heaviest_first(expected[0][1])
        directories = {task.directory: None for _, tasks in expected for task in tasks}
        runner.run(expected, begin, [*directories, *inputs])
    done: list[list[PartResult]] = []
    for step in steps:
        done.append(finished(step.plan(done[-1] if done else [])))
    return done


def _heaviest_first(tasks: Sequence[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: (-task.weight, task.name))


def _delete_orphans(folders: Sequence[str], tasks: Sequence[Task]) -> None:
    """Delete from folders the parts of none of the tasks, and folders in which no task has a part or a record."""
    for folder in folders:
        held = [task for task in tasks if folder in (task.directory, task.records)]
        if held:
            delete_orphans(folder, held)
        else:
            files.remove(folder)


def delete_stale(tasks: Sequence[Task], say: Callable[[str], None] = lambda text: None) -> list[Task]:
    """Delete records that do not fit their tasks any more; returns the tasks to be done, the heaviest first.

    Finished local parts are compared with the SHA-256 in their records, on all cores. The record of a damaged part is
    deleted too, so that the part is made again, and `say` is called with a message. Parts at a URL are checked by the
    worker that gets them (`bertdata.engine.parts.run_once`), or when they are read.
    """
    records = [(task, load(task)) for task in tasks]
    for task in (task for task, record in records if record is None and not files.is_remote(task.record_path)):
        if problem := _unfit(task):
            say(f"{printable(task.path)}: {problem}: it is made again")
    expected = [(task.path, one.sha256) for task, one in records if one and not files.is_remote(task.path)]
    bad = dict(damaged(expected, "check finished parts"))
    for path, problem in bad.items():
        say(f"{printable(path)}: {problem}: damaged, so it is made again")
    pending = [task for task, record in records if record is None or task.path in bad]
    for task in pending:
        files.remove(task.record_path)
    return _heaviest_first(pending)


def _unfit(task: Task) -> str:
    """Return why a local part is not done although its record is there, "" where it just is of something else."""
    if not files.exists(task.record_path):
        return ""
    record = read_record(task.record_path)
    if record is None:
        return "its record is damaged"
    return "is missing or has another size than its record says" if record.fingerprint == task.fingerprint else ""


def finished(tasks: Sequence[Task]) -> list[PartResult]:
    """Return all tasks with their records; raises BertDataError where the runner left one undone."""
    done = []
    for task in tasks:
        record = load(task)
        if record is None:
            raise BertDataError(
                "the runner ended without writing this part; run the same command again", path=task.path
            )
        done.append((task, record))
    return done


@dataclass(frozen=True)
class State:
    """How far a step is, in parts: done, done from something else, and not made; unknown before those before it are."""

    title: str
    unit: str = ""
    done: int = 0
    stale: int = 0
    missing: int = 0
    notes: Sequence[str] = ()

    @property
    def is_known(self) -> bool:
        """Whether the parts could be planned."""
        return bool(self.unit)


def look(stages: Sequence[Stage]) -> Iterator[State]:
    """Yield how far each step of a build is, without doing anything.

    A step can be planned once those before it are done: what a part is made from is in the records of these.
    """
    standing, whole = Standing(), True
    for stage in stages:
        if not whole and not stage.first:
            if stage.title:
                yield State(stage.title)
            continue
        plan = stage.plan(standing)
        done: list[list[PartResult]] = []
        for number, step in enumerate(plan.steps):
            if len(done) < number:
                yield State(step.title)
                continue
            tasks = step.plan(done[-1] if done else [])
            if not tasks:
                done.append([])
                continue
            records = [(task, load(task)) for task in tasks]
            stale = sum(record is None and files.exists(task.record_path) for task, record in records)
            parts = [(task, record) for task, record in records if record is not None]
            notes = plan.notes if not number else ()
            yield State(step.title, step.unit, len(parts), stale, len(tasks) - len(parts) - stale, notes)
            if len(parts) == len(tasks):
                done.append(parts)
        if len(done) < len(plan.steps):
            whole = False
        elif stage is not stages[-1]:
            standing = plan.finish(done)
