"""The signatures of one range, the buckets of one partition, and the decision on all of them, as parts.

`DropDuplicates` is the stage: ranges of documents are signed, one file for each range, its keys grouped by partition;
references to the keys are grouped by partition into buckets; and all buckets lead to one table of what is dropped, and
for which document. `apply_dedup` applies it: the parts of documents stay as they are, their records name the rows that
later stages pass over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bertdata.curation.dedup.decide import find_dropped
from bertdata.curation.dedup.signature_store import PARTITIONS, find_buckets, similarity_of, write_signatures
from bertdata.curation.settings import DedupConfig
from bertdata.documents import (
    DocumentRange,
    Dropped,
    cut_ranges,
    first_rows,
    open_parquet,
    range_tasks,
    read_range,
    without_rows,
)
from bertdata.engine.byte_ranges import Stream, read_stream
from bertdata.engine.parts import Counters, PartMetadata, PartResult, Task, fingerprint, part_name
from bertdata.engine.stages import Grouping, Plan, Standing, Step, all_together, require_documents
from bertdata.io import files

REVISION = 1
BUCKETS_REVISION = 2
"""The revision of signatures where buckets are settings: in the first they were those of the threshold."""


class DuplicateCount(StrEnum):
    """What the records of buckets, and of the decision, count."""

    MEMBERS = "members"
    DROPPED = "dropped"


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
    """Return the similarity at which documents of one bucket are alike: with buckets as settings all of them are."""
    if config.dedup != "near":
        return None
    return 0.0 if config.dedup_minhash else config.dedup_threshold


def _notes(config: DedupConfig) -> list[str]:
    """Return what the buckets that were asked for find.

    >>> _notes(DedupConfig("near", dedup_minhash="datatrove"))[0]
    '--dedup-minhash datatrove: 14 buckets of 8 hashes; pairs of similarity 0.72 share one with a probability of 65%'
    """
    if config.dedup != "near" or not (buckets := config.buckets_of()):
        return []
    number, rows = buckets
    alike = similarity_of(number, rows)
    share = 1 - (1 - alike**rows) ** number
    what = f"{number} buckets of {rows} hashes"
    found = f"pairs of similarity {alike:.2f} share one with a probability of {share:.0%}"
    return [f"--dedup-minhash {config.dedup_minhash}: {what}; {found}"]


def signatures_part(config: DedupConfig, task: Task, file: BinaryIO) -> Counters:
    """Write the signatures and keys of one range of documents."""
    documents: DocumentRange = task.payload
    return write_signatures(read_range(documents), _threshold(config), file, config.buckets_of())


def keys_of(task: Task, record: PartMetadata) -> list[tuple[int, SignatureRef]]:
    """Return the references (partition, signed) into one file of the store."""
    documents, *keys = (Stream(task.path, record.sha256, *place) for place in record.details["streams"])
    return [(partition, SignatureRef(documents, one)) for partition, one in enumerate(keys)]


def bucket_task(directory: str, partition: int, signed: Iterable[SignatureRef]) -> list[Task]:
    """Return the task of one partition; its fingerprint does not depend on the order of the references."""
    ordered = tuple(sorted(signed, key=lambda one: one.keys.path))
    streams = [[one.keys.sha256, one.keys.offset, one.keys.length] for one in ordered]
    made_from = fingerprint("buckets", REVISION, streams)
    weight = sum(one.keys.length for one in ordered)
    name = part_name("buckets", partition)
    return [Task(files.join(directory, "buckets"), name, ".arrow", made_from, weight, ordered)]


def buckets_part(task: Task, file: BinaryIO) -> Counters:
    """Write the buckets of one partition."""
    table = find_buckets([one.keys for one in task.payload])
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    counters = Counters()
    counters.add(DuplicateCount.MEMBERS, table.num_rows)
    return counters


def decision_task(directory: str, config: DedupConfig, _: None, grouped: Iterable[PartResult]) -> list[Task]:
    """Return the task that decides on all documents, from the buckets of all partitions."""
    ordered = sorted(grouped, key=lambda done: done[0].path)
    documents = tuple(one.documents for one in ordered[0][0].payload) if ordered else ()
    buckets = tuple(Stream(task.path, record.sha256, 0, record.bytes) for task, record in ordered)
    digests = [one.sha256 for one in documents], [one.sha256 for one in buckets]
    made_from = fingerprint("duplicates", REVISION, _threshold(config), digests)
    return [Task(directory, "duplicates", ".parquet", made_from, 0, Decision(documents, buckets))]


def decision_part(config: DedupConfig, task: Task, file: BinaryIO) -> Counters:
    """Write the duplicates to be dropped, one row each: where it is, its id, the reason, and the id of what stays."""
    decision: Decision = task.payload
    buckets = [partial(read_stream, one) for one in decision.buckets]
    table = find_dropped(decision.documents, buckets, _threshold(config))
    pq.write_table(table, file, compression="zstd", write_statistics=False)
    counters = Counters()
    counters.add(DuplicateCount.DROPPED, table.num_rows)
    for one in pc.value_counts(table["reason"]).to_pylist():
        counters.drop(one["values"], one["counts"])
    return counters


def apply_dedup(parts: Sequence[PartResult], signing: Sequence[Task], path: str) -> list[PartResult]:
    """Return parts of documents whose records leave out what the decision at `path` drops.

    `signing` are the tasks that signed the parts: the decision names rows by them.
    """
    with files.open_raw(path) as raw:
        table = open_parquet(raw, path).read()
    bounds = np.searchsorted(table["file"].to_numpy(), np.arange(len(signing) + 1)).tolist()
    numbers: dict[str, list[tuple[int, DocumentRange]]] = {}
    for number, task in enumerate(sorted(signing, key=lambda task: task.path)):
        numbers.setdefault(task.payload.path, []).append((number, task.payload))
    result = []
    for task, record in parts:
        dropped, begins = [], first_rows(record)
        for number, one in numbers.get(task.path, []):
            rows = table.slice(bounds[number], bounds[number + 1] - bounds[number])
            dropped += [
                Dropped(begins[one.first] + row["row"], row["id"], row["bytes"], row["reason"])
                for row in rows.to_pylist()
            ]
        result.append((task, without_rows(record, dropped)))
    return result


@dataclass(frozen=True)
class DropDuplicates:
    """The stage that leaves duplicate documents out of the records of their parts; what leads there is in `directory`.

    `duplicates.parquet` names every document that is dropped, the reason, and the document that stays for it.
    """

    directory: str
    config: DedupConfig
    first = False

    @property
    def title(self) -> str:
        """What a dry run calls it."""
        return "find duplicates" if self.config.dedup != "none" else ""

    def plan(self, standing: Standing) -> Plan:
        """Plan signatures, buckets and the decision; raises InputError where there is no document."""
        if self.config.dedup == "none":
            return Plan((), lambda done: standing, folders=(self.directory,))
        require_documents(standing.documents)
        ranges = cut_ranges([(task.path, record) for task, record in standing.documents])
        store = files.join(self.directory, "signatures")
        asked = self.config.buckets_of() if self.config.dedup == "near" else None
        buckets_asked = [[asked, BUCKETS_REVISION]] if asked else []
        signing = range_tasks(ranges, store, "signatures", [REVISION, _threshold(self.config), *buckets_asked])
        buckets = Grouping(range(PARTITIONS), keys_of, partial(bucket_task, self.directory))
        decision = Grouping((None,), all_together, partial(decision_task, self.directory, self.config))

        def finish(done: Sequence[Sequence[PartResult]]) -> Standing:
            [[task, _]] = done[2]
            return replace(standing, documents=tuple(apply_dedup(standing.documents, signing, task.path)))

        return Plan(
            [
                Step("sign documents", partial(signatures_part, self.config), signing),
                Step("find duplicates", buckets_part, grouping=buckets, unit="part"),
                Step("find duplicates", partial(decision_part, self.config), grouping=decision, unit="part"),
            ],
            finish,
            inputs=[task.path for task, _ in standing.documents],
            folders=[files.join(self.directory, name) for name in ("signatures", "buckets")],
            notes=_notes(self.config),
        )
