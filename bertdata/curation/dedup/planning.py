"""How the tasks of each step that finds duplicates follow from the parts of the step before it.

    signatures   for each range of documents   their signatures, and their keys by partition
    links        for each partition of keys    pairs of documents that share a key
    components   one                           the piece of each document that shares a key, by block of documents
    candidates   for each block                these documents with their signatures, by piece
    decisions    for each piece                which of them are dropped, by block
    duplicates   one                           all that are dropped, block after block

There are as many partitions, blocks and pieces, a power of two that follows from the number of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from bertdata.curation.dedup.candidates import Block, SignedFile
from bertdata.curation.dedup.links import Keys
from bertdata.curation.dedup.partitions import partitions_for
from bertdata.documents import DOCUMENT_LANGUAGES, DocumentCount, DocumentRange, cut_ranges, first_rows, range_tasks
from bertdata.engine.byte_ranges import Stream
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import PartMetadata, PartResult, Task, part_name
from bertdata.io import files

REVISION = 3
SIGN_TITLE, TITLE = "sign documents", "find duplicates"
"""What the steps are called that sign documents, and that find duplicates among the signed."""
PIECE_DOCUMENTS = 1 << 17
"""Documents of a corpus for each of its partitions, blocks and pieces."""
FOLDERS = ("signatures", "links", "components", "candidates", "decisions")
"""The folders of all parts but the last."""


@dataclass(frozen=True)
class Signed:
    """A range of documents to be signed: its number, the number of its documents, and that of the first among all.

    languages: whether the record of its part has the languages of its documents.
    """

    documents: DocumentRange
    number: int
    count: int
    first: int
    languages: bool

    @property
    def path(self) -> str:
        """The part of documents."""
        return self.documents.path


@dataclass(frozen=True)
class KeysRef:
    """A reference to the keys of one partition in one file of the store; to its documents in that of partition 0."""

    number: int
    keys: Keys
    file: SignedFile | None


@dataclass(frozen=True)
class Linked:
    """The links of all partitions, and the files of the store."""

    files: tuple[SignedFile, ...]
    links: tuple[Stream, ...]

    @property
    def documents(self) -> int:
        """The number of all documents."""
        return sum(file.count for file in self.files)


@dataclass(frozen=True)
class Decided:
    """What was decided on one piece: [block, offset, length] of the streams in a file."""

    path: str
    sha256: str
    places: Sequence[Sequence[int]]


def pieces_for(documents: int) -> int:
    """Return how many partitions, blocks and pieces `documents` documents get.

    >>> pieces_for(1), pieces_for(500_000), pieces_for(7_000_000), pieces_for(1 << 40)
    (1, 4, 64, 1024)
    """
    return partitions_for(documents, PIECE_DOCUMENTS)


def parts_for(documents: int) -> int:
    """Return the greatest number of parts that can follow from the signatures of `documents` documents.

    >>> parts_for(1), parts_for(500_000)
    (5, 14)
    """
    return 3 * pieces_for(documents) + 2


def sign_tasks(parts: Sequence[PartResult], directory: str, made_from: Sequence[Any]) -> list[Task]:
    """Return the tasks that sign the ranges of parts of documents; documents dropped before are not numbered."""
    tasks: list[Task] = []
    first = 0
    for part, record in parts:
        begins, languages = first_rows(record), DOCUMENT_LANGUAGES in record.details
        for cut_range in cut_ranges([(part.path, record)]):
            number, count = len(tasks), begins[cut_range.last] - begins[cut_range.first] - len(cut_range.dropped)
            [task] = range_tasks([cut_range], directory, *made_from, languages)
            name = part_name(files.name(directory), number)
            tasks.append(replace(task, name=name, payload=Signed(cut_range, number, count, first, languages)))
            first += count
    return tasks


def keys_of(task: Task, record: PartMetadata) -> list[tuple[int, KeysRef]]:
    """Return the references (partition, keys) into one file of the store."""
    signed: Signed = task.payload
    documents, *streams = (Stream(task.path, record.sha256, *place) for place in record.details["streams"])
    file = SignedFile(signed.number, documents, record.counts[DocumentCount.DOCUMENTS], signed.first)
    return [
        (partition, KeysRef(signed.number, Keys(keys, signed.first), None if partition else file))
        for partition, keys in enumerate(streams)
        if keys.length or not partition
    ]


def links_task(directory: str, partition: int, keys: Iterable[KeysRef]) -> list[Task]:
    """Return the task of one partition, none where it has no key; it does not depend on the order of references."""
    ordered = tuple(sorted(keys, key=lambda reference: reference.number))
    if not ordered:
        return []
    streams = [
        [reference.keys.first, reference.keys.stream.sha256, reference.keys.stream.offset] for reference in ordered
    ]
    made_from = fingerprint("duplicate links", REVISION, partition, streams)
    weight = sum(reference.keys.stream.length for reference in ordered)
    name = part_name("links", partition)
    return [Task(files.join(directory, "links"), name, ".arrow", made_from, weight, (partition, ordered))]


def blocks_of(signing: Sequence[Task], blocks: int) -> tuple[int, ...]:
    """Return the numbers of the files of the store at which blocks begin and end, each of about as many documents."""
    firsts = np.array([task.payload.first for task in signing], np.int64)
    total = sum(task.payload.count for task in signing)
    begins = np.searchsorted(firsts, [total * block // blocks for block in range(blocks)]).tolist()
    return (*begins, len(signing))


def components_task(directory: str, blocks: Sequence[int], _: None, done: Iterable[PartResult]) -> list[Task]:
    """Return the task that finds the components of all documents from the links of all partitions, if there are any."""
    ordered = sorted(done, key=lambda part: part[0].path)
    if not ordered:
        return []
    _, keys = ordered[0][0].payload
    store = tuple(key.file for key in keys)
    links = [
        Stream(task.path, record.sha256, *place) for task, record in ordered for place in record.details["streams"]
    ]
    given = [[link.sha256, link.offset] for link in links], [[file.documents.sha256, file.count] for file in store]
    made_from = fingerprint("duplicate components", REVISION, blocks, given)
    weight = sum(link.length for link in links)
    folder = files.join(directory, "components")
    return [Task(folder, part_name("components", 0), ".arrow", made_from, weight, Linked(store, tuple(links)))]


def blocks_referred(blocks: Sequence[int], task: Task, record: PartMetadata) -> list[tuple[int, Block]]:
    """Return the references (block, its files and the pieces of its documents) into the part with the components."""
    linked: Linked = task.payload
    places = [Stream(task.path, record.sha256, *place) for place in record.details["streams"]]
    return [
        (block, Block(linked.files[begin:end], place))
        for block, ((begin, end), place) in enumerate(zip(pairwise(blocks), places, strict=True))
        if place.length
    ]


def candidates_task(directory: str, block: int, referred: Iterable[Block]) -> list[Task]:
    """Return the task that brings together the candidates of one block, none where it has none."""
    tasks = []
    for candidate_block in referred:
        documents = [[file.documents.sha256, file.number, file.count] for file in candidate_block.files]
        made_from = fingerprint(
            "duplicate candidates", REVISION, candidate_block.pieces.sha256, candidate_block.pieces.offset, documents
        )
        weight = sum(file.documents.length for file in candidate_block.files)
        folder = files.join(directory, "candidates")
        tasks.append(Task(folder, part_name("candidates", block), ".arrow", made_from, weight, candidate_block))
    return tasks


def candidates_of(task: Task, record: PartMetadata) -> list[tuple[int, Stream]]:
    """Return the references (piece, candidates) into the file of one block."""
    return [(piece, Stream(task.path, record.sha256, *place)) for piece, *place in record.details["streams"]]


def decision_task(directory: str, made_from: Sequence[Any], piece: int, candidates: Iterable[Stream]) -> list[Task]:
    """Return the task that decides on one piece, none where it has no candidate."""
    ordered = tuple(sorted(candidates, key=lambda stream: (stream.path, stream.offset)))
    if not ordered:
        return []
    given = fingerprint(
        "duplicate decisions", REVISION, made_from, [[stream.sha256, stream.offset] for stream in ordered]
    )
    weight = sum(stream.length for stream in ordered)
    folder = files.join(directory, "decisions")
    return [Task(folder, part_name("decisions", piece), ".arrow", given, weight, ordered)]


def decisions_of(task: Task, record: PartMetadata) -> list[tuple[None, Decided]]:
    """Return the reference to what was decided on one piece."""
    return [(None, Decided(task.path, record.sha256, record.details["streams"]))]


def dropped_task(directory: str, _: None, decided: Iterable[Decided]) -> list[Task]:
    """Return the task that writes all that is dropped, from the decisions on all pieces."""
    ordered = tuple(sorted(decided, key=lambda decision: decision.path))
    made_from = fingerprint("duplicates", REVISION, [decision.sha256 for decision in ordered])
    return [Task(directory, "duplicates", ".parquet", made_from, 0, ordered)]
