"""Ordinary text files, each of which is one document: the .txt files of --documents with --whole-files.

Blank lines are the borders of its paragraphs; where there are none, every line is a paragraph. A part is a group of
files of one source, so that many small files make few parts. A document's id is its file's label, its
title the file's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, BinaryIO

from bertdata.documents import DocumentGroups, paragraphs
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, Task, part_name
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.console import counted
from bertdata.io.decoding import decode_utf8
from bertdata.io.encodings import SKIP, encoded, is_stream, open_text
from bertdata.kernels.warmup import compiling_pays
from bertdata.sources.formats import Request, SourceFile, SourceFormat, document_writer, unwatched
from bertdata.sources.names import NO_TEXT, InputCount
from bertdata.sources.source_rows import MOST_BYTES, payload_from, require_local
from bertdata.sources.text_encodings import NOT_TEXT, count_encodings
from bertdata.sources.unsupported import marked_up

NAME = "text-files"
_MOST_FILES = 4096
_LOOKED_AT = 64 << 10
_SEEN = 1 << 10
_LOOKED_FILES = 64
"""The files of which it is looked whether they hold marks: those of a source are mostly of one kind."""
_LONG_LINES = 0.2
_AGAIN_FROM = 4 << 20
"""Bytes of the files of a source from which their texts are read again and not stored."""


@dataclass(frozen=True)
class TextGroup:
    """Files that one worker takes together, their labels, and their encodings where any is not UTF-8.

    again: whether they are read again where their texts are needed.
    """

    paths: tuple[str, ...]
    labels: tuple[str, ...]
    columns: bool
    format: str = NAME
    encodings: tuple[str, ...] = ()
    again: bool = False

    @property
    def path(self) -> str:
        """The first of its files, all of which are of one source."""
        return self.paths[0]


class TextFilesFormat(SourceFormat):
    """Text files that are one document each; the format of plain text plans them, where settings ask for it."""

    revision = 2
    settings = ("whole_files", "encoding", "bad_files")

    def plan(self, sources: Sequence[SourceFile], request: Request) -> tuple[list[Task], list[str]]:
        """Return one task for each group of files, and how many documents these are."""
        by_source: dict[str, list[SourceFile]] = {}
        for source in sources:
            by_source.setdefault(source.source, []).append(source)
        tasks = []
        for name, of_source in by_source.items():
            pays = compiling_pays(sum(files.size(member.path) for member in of_source), None, _AGAIN_FROM)
            for number, (group, weight) in enumerate(_groups(of_source, request.target_bytes)):
                local = not any(files.is_remote(member.path) or member.encoding for member in group)
                payload = TextGroup(
                    tuple(member.path for member in group),
                    tuple(member.label for member in group),
                    bool(request.columns),
                    encodings=tuple(member.encoding for member in group)
                    if any(member.encoding for member in group)
                    else (),
                    again=pays
                    and local
                    and not request.columns
                    and weight <= MOST_BYTES
                    and not any(is_stream(member.path) for member in group),
                )
                identities = [files.identity(path) for path in payload.paths]
                others = [payload.encodings] if payload.encodings else []
                made_from = fingerprint(
                    "text files", self.revision, identities, payload.labels, payload.columns, *others
                )
                stem = part_name(f"{name}-files", number)
                tasks.append(Task(request.directory, stem, ".parquet", made_from, weight, payload, synced=False))
        return tasks, [
            f"{len(sources):,} .txt {'file is one document' if len(sources) == 1 else 'files are one document each'}",
            *notes_of_marks(sources),
        ]

    def write(self, task: Task, file: BinaryIO) -> Counters:
        """Write the documents of one group of files; raises InputError where one is not UTF-8."""
        group: TextGroup = task.payload
        counters = Counters()
        encoding_of = dict(zip(group.paths, group.encodings, strict=False))
        with unwatched(task), document_writer(task, file, counters, columns=group.columns) as writer:
            _write(group, encoding_of, writer, counters)
        count_encodings(counters, encoding_of)
        return counters

    def read_again(self, payload: TextGroup, groups: DocumentGroups) -> None:
        """Give the documents of a group of files again."""
        _write(payload, {}, groups, Counters())

    def payload_of(self, values: Mapping[str, Any]) -> TextGroup:
        """Return a group from its fields; raises TypeError or ValueError where none that is read again has such."""
        group = payload_from(TextGroup, values)
        require_local(group.paths)
        if not group.again or not group.paths or len(group.paths) != len(group.labels):
            raise ValueError(f"it has {counted(len(group.paths), 'file')} and {counted(len(group.labels), 'label')}")
        if group.columns or group.encodings:
            raise ValueError("files that are read as it says have their texts in their part")
        return group

    def files_of(self, task: Task) -> Sequence[str]:
        """Return the files of a group."""
        paths: Sequence[str] = task.payload.paths
        return paths

    def beginning(self, task: Task, size: int, folder: str) -> Task:
        """Return the task of the first files of a group, of at least one."""
        group: TextGroup = task.payload
        if task.weight <= size:
            return task
        sizes = list(accumulate(map(files.size, group.paths)))
        number = max(1, sum(end <= size for end in sizes))
        chosen = group.paths[:number], group.labels[:number], group.encodings[:number]
        first = replace(group, paths=chosen[0], labels=chosen[1], encodings=chosen[2])
        return replace(task, weight=sizes[number - 1], payload=first)


TEXT_FILES = TextFilesFormat()


def _write(group: TextGroup, encoding_of: Mapping[str, str], writer: DocumentGroups, counters: Counters) -> None:
    """Write the documents of a group of files."""
    with encoded(encoding_of):
        for path, label in zip(group.paths, group.labels, strict=True):
            counters.add(InputCount.ROWS)
            if encoding_of.get(path) == SKIP:
                counters.drop(NOT_TEXT, size=files.size(path))
            elif text := paragraphs(_text_of(path)):
                writer.add(label, "documents", files.name(path).partition(".txt")[0], "", text)
            else:
                counters.drop(NO_TEXT)


def notes_of_marks(sources: Sequence[SourceFile]) -> list[str]:
    """Return a note for each kind of text with marks, as JSON lines or HTML, that the first files begin as."""
    of_kind: dict[str, list[str]] = {}
    for source in sources[:_LOOKED_FILES]:
        kind = marked_up(_beginning(source.path, _SEEN)) if source.encoding != SKIP else ""
        if kind:
            of_kind.setdefault(kind, []).append(source.label)
    return [
        f"{labels[0]}{f' and {len(labels) - 1:,} more' if len(labels) > 1 else ''}: read as plain text, and begins as "
        f"{kind}"
        for kind, labels in of_kind.items()
    ]


def _beginning(path: str, size: int) -> bytes:
    """Return the first bytes of a text file, none where it cannot be read."""
    try:
        with open_text(path) as stream:
            return stream.read(size)
    except InputError:
        return b""


def looks_like_prose(path: str) -> bool:
    """Return whether the lines of a text file are paragraphs, or cut at a width, and not one sentence each.

    That is where over a fifth of the lines end inside a sentence, or hold three and more: by the full stops, question
    marks and exclamation marks in them, in any language that has them.
    """
    data = _beginning(path, _LOOKED_AT)
    lines = [line.strip() for line in data.decode("utf-8", "ignore").split("\n")[:-1]]
    lines = [line for line in lines if len(line) > 1]
    if len(lines) < 5:
        return False
    odd = sum(_is_odd(line) for line in lines)
    return odd > _LONG_LINES * len(lines)


def _is_odd(line: str) -> bool:
    """Return whether a line holds several sentences, or one that goes on in the next line."""
    ends = sum(line.count(f"{mark} ") for mark in ".?!")
    return ends >= 2 or (len(line) > 40 and line[-1].isalpha() and line[-1].islower()) or line[-1] == ","


def _groups(sources: Sequence[SourceFile], target_bytes: int) -> Iterator[tuple[list[SourceFile], int]]:
    group: list[SourceFile] = []
    weight = 0
    for source in sources:
        group.append(source)
        weight += files.size(source.path)
        if weight >= target_bytes or len(group) == _MOST_FILES:
            yield group, weight
            group, weight = [], 0
    if group:
        yield group, weight


def _text_of(path: str) -> str:
    with open_text(path) as stream:
        data = stream.read()
    return decode_utf8(data, path, encoding="utf-8-sig")
