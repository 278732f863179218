"""The inputs of a build: what its command line names, the files that these are, and the source of each.

Sources          paths, folders and globs as they were given
Inputs           the files of each kind, each with the name of its source
GivenDocuments   files of documents alone, some of which are parts that bertdata wrote
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bertdata.engine.parts import PartMetadata, PartResult, Task
from bertdata.errors import InputError
from bertdata.io import files, remote
from bertdata.io.console import counted
from bertdata.io.patterns import closed_folder, ends_in, expand
from bertdata.options.option import require
from bertdata.sources import SOURCE_FORMATS, unsupported
from bertdata.sources.kinds import find_kind, formats_of
from bertdata.sources.names import KINDS, anywhere, find_files, named, order_sources, refuse_shared
from bertdata.sources.source_columns import TEXT, SourceColumns

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
SourcePart = tuple[str, PartResult]
"""A part of documents after the name of its source."""


@dataclass(frozen=True)
class Sources:
    """What a build reads: dumps, books and other documents, each a list of paths, folders or globs.

    NAME= in front of a path names its source (see `sources.names`); the others are of that named after their kind.
    text_column, columns: the column of the text, and those of the text and the id that sources have of their own.
    formats: names of source formats that are not registered, of documents.
    """

    wikipedia: tuple[str, ...] = ()
    books: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    text_column: str = TEXT
    formats: tuple[str, ...] = ()
    columns: SourceColumns = field(default_factory=SourceColumns)

    def inputs(self) -> Inputs:
        """Return the files of each kind; raises InputError where a path matches nothing, ConfigError for one twice.

        And ConfigError for a format that is not of documents.
        """
        for name in self.formats:
            kind = SOURCE_FORMATS[name].kind
            require(kind == "documents", f"--source-format {name} is of --{kind}; expected one of --documents")
        by_kind = {kind: find_files(getattr(self, kind), kind, partial(_expand, kind, self.formats)) for kind in KINDS}
        refuse_shared(by_kind)
        by_kind["documents"], empty = _without_empty("documents", by_kind["documents"], self.documents)
        read = [
            suffix
            for source_format in formats_of("documents", self.formats).values()
            for suffix in source_format.suffixes
        ]
        notes = [unsupported.left_out(named(document, "")[1], read) for document in self.documents]
        notes.append(empty)
        return Inputs(by_kind, tuple(note for note in notes if note))

    @property
    def are_named(self) -> bool:
        """Whether there is any."""
        return bool(self.wikipedia or self.books or self.documents)

    def given(self) -> dict[str, Any]:
        """Return what names the same files from any other folder, as JSON."""
        paths = {kind: [anywhere(path) for path in getattr(self, kind)] for kind in KINDS}
        formats = {"formats": list(self.formats)} if self.formats else {}
        columns = {"columns": stored} if (stored := self.columns.stored()) else {}
        return paths | {"text_column": self.text_column} | formats | columns

    @staticmethod
    def from_given(value: Mapping[str, Any]) -> Sources:
        """Make it of what `given` returned."""
        wikipedia, books, documents = (tuple(value[kind]) for kind in KINDS)
        columns = SourceColumns.from_stored(value.get("columns", {}))
        return Sources(wikipedia, books, documents, value["text_column"], tuple(value.get("formats", ())), columns)


def find_documents(given: Sequence[str], default: str = "") -> dict[str, str]:
    """Return the files that --documents names, sorted, each with its source, `default` where none is named.

    Raises InputError where there are none, ConfigError for a file of two sources.
    """
    return find_files(given, default, partial(_expand, "documents", ()))


def _expand(kind: str, formats: Sequence[str], paths: Sequence[str]) -> list[str]:
    for path in paths if kind == "documents" else ():
        if os.path.isdir(path) and (description := unsupported.what_a_build_is(path)):
            raise InputError(description, path=path)
    try:
        return find_kind(kind, paths, formats)
    except InputError:
        if kind == "documents" and (with_lines := _with_json_lines(paths)) != [*paths]:
            return find_kind(kind, with_lines, formats)
        for path in paths if kind == "documents" else ():
            if _HUB_NAME.fullmatch(path) and not os.path.lexists(path) and not closed_folder(path):
                raise InputError(
                    f"this path matches nothing; expected a file, a folder or a glob, or hf://{path} for a data set of "
                    "the Hugging Face hub",
                    path=path,
                ) from None
            if os.path.isdir(path) and (description := unsupported.what_a_folder_is(path)):
                raise InputError(description, path=path) from None
        raise


def _with_json_lines(paths: Sequence[str]) -> list[str]:
    """Return paths with the files of a folder in its place, where they are JSON lines that an engine named .json."""
    from bertdata.sources.json_lines import begins_with_an_object

    result = []
    for path in paths:
        named_json: list[str] = []
        with contextlib.suppress(InputError):
            if unsupported.what_a_data_set_is(path) is None:
                named_json = expand([path], (".json",)) if files.is_remote(path) or os.path.isdir(path) else []
        are_lines = named_json != [path] and all(ends_in(file, (".json",)) for file in named_json)
        result += named_json if named_json and are_lines and all(map(begins_with_an_object, named_json)) else [path]
    return result


def _without_empty(kind: str, paths_by_name: Mapping[str, str], given: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the files of a kind without empty ones that nobody named, and a note on these; all where all are empty.

    Engines write an empty file for a partition without rows.
    """
    outright = {named(argument, kind)[1] for argument in given}
    asked = [path for path in paths_by_name if path not in outright]
    empty = [path for path, size in zip(asked, remote.at_once(files.size, asked), strict=True) if not size]
    if not empty or len(empty) == len(paths_by_name):
        return dict(paths_by_name), ""
    rest = {path: source for path, source in paths_by_name.items() if path not in {*empty}}
    what = (
        f"{empty[0]} is empty"
        if len(empty) == 1
        else f"{empty[0]} and {counted(len(empty) - 1, 'other file')} are empty"
    )
    are_notes = all(ends_in(path, (".txt",)) for path in empty)
    why = "" if are_notes else ", as engines write for partitions without rows"
    return rest, f"{what}{why}: left out, of {counted(len(paths_by_name), 'file')}"


def input_of(task: Task) -> str:
    """Return the file of the user's that a part of documents was made from, the part itself where it is one."""
    path: str = task.payload.path
    return path


@dataclass(frozen=True)
class Inputs:
    """The files of a build by kind, sorted, each with the name of its source; notes: which files were left out."""

    by_kind: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...] = ()

    @property
    def source_of(self) -> dict[str, str]:
        """The name of the source of each file."""
        return {path: name for sources in self.by_kind.values() for path, name in sources.items()}

    def paths(self, name: str = "") -> list[str]:
        """Return the files of all sources, or of one."""
        return [path for path, source in self.source_of.items() if not name or source == name]

    def identities(self) -> dict[str, list[Any]]:
        """Return what the files of each kind that has any are known by; a name adds to it where one was given."""
        return {
            kind: [files.identity(path) if name == kind else [files.identity(path), name] for path, name in of.items()]
            for kind, of in self.by_kind.items()
            if of
        }

    def named(self, parts: Sequence[PartResult]) -> list[SourcePart]:
        """Return parts of documents with the names of their sources."""
        source_of = self.source_of
        return [(source_of[input_of(task)], (task, record)) for task, record in parts]

    def names(self, parts: Sequence[SourcePart] = ()) -> list[str]:
        """Return the names of all sources, in the order that numbers them."""
        return order_sources(self.source_of.values())

    def files_of(self, name: str, parts: Sequence[SourcePart]) -> tuple[list[tuple[str, int]], int]:
        """Return the files of a source, by name and size, and how many bytes of them its parts are made from.

        Files of documents are taken whole: a range of a table has no bytes of its file.
        """
        sizes = {path: files.size(path) for path in self.paths(name)}
        documents = self.by_kind["documents"]
        tasks = [task for source, (task, _) in parts if source == name]
        taken = sum(task.weight for task in tasks if input_of(task) not in documents)
        taken += sum(size for path, size in sizes.items() if path in documents)
        return [(files.name(path), size) for path, size in sizes.items()], taken


@dataclass(frozen=True)
class GivenDocuments:
    """Files of documents, each with the name of its source; one without a name is of that named after its kind."""

    source_of: Mapping[str, str]

    def named(self, parts: Sequence[PartResult]) -> list[SourcePart]:
        """Return parts of documents with the names of their sources, in the order of their kinds."""
        ordered = sorted(parts, key=lambda done: list(KINDS).index(kind_of(done[1])))
        return [(self.source_of[input_of(task)] or kind_of(record), (task, record)) for task, record in ordered]

    def names(self, parts: Sequence[SourcePart]) -> list[str]:
        """Return the names of the sources that have parts, in the order that numbers them."""
        return order_sources(name for name, _ in parts)

    def possible_names(self) -> list[str]:
        """Return the names that sources may have, before the kinds of the documents are known."""
        return order_sources(source for name in self.source_of.values() for source in ([name] if name else KINDS))

    def files_of(self, name: str, parts: Sequence[SourcePart]) -> tuple[list[tuple[str, int]], int]:
        """Return no files and no bytes: what the documents were made from is not known."""
        return [], 0


DocumentSources = Inputs | GivenDocuments
"""What assigns the documents of a build to its sources."""


def kind_of(record: PartMetadata) -> str:
    """Return the kind of source that a part of documents was made from.

    A record of an earlier version does not name it: there it is the kind whose unit is counted.

    >>> kind_of(PartMetadata("x", "f", 1, "s", 0.0, {"pages": 3, "documents": 2}))
    'wikipedia'
    """
    by_unit = next((kind for kind, unit in KINDS.items() if unit in record.counts), "documents")
    return str(record.details.get("kind", by_unit))
