"""Runs the stages of a build: of each, finished parts are kept, the others are made, and orphans are deleted.

Parts are made by a runner (`bertdata.beam.runner`). A stage whose parts are all finished starts no pipeline, and
consecutive stages that are planned from the user's files alone run as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Protocol

from bertdata.engine.parts import PartMetadata, PartResult, Task, delete_orphans, read_record
from bertdata.engine.records import load_all, records_there
from bertdata.engine.stages import BuildState, Plan, Stage, Step
from bertdata.errors import BertDataError, printable
from bertdata.io import files, remote
from bertdata.io.digests import damaged
from bertdata.io.unchanged import changed, is_same_version, unchanged


class StageRunner(Protocol):
    """What makes the parts of a stage."""

    def run(
        self, steps: Sequence[tuple[Step, Sequence[Task]]], begin: Sequence[Sequence[Task]], paths: Sequence[str]
    ) -> None:
        """Make the parts of all steps, each given with all of its tasks.

        A step without a grouping begins a stage; `begin` has for each of these the tasks of it that are to be made.
        """

    def say(self, text: str) -> None:
        """Show the user a message."""

    def announce(self, jobs: Sequence[str]) -> None:
        """Tell the user of the jobs that follow, unless they run on this machine."""

    def keep_workers(self) -> AbstractContextManager[None]:
        """Keep the processes that `run` starts for further runs, and end them when the context is left."""


def plan_first(stages: Sequence[Stage]) -> list[Plan | None]:
    """Return the plan of each stage that needs none of those before it, and None for the others; writes nothing.

    Raises the errors with which inputs are refused.
    """
    return [stage.plan(BuildState()) if stage.first else None for stage in stages]


def job_titles(stages: Sequence[Stage], plans: Sequence[Plan | None]) -> list[str]:
    """Return the title of each pipeline of a build that has not begun; `plans` is as `plan_first` returns it.

    Stages that are planned at once share one.
    """
    titles: list[list[str]] = []
    for together, group in groupby(zip(stages, plans, strict=True), lambda pair: pair[1] is not None):
        stage_titles = [stage.title for stage, plan in group if plan is None or any(step.tasks for step in plan.steps)]
        titles += [stage_titles] if together else [[title] for title in stage_titles]
    return [text for job in titles if (text := " and ".join(filter(None, job)))]


def run_stages(stages: Sequence[Stage], runner: StageRunner, plans: Sequence[Plan | None] = ()) -> BuildState:
    """Run stages one after another; returns the results of all.

    All that need none of those before them are planned before anything is written, unless `plans` has their plans.
    Raises InputError where a file of the user's changes before the last stage is done.
    """
    build_state, plans = BuildState(), plans or plan_first(stages)
    states = {path: state for plan in plans if plan for path, state in plan.states.items()}
    runner.announce(job_titles(stages, plans))
    with runner.keep_workers():
        for together, group in groupby(zip(stages, plans, strict=True), lambda pair: pair[1] is not None):
            if together:
                read = [(stage, plan) for stage, plan in group if plan is not None]
                last = any(stage is stages[-1] for stage, _ in read)
                for done in _run_plans([plan for _, plan in read], runner, states if last else {}):
                    build_state = build_state.with_documents(done)
            else:
                for stage, _ in group:
                    [build_state] = _run_plans([stage.plan(build_state)], runner, states if stage is stages[-1] else {})
    return build_state


def _run_plans(plans: Sequence[Plan], runner: StageRunner, states: Mapping[str, str] | None = None) -> list[BuildState]:
    """Run the plans of some stages as one pipeline; returns the results of each.

    Before these are finished, the local files that they read, and all of `states`, are compared with their states:
    those at URLs were compared when each part was written.
    """
    states = dict(states or {})
    for plan in plans:
        for note in plan.notes:
            runner.say(note)
        plan.prepare()
    for plan in plans:
        states |= {path: state for path, state in plan.states.items() if not files.is_remote(path)}
    try:
        with unchanged(states):
            made = make_parts([plan.steps for plan in plans], runner, [path for plan in plans for path in plan.inputs])
    except BertDataError:
        for plan in plans:
            _delete_parts_of_others(plan)
        raise
    standings = []
    for plan, done in zip(plans, made, strict=True):
        tasks = [task for step in done for task, _ in step]
        remote.at_once(partial(_tidy, tasks), plan.folders)
        standings.append(plan.finish(done))
    return standings


def _delete_parts_of_others(plan: Plan) -> None:
    """Delete all parts of a stage where a file was replaced by another one of the same size and time.

    Of any other file that changed, the parts have another fingerprint when it is planned again.
    """
    now = changed(plan.states)
    if any(is_same_version(plan.states[path], state) for path, state in now.items()):
        remote.at_once(lambda folder: delete_orphans(folder, []), plan.folders)


def _tidy(tasks: Sequence[Task], folder: str) -> None:
    """Delete the parts in a folder that are of none of the tasks, and the folder if it has none of theirs."""
    if of_folder := [task for task in tasks if folder in (task.directory, task.records)]:
        delete_orphans(folder, of_folder)
    else:
        files.remove(folder)


def make_parts(
    stages: Sequence[Sequence[Step]], runner: StageRunner, inputs: Sequence[str] = ()
) -> list[list[list[PartResult]]]:
    """Make the parts of the steps of some stages that are not done yet, in one pipeline.

    Returns all parts of each step of each stage.
    """
    expected: list[tuple[Step, list[Task]]] = []
    begin: list[list[Task]] = []
    made: list[list[list[PartResult]]] = []
    for steps in stages:
        planned, pending, done = _pending(steps, runner)
        if pending:
            expected += planned
            begin.append(pending if len(steps) == 1 else _heaviest_first(planned[0][1]))
        made.append([] if pending else done)
    if begin:
        directories = {task.directory: None for _, tasks in expected for task in tasks}
        runner.run(expected, begin, [*directories, *inputs])
    return [done or _all_finished(steps) for steps, done in zip(stages, made, strict=True)]


def _pending(
    steps: Sequence[Step], runner: StageRunner
) -> tuple[list[tuple[Step, list[Task]]], list[Task], list[list[PartResult]]]:
    """Return the tasks of each step, all those to be done, and the parts of the steps before the first of these."""
    planned: list[tuple[Step, list[Task]]] = []
    pending: list[Task] = []
    done: list[list[PartResult]] = []
    for step in steps:
        tasks = step.plan(done[-1] if done else [])
        records = load_all(tasks, write_index=True)
        pending += delete_stale(tasks, records, runner.say)
        done.append([] if pending else [(task, record) for task, record in zip(tasks, records, strict=True) if record])
        planned.append((step, tasks))
    return planned, pending, done


def _all_finished(steps: Sequence[Step]) -> list[list[PartResult]]:
    done: list[list[PartResult]] = []
    for step in steps:
        done.append(finished(step.plan(done[-1] if done else [])))
    return done


def _heaviest_first(tasks: Sequence[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: (-task.weight, task.name))


def delete_stale(
    tasks: Sequence[Task], stored: Sequence[PartMetadata | None], say: Callable[[str], None] = lambda text: None
) -> list[Task]:
    """Delete records that do not fit their tasks any more; returns the tasks to be done, the heaviest first.

    stored: what `load_all` returned for the tasks.

    Finished local parts are compared with the SHA-256 in their records, on all cores. The record of a damaged part is
    deleted, too, and `say` is called with a message. Parts at a URL are checked by the worker that gets their task
    (`bertdata.engine.parts.run_once`), or when they are read.
    """
    records = list(zip(tasks, stored, strict=True))
    for task in (task for task, record in records if record is None and not files.is_remote(task.record_path)):
        if problem := _unfit(task):
            say(f"{printable(task.path)}: {problem}: it is made again")
    expected = [(task.path, record.sha256) for task, record in records if record and not files.is_remote(task.path)]
    problems = dict(damaged(expected, "check finished parts"))
    for path, problem in problems.items():
        say(f"{printable(path)}: {problem}: damaged, so it is made again")
    pending = [task for task, record in records if record is None or task.path in problems]
    if pending:
        there = records_there(pending)
        files.remove_files(task.record_path for task in pending if task.record_path in there)
    return _heaviest_first(pending)


def _unfit(task: Task) -> str:
    """Return why a local part that has a record is not done; "" if it is only outdated."""
    if not files.exists(task.record_path):
        return ""
    record = read_record(task.record_path)
    if record is None:
        return "its record is damaged"
    return "is missing or has another size than its record says" if record.fingerprint == task.fingerprint else ""


def finished(tasks: Sequence[Task]) -> list[PartResult]:
    """Return all tasks with their records; raises BertDataError where the runner did not make a part."""
    done = []
    for task, record in zip(tasks, load_all(tasks, write_index=True), strict=True):
        if record is None:
            raise BertDataError(
                "the runner ended without writing this part; run the same command again", path=task.path
            )
        done.append((task, record))
    return done


@dataclass(frozen=True)
class State:
    """How many parts of a step are done, outdated (`stale`) and missing; unknown until the steps before it are done."""

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


def stage_states(stages: Sequence[Stage]) -> Iterator[State]:
    """Yield the state of each step of a build, without writing anything.

    A step can be planned once those before it are done: their records say what its parts are made from.
    """
    build_state, complete = BuildState(), True
    for stage in stages:
        if not complete and not stage.first:
            if stage.title:
                yield State(stage.title)
            continue
        plan = stage.plan(BuildState() if stage.first else build_state)
        done: list[list[PartResult]] = []
        for number, step in enumerate(plan.steps):
            if len(done) < number:
                if not step.of_kept:
                    yield State(step.title)
                continue
            tasks = step.plan(done[-1] if done else [])
            if not tasks:
                done.append([])
                continue
            records = load_all(tasks)
            there = records_there(tasks)
            parts = [(task, record) for task, record in zip(tasks, records, strict=True) if record is not None]
            stale = sum(task.record_path in there for task in tasks) - len(parts)
            notes = plan.notes if not number else ()
            yield State(step.title, step.unit, len(parts), stale, len(tasks) - len(parts) - stale, notes)
            if len(parts) == len(tasks):
                done.append(parts)
        if len(done) < len(plan.steps):
            complete = False
        elif stage is not stages[-1]:
            build_state = build_state.with_documents(plan.finish(done)) if stage.first else plan.finish(done)
