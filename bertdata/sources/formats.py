"""Source formats: what the files of a build are written in, and how they become documents.

A format is one object: which files are its own, how they are cut into tasks, and how the documents of one task are
written. `SOURCE_FORMATS` has all of them by name; another package adds its own to it (see `bertdata.registry`). Of most
formats a task is a range of one file: they are children of `RangeFormat`.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

from bertdata.curation.languages import add_languages
from bertdata.curation.text_rules import text_rules
from bertdata.documents import ROWS_OF, DocumentGroups, DocumentWriter
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, PartResult, Task, part_name
from bertdata.engine.stages import Step
from bertdata.errors import ConfigError, shortened
from bertdata.io import files
from bertdata.io.checksums import checksums
from bertdata.io.compression import compression
from bertdata.io.encodings import SKIP, encoded
from bertdata.io.separated_lines import CHECKED
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.names import InputCount
from bertdata.sources.path_columns import path_columns
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.source_columns import ID, LANGUAGE, TEXT
from bertdata.sources.source_rows import MOST_BYTES, are_read_again, payload_from, recorded, require_local
from bertdata.sources.text_encodings import NOT_TEXT, count_encodings
from bertdata.sources.text_template import is_template


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
    workers find the format. text_column, id_column: those of tables, or templates of them. language_column: that which
    is kept as `language`.
    """

    directory: str
    target_bytes: int
    config: CleaningConfig
    text_column: str = TEXT
    columns: tuple[str, ...] = ()
    format: str = ""
    id_column: str = ID
    language_column: str = LANGUAGE


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

    def read_again(self, payload: Any, groups: DocumentGroups) -> None:
        """Give the documents of a task again, as `write` gave them to its writer.

        Only of tasks whose payload has a true `again`: in such a part of documents are no texts.
        """
        raise NotImplementedError(f"{type(self).__qualname__} does not say how rows are read again")

    def payload_of(self, values: Mapping[str, Any]) -> Any:
        """Return the payload of a task from its fields, as JSON has them, to read its documents again."""
        raise NotImplementedError(f"{type(self).__qualname__} does not say how rows are read again")

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

    columns: those that are kept beside the text; form, rules, quotes: as in `Layout`. again: whether its texts are read
    again where they are needed, and not stored.
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
    again: bool = False
    language_column: str = LANGUAGE

    @property
    def places(self) -> dict[str, str]:
        """Where rows have the columns that are kept, by their names: the language may be in another column."""
        return {name: self.language_column if name == LANGUAGE else name for name in self.columns}


def document_writer(task: Task, file: BinaryIO, counters: Counters, *, columns: bool) -> DocumentWriter:
    """Return the writer of the documents of a task, with its rules.

    They are compressed where they go to a URL. On a disk they take the room of the text: compressing them would take
    longer than cutting their sentences. Texts that are read again are not written.
    """
    compressed, languages = files.is_remote(task.path), add_languages(task)
    if textless := are_read_again(task):
        counters.details[ROWS_OF] = recorded(task)
    return DocumentWriter(
        file,
        counters,
        text_rules(task),
        columns=columns,
        add_languages=languages,
        compressed=compressed,
        textless=textless,
    )


def unwatched(task: Task) -> AbstractContextManager[Any]:
    """Note no checksum of what is read of files in the block, where the texts of a task are read again and compared."""
    return checksums(()) if are_read_again(task) else nullcontext()


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

    def reads_again(self, chosen: FileRange) -> bool:
        """Tell whether the rows of a range are read faster than texts are stored, digested and read.

        A format that says so takes any `DocumentGroups` in `read`.
        """
        return False

    def read_again(self, payload: FileRange, groups: DocumentGroups) -> None:
        """Give the documents of one range again."""
        self.read(payload, cast("DocumentWriter", groups), Counters())

    def payload_of(self, values: Mapping[str, Any]) -> FileRange:
        """Return a range from its fields; raises TypeError or ValueError where none that is read again has such."""
        chosen = payload_from(FileRange, values)
        require_local([chosen.path])
        if not 0 <= chosen.start <= chosen.end < 1 << 63:
            raise ValueError(f"its range is {shortened(chosen.start)} to {shortened(chosen.end)}")
        others = (chosen.columns, chosen.form, chosen.rules, chosen.encoding)
        if not chosen.again or any(others) or chosen.id_column != ID or is_template(chosen.text_column):
            raise ValueError("rows that are read as it says have their texts in their part")
        return chosen

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
                if LANGUAGE in chosen.columns and request.language_column != LANGUAGE:
                    chosen = replace(chosen, language_column=request.language_column)
                    read.append(["language", request.language_column, str(of_path.get(request.language_column, ""))])
                read += [["encoding", source.encoding]] if source.encoding else []
                here = not files.is_remote(source.path) and not source.encoding
                if here and weight <= MOST_BYTES and self.reads_again(chosen):
                    chosen = replace(chosen, again=True)
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
            unwatched(task),
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


def write_documents(task: Task, file: BinaryIO) -> Counters:
    """Write the documents of one task of any format; details["kind"] is the kind of source that they are of."""
    source_format: SourceFormat = SOURCE_FORMATS[task.payload.format]
    counters = source_format.write(task, file)
    counters.details["kind"] = source_format.kind
    return counters


def text_bytes(sources: Sequence[SourceFile]) -> int:
    """Return about how many bytes of text files hold, compressed ones taken to be a quarter of theirs."""
    return sum(files.size(source.path) * (4 if compression(source.path) else 1) for source in sources)
