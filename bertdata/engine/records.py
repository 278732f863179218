"""The records of many tasks: at a URL by a listing of each folder and an index of its records, not file by file.

An index is a file of JSON lines beside the records: the SHA-256 of all that follows, and then for each record its name,
the size and version of its file (`bertdata.io.listing.Entry`), and what it says. It saves requests and decides nothing:
a record that is listed with another size or version than in the index, or is not in it, is read from its own file. On a
local disk there is no index.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bertdata.engine.parts import PartMetadata, Task, load, read_record
from bertdata.io import files, listing, remote
from bertdata.io.listing import Entry

INDEX = ".bertdata-records.jsonl"


def load_all(tasks: Sequence[Task], *, write_index: bool = False) -> list[PartMetadata | None]:
    """Return for each task its record if it is done, else None, as `load` does; the data are not read.

    At a URL that takes two requests for each folder, and one for each record that is not in the folder's index, many at
    once. `write_index` puts these into the index.
    """
    if not any(files.is_remote(path) for task in tasks for path in (task.path, task.record_path)):
        return [load(task) for task in tasks]
    folders = sorted({folder for task in tasks for folder in (task.directory, _records_of(task))})
    places = sorted({_records_of(task) for task in tasks})
    answers = remote.at_once(_ask, [*((folder, False) for folder in folders), *((place, True) for place in places)])
    listed = {folder: entries for folder, (entries, _) in zip(folders, answers, strict=False)}
    indexes = zip(places, answers[len(folders) :], strict=True)
    index_of = {
        place: _FolderIndex(place, listed[place], dict(_current(data, listed[place]))) for place, (_, data) in indexes
    }
    there = [task for task in tasks if files.name(task.path) in listed[task.directory]]
    unknown = [task for task in there if index_of[_records_of(task)].must_read(_record_name(task))]
    for task, record in zip(unknown, remote.at_once(lambda task: read_record(task.record_path), unknown), strict=True):
        if record is not None:
            index_of[_records_of(task)].add(_record_name(task), record)
    if write_index:
        remote.at_once(_FolderIndex.write, index_of.values())
    finished: list[PartMetadata | None] = []
    for task in tasks:
        data = listed[task.directory].get(files.name(task.path))
        record = index_of[_records_of(task)].records.get(_record_name(task))
        done = data and record and record.fingerprint == task.fingerprint and record.bytes == data.size
        finished.append(record if done else None)
    return finished


def records_there(tasks: Iterable[Task]) -> set[str]:
    """Return the paths of the records that are there, whatever they say, in the folders of tasks' records."""
    folders = sorted({_records_of(task) for task in tasks})
    names = zip(folders, remote.at_once(listing.names, folders), strict=True)
    return {files.join(folder, name) for folder, file_names in names for name in file_names}


def _ask(question: tuple[str, bool]) -> tuple[dict[str, Entry], bytes]:
    """Return what is in a folder, or its index."""
    folder, index = question
    if not index:
        return listing.entries(folder), b""
    return {}, (files.read_if_there(files.join(folder, INDEX)) or b"") if files.is_remote(folder) else b""


def _records_of(task: Task) -> str:
    return task.records or task.directory


def _record_name(task: Task) -> str:
    return files.name(task.record_path)


@dataclass
class _FolderIndex:
    """What is known of the records in a folder: those of its index whose files did not change, and those read since."""

    folder: str
    listed: Mapping[str, Entry]
    records: dict[str, PartMetadata] = field(default_factory=dict)
    added: bool = False

    def must_read(self, name: str) -> bool:
        """Return whether a record is there and not known."""
        return name in self.listed and name not in self.records

    def add(self, name: str, record: PartMetadata) -> None:
        """Add a record that was read from its own file."""
        self.records[name] = record
        self.added = True

    def write(self) -> None:
        """Write the index, if it lacks a record whose file the store gives a version."""
        lines = [
            json.dumps([name, entry.size, entry.version, record.values()], sort_keys=True)
            for name, record in sorted(self.records.items())
            if (entry := self.listed[name]).version
        ]
        if self.added and lines and files.is_remote(self.folder):
            body = "\n".join([*lines, ""]).encode()
            digest = hashlib.sha256(body).hexdigest().encode()
            files.write_bytes(files.join(self.folder, INDEX), digest + b"\n" + body)


def _current(data: bytes, listed: Mapping[str, Entry]) -> Iterable[tuple[str, PartMetadata]]:
    """Return the records of an index whose files are as it says; none where it is damaged."""
    digest, _, body = data.partition(b"\n")
    if digest != hashlib.sha256(body).hexdigest().encode():
        return []
    try:
        rows = [json.loads(line) for line in body.splitlines()]
        return [
            (name, PartMetadata(**record))
            for name, size, version, record in rows
            if version and listed.get(name) == Entry(size, version)
        ]
    except (ValueError, TypeError):  # of another version of bertdata
        return []
