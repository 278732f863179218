"""Tasks for files of any source format, planned as a build plans them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bertdata.engine.parts import Task
from bertdata.engine.stages import BuildState
from bertdata.sources.kinds import find_kind
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource


def plan_wikipedia(paths: Sequence[str], directory: str, config: CleaningConfig) -> Sequence[Task]:
    """Return the tasks for dumps."""
    return _tasks("wikipedia", dict.fromkeys(find_kind("wikipedia", paths), "wikipedia"), directory, config)


def plan_books(paths: Sequence[str], directory: str, config: CleaningConfig) -> Sequence[Task]:
    """Return the tasks for books."""
    return _tasks("books", dict.fromkeys(find_kind("books", paths), "books"), directory, config)


def plan_documents(
    paths: Sequence[str], directory: str, target_bytes: int, text_column: str = "text", columns: tuple[str, ...] = ()
) -> Sequence[Task]:
    """Return the tasks for files of documents."""
    config = CleaningConfig(range_bytes=target_bytes)
    return _tasks("documents", dict.fromkeys(paths, "documents"), directory, config, text_column, columns)


def plan_rows(
    paths: Sequence[str], config: CleaningConfig, text_column: str = "text", columns: tuple[str, ...] = ()
) -> tuple[Sequence[Task], Sequence[str]]:
    """Return the tasks for files of documents, and the notes of the plan."""
    source_of = dict.fromkeys(paths, "documents")
    plan = ReadSource("documents", source_of, "out", config, text_column, columns).plan(BuildState())
    [step] = plan.steps
    return step.tasks, plan.notes


def _tasks(
    kind: str,
    source_of: Mapping[str, str],
    directory: str,
    config: CleaningConfig,
    text_column: str = "text",
    columns: tuple[str, ...] = (),
) -> Sequence[Task]:
    [step] = ReadSource(kind, source_of, directory, config, text_column, columns).plan(BuildState()).steps
    return step.tasks
