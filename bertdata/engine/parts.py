"""Parts and their records: what a stage leaves on disk, so that a rerun continues from there.

A part is one data file and one small JSON record: the fingerprint of everything the part was made from, its counts, its
SHA-256, and a checksum of the record itself. The record is written last. A part is done when its record is intact and
has the expected fingerprint, and the data file has the size in the record. The counts of manifests are sums over
records.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from bertdata.counter_rng import text_bits
from bertdata.engine.fingerprints import CHECKSUM, is_sealed, is_sealed_line, sealed_line
from bertdata.engine.int_rows import IntArray, compact
from bertdata.errors import InputError, printable
from bertdata.io import files, listing
from bertdata.io.unchanged import unchanged

Counts = dict[str, int]
PART = re.compile(r"-\d{5,}\.(parquet|arrow|json|failure)$")


def labels(paths: Sequence[str]) -> list[str]:
    """Return a short, distinct name for each path: as few of its last components as tell it from the others.

    >>> labels(["/x/a/1.jsonl", "/x/b/1.jsonl"]), labels(["/x/a/1.jsonl", "/x/b/2.jsonl"])
    (['a/1.jsonl', 'b/1.jsonl'], ['1.jsonl', '2.jsonl'])
    """
    parts = [path.replace("\\", "/").rstrip("/").split("/") for path in paths]
    for depth in range(1, max(map(len, parts), default=1) + 1):
        shortened = ["/".join(part[-depth:]) for part in parts]
        if len(set(shortened)) == len(shortened):
            return shortened
    return list(paths)


def part_name(label: str, number: int) -> str:
    """Return a file name for one part of a labelled input; different labels give different names.

    >>> part_name("enwiki.xml.bz2", 3), part_name("a/enwiki.xml.bz2", 3)
    ('enwiki.xml.bz2-00003', 'a-enwiki.xml.bz2-180299e3069671d2-00003')
    """
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", label)[-100:]
    return f"{safe}-{number:05d}" if safe == label else f"{safe}-{text_bits(label):016x}-{number:05d}"


TASKS_AT_ONCE = 8
"""Tasks of parts at a URL that a worker does at once, at most: each waits for the store some ten times."""
BYTES_AT_ONCE = 64 << 20
"""The work, in bytes, of tasks that a worker does at once, at most; a larger task is done alone."""


@dataclass(frozen=True)
class Task:
    """One part to be made: where, from what (`payload`), its fingerprint, and its work in bytes (`weight`).

    records: the directory of its record if it is not that of its data. rules: what is done to what it writes, beside
    the payload, as to documents (`bertdata.curation.document_rules`). inputs: the user's files that it reads, each with
    its state when it was planned (`bertdata.io.unchanged`).
    synced: whether the disk has it before the build goes on. One that is not, a loss of power may damage: its SHA-256
    tells, when the build is continued.
    """

    directory: str
    name: str
    suffix: str
    fingerprint: str
    weight: int
    payload: Any
    records: str = ""
    rules: Any = None
    inputs: tuple[tuple[str, str], ...] = ()
    synced: bool = True

    @property
    def path(self) -> str:
        """The data file."""
        return files.join(self.directory, self.name + self.suffix)

    @property
    def record_path(self) -> str:
        """The record of the data file."""
        return files.join(self.records or self.directory, self.name + ".json")

    @property
    def failure_path(self) -> str:
        """Where a worker writes the error of this task, for the process that started the build."""
        return files.join(self.records or self.directory, self.name + ".failure")


@dataclass(frozen=True)
class PartMetadata:
    """The record of a finished part: counts of what came in and out, drops by reason, and details of its stage.

    Details that are lists of rows of whole numbers are held as `IntRows`: those of a large corpus are many.
    """

    name: str
    fingerprint: str
    bytes: int
    sha256: str
    seconds: float
    counts: Counts
    drops: Counts = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "details", {name: compact(value) for name, value in self.details.items()})

    def values(self) -> dict[str, Any]:
        """Return what the file of the record says, as JSON values."""
        rows = {name: list(value) for name, value in self.details.items() if isinstance(value, IntArray)}
        return vars(self) | {"details": self.details | rows}


BYTES_DROPPED = "bytes dropped, "
"""What the counts of bytes that were dropped have before the reason."""


@dataclass
class Counters:
    """What a step's function fills while it writes a part.

    What is counted is a member of an enum beside the function, such as `bertdata.documents.DocumentCount`; records and
    manifests have its value.

    >>> (counters := Counters()).add("rows", 3)
    >>> counters.drop("empty")
    >>> counters.counts, counters.drops
    ({'rows': 3}, {'empty': 1})
    """

    counts: Counts = field(default_factory=dict)
    drops: Counts = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, number: int = 1) -> None:
        """Add to one count."""
        name = str(name)
        self.counts[name] = self.counts.get(name, 0) + number

    def add_all(self, **numbers: int) -> None:
        """Add to several counts."""
        for name, number in numbers.items():
            self.add(name, number)

    def drop(self, reason: str, number: int = 1, *, size: int = 0) -> None:
        """Add to the drops of one reason; size: the bytes of what is dropped, counted under its name too."""
        self.drops[reason] = self.drops.get(reason, 0) + number
        if size:
            self.add(f"{BYTES_DROPPED}{reason}", size)


PartFunction = Callable[[Task, BinaryIO], Counters]
"""Writes one part into a file, and returns what it counted."""
PartResult = tuple[Task, PartMetadata]
"""A task that is done, with its record."""


class _Hashed(io.RawIOBase):
    """A file being written, with the SHA-256 and the number of its bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.sha256, self.size = file, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._file.write(view)
        self.sha256.update(view)
        self.size += len(view)
        return len(view)

    def tell(self) -> int:
        return self.size


def read_record(path: str) -> PartMetadata | None:
    """Return the record in a file; None if there is none, or it is damaged."""
    return _record(files.read_if_there(path))


def _record(data: bytes | None) -> PartMetadata | None:
    try:
        values = json.loads(data or b"null")
        if is_sealed_line(data or b"") or is_sealed(values):
            return PartMetadata(**{name: value for name, value in values.items() if name != CHECKSUM})
    except (ValueError, TypeError, RecursionError):
        pass
    return None


def load(task: Task) -> PartMetadata | None:
    """Return the record of a task that is done, else None; the data is not read (see `intact`)."""
    return _of_task(task, read_record(task.record_path))


def _of_task(task: Task, record: PartMetadata | None) -> PartMetadata | None:
    """Return a record if it is that of the task as it is now, and the data file has its size, else None."""
    try:
        if record and record.fingerprint == task.fingerprint and files.size(task.path) == record.bytes:
            return record
    except InputError:
        pass
    return None


def intact(task: Task, record: PartMetadata) -> bool:
    """Return whether the data of a finished part has the SHA-256 of its record; reads all of it."""
    try:
        return files.sha256(task.path) == record.sha256
    except InputError:
        return False


def run_once(task: Task, work: PartFunction) -> PartMetadata:
    """Return the task's record, after the work if it is not done yet.

    A finished part at a URL is read and compared with its SHA-256 first, and made again if it is damaged. Local ones
    are checked before a pipeline starts (`bertdata.engine.run_stages.delete_stale`). Raises InputError where a file
    that the task reads is not as it was planned.
    """
    there = files.read_if_there(task.record_path)
    record = _of_task(task, _record(there))
    if record is not None and files.is_remote(task.path) and not intact(task, record):
        logging.getLogger("bertdata").warning("%s is damaged: it is made again", printable(task.path))
        record = None
    if record is not None:
        return record
    began = time.monotonic()
    if there is not None:
        files.remove_files([task.record_path])
    with files.atomic_write(task.path, synced=task.synced) as file, unchanged(dict(task.inputs)):
        hashed = _Hashed(file)
        counters = work(task, hashed)  # type: ignore[arg-type]
    record = PartMetadata(
        name=task.name,
        fingerprint=task.fingerprint,
        bytes=hashed.size,
        sha256=hashed.sha256.hexdigest(),
        seconds=round(time.monotonic() - began, 3),
        counts=counters.counts,
        drops=dict(sorted(counters.drops.items())),
        details=counters.details,
    )
    files.write_bytes(task.record_path, sealed_line(vars(record)), synced=task.synced)
    return record


def add_counts(counts: Iterable[Counts]) -> Counts:
    """Sum counts by name, names sorted.

    >>> add_counts([{"pages": 2}, {"pages": 3, "documents": 1}])
    {'documents': 1, 'pages': 5}
    """
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items()))


def delete_orphans(directory: str, tasks: Iterable[Task]) -> int:
    """Delete the parts in a stage's directory that none of its tasks makes; returns the number of files deleted.

    Files that are not named as parts stay: an output directory may hold the user's own.
    """
    keep = {files.name(path) for task in tasks for path in (task.path, task.record_path)}
    others = [name for name in listing.names(directory) if PART.search(name) and name not in keep]
    files.remove_files(files.join(directory, name) for name in others)
    return len(others)
