"""The stages that read what a build is made of: the files of one kind to parts of documents, by ranges or groups."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bertdata.curation.filters import with_filters
from bertdata.engine.parts import PartFunction, PartResult, Task
from bertdata.engine.stages import Plan, Standing, Step
from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.io.digests import damaged
from bertdata.sources.cleaning import books_part, plan_books, plan_wikipedia, remove_stale_rejects, wikipedia_part
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.tabular import plan_tables, record_of_part, table_part

FOLDERS = {"wikipedia": "wikipedia", "books": "books", "documents": "tables"}
"""The folder of the documents of each kind, below the stages of a build."""
_TITLES = {"wikipedia": "clean wikipedia", "books": "clean books", "documents": "read documents"}


@dataclass(frozen=True)
class FinishedPart:
    """A part that bertdata wrote, by the path it was given under."""

    path: str


@dataclass(frozen=True)
class ReadSource:
    """The stage that makes documents of files of one kind, each given with its source, as parts in `directory`.

    Parts of documents that an earlier run of bertdata wrote are taken as they are.
    """

    kind: str
    source_of: Mapping[str, str]
    directory: str
    config: CleaningConfig
    text_column: str = "text"
    first = True

    @property
    def title(self) -> str:
        """What progress calls it."""
        return _TITLES[self.kind]

    def plan(self, standing: Standing) -> Plan:
        """Plan the parts, after those of the sources before it."""
        own = finished_parts(self.source_of) if self.kind == "documents" else []
        if own and self.config.filter:
            raise ConfigError(
                "these documents are written already, and --filter is for where they are; give it to clean-wikipedia "
                "or clean-books",
                path=own[0][0].path,
            )
        given = {task.path for task, _ in own}
        paths = [path for path in self.source_of if path not in given]
        tasks, notes, make = self._tasks(paths) if paths else ([], (), table_part)
        tasks = with_filters(tasks, self.config.filter)

        def prepare() -> None:
            refuse_damaged(own)
            remove_stale_rejects(tasks, self.config.rejects if self.kind == "wikipedia" else "")

        return Plan(
            [Step(self.title, make, tasks)],
            lambda done: replace(standing, documents=(*standing.documents, *own, *done[0])),
            prepare,
            inputs=paths,
            folders=[self.directory],
            notes=notes,
        )

    def _tasks(self, paths: Sequence[str]) -> tuple[list[Task], Sequence[str], PartFunction]:
        if self.kind == "wikipedia":
            return *plan_wikipedia(paths, self.directory, self.config), wikipedia_part
        if self.kind == "books":
            return plan_books(paths, self.directory, self.config, self.source_of), (), books_part
        target = self.config.target_bytes(sum(files.size(path) for path in paths))
        return plan_tables(paths, self.directory, target, self.text_column), (), table_part


def finished_parts(paths: Sequence[str] | Mapping[str, str]) -> list[PartResult]:
    """Return the parts of documents among files that bertdata wrote, with their records."""
    found = []
    for path in paths:
        if record := record_of_part(path):
            folder, name = os.path.split(path)
            stem = name.removesuffix(".parquet")
            found.append((Task(folder, stem, ".parquet", record.fingerprint, 0, FinishedPart(path)), record))
    return found


def refuse_damaged(own: Sequence[PartResult]) -> None:
    """Raise InputError for a local part that is not as cleaning wrote it; those at a URL are checked when read."""
    expected = [(task.path, record.sha256) for task, record in own if not files.is_remote(task.path)]
    for path, problem in damaged(expected, "check documents"):
        raise InputError(
            f"{problem}: these documents were damaged; delete the file and run clean-wikipedia or clean-books again",
            path=path,
        )
