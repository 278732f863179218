"""Source formats: what the files of a build are written in, and how they become documents.

A format is one object: which files are its own, how they are cut into tasks, and how the documents of one task are
written. `SOURCE_FORMATS` has all of them by name; another package adds its own to it (see `bertdata.registry`). Of most
formats a task is a range of one file: they are children of `RangeFormat`.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from bertdata.curation.languages import add_languages
from bertdata.curation.text_rules import text_rules
from bertdata.documents import DocumentWriter
from bertdata.engine.parts import Counters, PartResult, Task, fingerprint, part_name
from bertdata.engine.stages import Step
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.io.compression import compression
from bertdata.io.encodings import SKIP, encoded
from bertdata.io.patterns import ends_in, expand
from bertdata.io.separated_lines import CHECKED
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.names import InputCount
from bertdata.sources.path_columns import path_columns
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.source_columns import ID, TEXT
from bertdata.sources.text_encodings import NOT_TEXT, count_encodings


@dataclass(frozen=True)
class SourceFile:
    """One file of a build, a label that tells it from the others, and the name of its source.

    encoding: that of its text, where it is not UTF-8, or `SKIP` where it is left out.
    """

    path: str
    label: str
    source: str
    encoding: str = ""


@dataclass(frozen=True)
class Request:
    """What a format plans its tasks for: the directory of the parts, about how many bytes one takes, and settings.

    columns: those of tables that are kept beside the text, as `score` or `metadata.score`. format: the name by which
    workers find the format. text_column, id_column: those of tables, or templates of them.
    """

    directory: str
    target_bytes: int
    config: CleaningConfig
    text_column: str = TEXT
    columns: tuple[str, ...] = ()
    format: str = ""
    id_column: str = ID


@dataclass(frozen=True)
class Layout:
    """Where the text of one file is, as `RangeFormat.layout` finds it.

    text_column: of a table; form, rules: how rows that hold articles are read, "" and None where text is taken as it
    is; made_from: what beside the file the documents depend on; note: what the user should know; quotes: how those of
    fields are read (`bertdata.io.separated_lines`).
    """

    text_column: str
    form: str = ""
    rules: Any = None
    made_from: tuple[Any, ...] = ()
    note: str = ""
    quotes: str = CHECKED


class SourceFormat(ABC):
    """How the files of one format become documents.

    kind       the flag that takes its files: wikipedia, books, or documents, of which there may be several formats
    suffixes   what the names of its files end with, in lower case, with * for anything
    signatures what its files begin with, by which one is known whose name has the suffix of no format
    described  what the help of the flag calls its files
    text       "files" where its files are text, which is UTF-8 or of --encoding; "lines" where lines that are not
               UTF-8 are dropped one by one; "" where they are something else
    settings   the fields of `CleaningConfig`, or text_column, that it reads beside range_bytes
    revision   raise it when it writes other documents, so that parts are made again; `plan` puts it into fingerprints

    A task's payload has a `path`, the file (or the first of the files) that it reads, and a `format`, that of the
    `Request`.
    """

    kind = "documents"
    suffixes: tuple[str, ...] = ()
    signatures: tuple[bytes, ...] = ()
    described = ""
    text = ""
    settings: tuple[str, ...] = ()
    revision: int | str = 1

    def select(self, paths: Sequence[str]) -> list[str]:
        """Return the files among those of its suffixes that are its own; raises InputError where there are none."""
        return list(paths)

    def columns_of(self, path: str) -> list[str]:
        """Return the columns of a table beside the text, none of a format that has no columns."""
        return []

    def settings_for(self, path: str) -> Sequence[str]:
        """Return those of `settings` by which one file is read."""
        return self.settings

    def has_column(self, path: str, name: str) -> bool:
        """Tell whether any row of a table has a column that is not among `columns_of`, if these are of some rows."""
        return False

    @abstractmethod
    def plan(self, sources: Sequence[SourceFile], request: Request) -> tuple[list[Task], list[str]]:
        """Return the tasks for some files, and what the user should know of them; reads the files and writes nothing.

        Raises InputError for a file that cannot be read, or is something else.
        """

    def prepare(self, tasks: Sequence[Task], config: CleaningConfig) -> None:  # noqa: B027
        """Do what is to be done once, before any task."""

    def steps_before(self, tasks: Sequence[Task], config: CleaningConfig) -> list[Step]:
        """Return the steps whose parts the tasks read, none of most formats."""
        return []

    def after(self, task: Task, parts: Sequence[PartResult]) -> Task:
        """Return a task of documents as it is once the parts of the last of the steps before are there."""
        return task

    @abstractmethod
    def write(self, task: Task, file: BinaryIO) -> Counters:
        """Write the documents of one task; returns what came in and what was dropped."""

    def files_of(self, task: Task) -> Sequence[str]:
        """Return the files that a task reads: those that must not change meanwhile."""
        return (task.payload.path,)

    def beginning(self, task: Task, size: int, folder: str) -> Task | str:
        """Return a task of about the first `size` stored bytes of a task, itself where it has no more.

        Estimates are made from these. Where such a part cannot be read by itself, it is a sentence that says why.
        `folder` may hold copies, which end where a document, or a line of one, ends (`copy_beginning`).
        """
        return task if task.weight <= size else f"the source format {task.payload.format} reads a part whole"


@dataclass(frozen=True)
class FileRange:
    """A run of one file, in whatever its format counts; `label` begins the ids it makes up.

    columns: those that are kept beside the text; form, rules, quotes: as in `Layout`.
    """

    path: str
    label: str
    start: int
    end: int
    text_column: str
    format: str
    columns: tuple[str, ...] = ()
    form: str = ""
    rules: Any = None
    quotes: str = CHECKED
    id_column: str = ID
    encoding: str = ""


def document_writer(task: Task, file: BinaryIO, counters: Counters, *, columns: bool) -> DocumentWriter:
    """Return the writer of the documents of a task, with its rules.

    They are compressed where they go to a URL. On a disk they take the room of the text: compressing them would take
    longer than cutting their sentences.
    """
    compressed, languages = files.is_remote(task.path), add_languages(task)
    return DocumentWriter(
        file, counters, text_rules(task), columns=columns, add_languages=languages, compressed=compressed
    )


class RangeFormat(SourceFormat):
    """A format whose tasks are ranges of one file, taken by --documents; `name` is that in the registry."""

    name = ""

    @abstractmethod
    def ranges(self, path: str, target_bytes: int, text_column: str) -> Iterator[tuple[int, int, int]]:
        """Yield (start, end, bytes) of the ranges of a file, each for one worker.

        Raises InputError for a file that is something else.
        """

    def layout(self, source: SourceFile, request: Request) -> Layout:
        """Return where the text of a file is; raises InputError where it has none."""
        return Layout(request.text_column)

    @abstractmethod
    def read(self, chosen: FileRange, writer: DocumentWriter, counters: Counters) -> None:
        """Write the documents of one range.

        Counts `InputCount.ROWS`: each row is a document or dropped with a reason. Raises InputError where the file
        cannot be read.
        """

    def plan(self, sources: Sequence[SourceFile], request: Request) -> tuple[list[Task], list[str]]:
        """Return one task for each range of the files."""
        tasks, notes = [], []
        for source in sources:
            if source.encoding == SKIP:
                tasks.append(self._left_out(source, request))
                continue
            layout = self.layout(source, request)
            notes += [f"{source.label}: {layout.note}"] if layout.note else []
            ranges = self.ranges(source.path, request.target_bytes, layout.text_column)
            of_path = path_columns(source.path)
            for number, (start, end, weight) in enumerate(ranges):
                text_at, of_request = layout.text_column, (request.format or self.name, request.columns)
                of_file = (layout.form, layout.rules, layout.quotes, request.id_column, source.encoding)
                given = (text_at, *of_request, *of_file)
                chosen = FileRange(source.path, source.label, start, end, *given)
                read = [chosen.text_column, *([request.columns] if request.columns else []), *layout.made_from]
                if given_by_path := {name: value for name, value in of_path.items() if name in request.columns}:
                    read.append(["path", sorted(given_by_path.items())])
                read += [["id", chosen.id_column]] if chosen.id_column != ID else []
                read += [["encoding", source.encoding]] if source.encoding else []
                identity = files.identity(source.path)
                made_from = fingerprint("tables", self.revision, identity, source.label, start, end, *read)
                name = part_name(source.label, number)
                tasks.append(Task(request.directory, name, ".parquet", made_from, weight, chosen, synced=False))
        return tasks, notes

    def _left_out(self, source: SourceFile, request: Request) -> Task:
        """Return the task of a file that is left out, which counts it."""
        chosen = FileRange(source.path, source.label, 0, 0, TEXT, request.format or self.name, request.columns)
        made_from = fingerprint("left out", files.identity(source.path), source.label, request.columns)
        name = part_name(source.label, 0)
        return Task(request.directory, name, ".parquet", made_from, 1, replace(chosen, encoding=SKIP), synced=False)

    def write(self, task: Task, file: BinaryIO) -> Counters:
        """Write the documents of one range."""
        counters, chosen = Counters(), task.payload
        columns = bool(chosen.columns)
        with (
            encoded({chosen.path: chosen.encoding}),
            document_writer(task, file, counters, columns=columns) as writer,
        ):
            if chosen.encoding == SKIP:
                counters.add(InputCount.ROWS)
                counters.drop(NOT_TEXT, size=files.size(chosen.path))
            else:
                self.read(chosen, writer, counters)
        count_encodings(counters, {chosen.path: chosen.encoding} if not chosen.start else {})
        if InputCount.ROWS not in counters.counts and (counters.counts or counters.drops):
            module = sys.modules.get(type(self).__module__)
            raise ConfigError(
                f"the source format {type(self).__qualname__} wrote or dropped documents and counted no rows; add "
                "`counters.add(InputCount.ROWS)` for each to its `read`",
                path=getattr(module, "__file__", None),
            )
        return counters


_DEFAULTS = {"wikipedia": "wikipedia", "books": "books", "documents": "json-lines"}
"""The format of a file of each kind whose name has the suffix of none."""


def formats_of(kind: str, unregistered: Sequence[str] = ()) -> dict[str, SourceFormat]:
    """Return the formats that the flag of a kind takes, by name: first `unregistered`, that are not registered."""
    names = [*unregistered, *SOURCE_FORMATS]
    return {name: source_format for name in names if (source_format := SOURCE_FORMATS[name]).kind == kind}


def format_of(path: str, kind: str, unregistered: Sequence[str] = ()) -> str:
    """Return the name of the format of a file of a kind.

    >>> format_of("a/Wiki.TXT.gz", "documents"), format_of("a/wiki.odd", "documents")
    ('plain-text', 'json-lines')
    """
    return formats_at([path], kind, unregistered)[path]


def formats_at(paths: Iterable[str], kind: str, unregistered: Sequence[str] = ()) -> dict[str, str]:
    """Return the name of the format of each file of a kind, by its path."""
    formats = formats_of(kind, unregistered)
    return {path: _format_of(path, kind, formats) for path in paths}


def _format_of(path: str, kind: str, formats: Mapping[str, SourceFormat]) -> str:
    """Return the name of the one of some formats that a file is of."""
    for name, source_format in formats.items():
        if ends_in(path, source_format.suffixes):
            return name
    signatures = {signature: name for name, source_format in formats.items() for signature in source_format.signatures}
    if signatures and files.exists(path) and not os.path.isdir(path):
        with files.open_raw(path) as raw:
            start = raw.read(max(map(len, signatures)))
        for signature, name in signatures.items():
            if start.startswith(signature):
                return name
    return _DEFAULTS[kind]


def write_documents(task: Task, file: BinaryIO) -> Counters:
    """Write the documents of one task of any format; details["kind"] is the kind of source that they are of."""
    source_format: SourceFormat = SOURCE_FORMATS[task.payload.format]
    counters = source_format.write(task, file)
    counters.details["kind"] = source_format.kind
    return counters


def find_kind(kind: str, paths: Sequence[str], unregistered: Sequence[str] = ()) -> list[str]:
    """Return the files of a kind that paths, folders and globs name; raises InputError where there are none."""
    formats = formats_of(kind, unregistered).values()
    matching = expand(paths, [suffix for source_format in formats for suffix in source_format.suffixes])
    for source_format in formats:
        matching = source_format.select(matching)
    return matching


def described(kind: str) -> str:
    """Return what the help of a kind's flag says of its formats."""
    return ", ".join(source_format.described for source_format in formats_of(kind).values() if source_format.described)


def settings_of(kind: str) -> list[str]:
    """Return the settings that the formats of a kind read, each once."""
    return list(dict.fromkeys(name for source_format in formats_of(kind).values() for name in source_format.settings))


def settings_read(kind: str, paths: Sequence[str], unregistered: Sequence[str] = ()) -> set[str]:
    """Return the settings by which files of a kind are read."""
    named = formats_at(paths, kind, unregistered)
    format_named = {name: SOURCE_FORMATS[name] for name in {*named.values()}}
    return {setting for path, name in named.items() for setting in format_named[name].settings_for(path)}


def text_bytes(sources: Sequence[SourceFile]) -> int:
    """Return about how many bytes of text files hold, compressed ones taken to be a quarter of theirs."""
    return sum(files.size(source.path) * (4 if compression(source.path) else 1) for source in sources)
