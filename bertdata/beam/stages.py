"""A stage run to its end: what is done already is kept, the rest is made, what belongs to no task any more goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bertdata.beam.progress import Stage
from bertdata.beam.runner import Runner
from bertdata.engine.parts import PartMetadata, Task, add_counts, delete_orphans, load, read_record
from bertdata.errors import BertDataError, InputError, printable
from bertdata.io import files
from bertdata.io.digests import damaged
from bertdata.sources import unsupported
from bertdata.sources.names import find_files
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.tabular import SUFFIXES, own_part, plan_tables

PartResult = tuple[Task, PartMetadata]


@dataclass(frozen=True)
class OwnPart:
    """A part that cleaning wrote, by the path it was given under."""

    path: str


def stage_of(title: str, tasks: Sequence[Task], unit: str = "B") -> Stage:
    """Return what progress shows of a stage: its tasks' records, weighed by bytes, or counted in another unit."""
    sizes = {task.record_path: max(1, task.weight) for task in tasks}
    return Stage(title, sizes if unit == "B" else dict.fromkeys(sizes, 1), unit, sizes)


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
    return sorted(pending, key=lambda task: (-task.weight, task.name))


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


def make_parts(
    runner: Runner, title: str, tasks: Sequence[Task], transform: Any, inputs: Sequence[str]
) -> list[PartResult]:
    """Run one transform of `inputs` over the tasks that are not done yet; returns all tasks with their records."""
    if not tasks:
        return []
    pending = delete_stale(tasks, runner.say)
    if pending:
        paths = [tasks[0].directory, *inputs]
        runner.run([stage_of(title, tasks)], lambda pipeline: create(pipeline, pending) | transform(), paths)
    delete_orphans(tasks[0].directory, tasks)
    return finished(tasks)


def require_documents(parts: Sequence[PartResult], source: str = "") -> None:
    """Raise InputError where parts, all or those of one source, hold no document, saying what was dropped."""
    if not any(record.counts.get("documents") for _, record in parts):
        drops = add_counts(record.drops for _, record in parts)
        dropped = ", ".join(f"{reason}: {number:,}" for reason, number in drops.items()) or "nothing"
        what, remedy = (
            (f"the source {source}", "leave it out, or add to it") if source else ("these sources", "add others")
        )
        raise InputError(f"no document is left of {what} (dropped: {dropped}); {remedy}")


def create(pipeline: Any, tasks: Sequence[Task]) -> Any:
    """Return the tasks as a PCollection that every worker has its share of.

    Grouping by number parts the tasks from their one source, which is a single bundle, and a local runner deals groups
    out in turn: so of tasks with the heaviest first each worker gets about the same weight.
    """
    import apache_beam as beam

    numbered = pipeline | beam.Create(list(enumerate(tasks)), reshuffle=False)
    return numbered | "Deal" >> beam.GroupByKey() | "Each" >> beam.FlatMapTuple(lambda number, group: group)


def find_documents(given: Sequence[str], default: str = "") -> dict[str, str]:
    """Return the files that --documents names, sorted, each with its source, `default` where none is named.

    Raises InputError where there are none, ConfigError for a file of two sources.
    """
    return find_files(given, default, _expand)


def _expand(paths: Sequence[str]) -> list[str]:
    try:
        return files.expand(paths, SUFFIXES)
    except InputError:
        for path in paths:
            if not files.is_remote(path) and os.path.isdir(path) and (known := unsupported.what_a_folder_is(path)):
                raise InputError(known, path=path) from None
        raise


def input_of(task: Task) -> str:
    """Return the file of the user's that a part of documents was made from, the part itself where it is one."""
    path: str = task.payload.path
    return path


def plan_documents(
    patterns: Sequence[str], directory: str, config: CleaningConfig, text_column: str
) -> tuple[list[PartResult], list[Task]]:
    """Return the parts that clean_* wrote, with their records, and the tasks that read the other tables."""
    own: list[PartResult] = []
    foreign = []
    for path in files.expand(patterns, SUFFIXES):
        record = own_part(path)
        if record is None:
            foreign.append(path)
        else:
            folder, name = os.path.split(path)
            stem, part = name.removesuffix(".parquet"), OwnPart(path)
            own.append((Task(folder, stem, ".parquet", record.fingerprint, 0, part), record))
    target = config.target_bytes(sum(files.size(path) for path in foreign))
    return own, plan_tables(foreign, directory, target, text_column) if foreign else []


def read_documents(
    runner: Runner, patterns: Sequence[str], directory: str, config: CleaningConfig, text_column: str
) -> list[PartResult]:
    """Return documents as parts: those that clean_* wrote as they are, other tables read into `directory`."""
    own, tasks = plan_documents(patterns, directory, config, text_column)
    _refuse_damaged(own)

    def transform() -> object:
        from bertdata.beam.transforms import ReadTables

        return ReadTables()

    inputs = list(dict.fromkeys(input_of(task) for task in tasks))
    return own + make_parts(runner, "read documents", tasks, transform, inputs)


def _refuse_damaged(own: Sequence[PartResult]) -> None:
    """Raise InputError for a local part that is not as cleaning wrote it; those at a URL are checked when read."""
    expected = [(task.path, record.sha256) for task, record in own if not files.is_remote(task.path)]
    for path, problem in damaged(expected, "check documents"):
        raise InputError(
            f"{problem}: these documents were damaged; delete the file and run clean-wikipedia or clean-books again",
            path=path,
        )
