"""The signatures of one range, the buckets of one partition, and the decision on all of them, as parts.

`leave_out` applies the decision: the parts of documents stay as they are, their records name the rows that later
stages pass over. What it does not do: hashing, grouping and deciding themselves (`store`, `buckets`, `decide`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bertdata.curation.dedup.buckets import find_buckets
from bertdata.curation.dedup.decide import find_dropped
from bertdata.curation.dedup.signature_store import PARTITIONS, write_signatures
from bertdata.curation.settings import DedupConfig
from bertdata.documents import DocumentRange, Dropped, first_rows, open_parquet, read_range, without_rows
from bertdata.engine.byte_ranges import Stream, read_stream
from bertdata.engine.parts import Counters, PartMetadata, Task, fingerprint
from bertdata.io import files
from bertdata.sources.tabular import part_name

REVISION = 1

PartResult = tuple[Task, PartMetadata]


@dataclass(frozen=True)
class SignatureRef:
    """A reference to one file of the signature store: its documents, and its keys of one partition."""

    documents: Stream
    keys: Stream


@dataclass(frozen=True)
class Decision:
    """What a decision is made from: the documents of each file of the store, and the buckets of each partition."""

    documents: tuple[Stream, ...]
    buckets: tuple[Stream, ...]


def _threshold(config: DedupConfig) -> float | None:
    return config.dedup_threshold if config.dedup == "near" else None


def plan_signatures(ranges: Sequence[DocumentRange], directory: str, config: DedupConfig) -> list[Task]:
    """Return one signing task for each range of documents."""
    shared = [REVISION, _threshold(config)]
    return [
        Task(
            files.join(directory, "signatures"),
            part_name("signatures", number),
            ".arrow",
            fingerprint("signatures", shared, asdict(one) | {"path": ""}),
            one.text_bytes,
            one,
        )
        for number, one in enumerate(ranges)
    ]


def signatures_part(config: DedupConfig, task: Task, file: BinaryIO) -> Counters:
    """Write the signatures and keys of one range of documents."""
    documents: DocumentRange = task.payload
    return write_signatures(read_range(documents), _threshold(config), file)


def keys_of(task: Task, record: PartMetadata) -> list[tuple[int, SignatureRef]]:
    """Return the references (partition, signed) into one file of the store."""
    documents, *keys = (Stream(task.path, record.sha256, *place) for place in record.details["streams"])
    return [(partition, SignatureRef(documents, one)) for partition, one in enumerate(keys)]


def bucket_task(partition: int, signed: Iterable[SignatureRef], directory: str) -> Task:
    """Return the task of one partition; its fingerprint does not depend on the order of the references."""
    ordered = tuple(sorted(signed, key=lambda one: one.keys.path))
    found = [[one.keys.sha256, one.keys.offset, one.keys.length] for one in ordered]
    mark = fingerprint("buckets", REVISION, found)
    weight = sum(one.keys.length for one in ordered)
    return Task(files.join(directory, "buckets"), part_name("buckets", partition), ".arrow", mark, weight, ordered)


def bucket_tasks(signed: Iterable[PartResult], directory: str) -> list[Task]:
    """Return the tasks of all partitions, from the files of the store."""
    found: dict[int, list[SignatureRef]] = {partition: [] for partition in range(PARTITIONS)}
    for partition, one in (pair for task, record in signed for pair in keys_of(task, record)):
        found[partition].append(one)
    return [bucket_task(partition, references, directory) for partition, references in found.items()]


def buckets_part(task: Task, file: BinaryIO) -> Counters:
    """Write the buckets of one partition."""
    table = find_buckets([one.keys for one in task.payload])
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    tally = Counters()
    tally.add("members", table.num_rows)
    return tally


def decision_task(grouped: Iterable[PartResult], directory: str, config: DedupConfig) -> Task:
    """Return the task that decides on all documents, from the buckets of all partitions."""
    ordered = sorted(grouped, key=lambda done: done[0].path)
    documents = tuple(one.documents for one in ordered[0][0].payload) if ordered else ()
    buckets = tuple(Stream(task.path, record.sha256, 0, record.bytes) for task, record in ordered)
    digests = [one.sha256 for one in documents], [one.sha256 for one in buckets]
    mark = fingerprint("duplicates", REVISION, _threshold(config), digests)
    return Task(directory, "duplicates", ".parquet", mark, 0, Decision(documents, buckets))


def decision_part(config: DedupConfig, task: Task, file: BinaryIO) -> Counters:
    """Write the duplicates to be dropped, one row each: where it is, its id, the reason, and the id of what stays."""
    decision: Decision = task.payload
    table = find_dropped(decision.documents, map(read_stream, decision.buckets), _threshold(config))
    pq.write_table(table, file, compression="zstd", write_statistics=False)
    tally = Counters()
    tally.add("dropped", table.num_rows)
    for reason in table["reason"].to_pylist():
        tally.drop(reason)
    return tally


def leave_out(parts: Sequence[PartResult], signing: Sequence[Task], path: str) -> list[PartResult]:
    """Return parts of documents whose records leave out what the decision at `path` drops.

    `signing` are the tasks that signed the parts: they tell which rows of which part the decision means.
    """
    with files.open_raw(path) as raw:
        table = open_parquet(raw, path).read()
    begins = {task.path: first_rows(record) for task, record in parts}
    dropped: dict[str, list[Dropped]] = {}
    bounds = np.searchsorted(table["file"].to_numpy(), np.arange(len(signing) + 1)).tolist()
    for number, task in enumerate(sorted(signing, key=lambda task: task.path)):
        one: DocumentRange = task.payload
        begin = begins[one.path][one.first]
        for row in table.slice(bounds[number], bounds[number + 1] - bounds[number]).to_pylist():
            found = Dropped(begin + row["row"], row["id"], row["bytes"], row["reason"])
            dropped.setdefault(one.path, []).append(found)
    return [(task, without_rows(record, dropped.get(task.path, []))) for task, record in parts]
