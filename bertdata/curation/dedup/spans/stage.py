"""Repeated paragraphs or sentences left out of a corpus, as a stage.

`DropSpans` is the stage: the spans of ranges of documents are signed, one file for each range, grouped by partition of
their hashes; each partition decides what repeats, by range; references to this are grouped by part of documents; and
the parts that have any of it are written anew. The others stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO

from bertdata.curation.dedup.partitions import hashes_of
from bertdata.curation.dedup.spans.decide import find_left_out
from bertdata.curation.dedup.spans.rewrite import (
    CHANGED_DOCUMENTS,
    DETAIL,
    LEFT_OUT_BYTES,
    REPEATED,
    Repeats,
    Rewritten,
    lowest_samples,
    write_without,
)
from bertdata.curation.dedup.spans.store import REWRITE_TITLE, TITLE, SpanCount, partitions_for, write_spans
from bertdata.curation.dedup.spans.text_units import FindsSentences
from bertdata.curation.rewritten import with_rewritten
from bertdata.curation.settings import DedupSpansConfig
from bertdata.documents import DocumentCount, DocumentRange, cut_ranges, first_rows, range_tasks, read_range
from bertdata.engine.byte_ranges import Stream, write_stream
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, PartMetadata, PartResult, Task, add_counts, part_name
from bertdata.engine.stages import BuildState, Grouping, Plan, Step, require_documents
from bertdata.io import files

REVISION = 3
_WHOLE = 1 << 62


@dataclass(frozen=True)
class Signed:
    """A range of documents, its number among all ranges, the number of its part, and of its first document there."""

    documents: DocumentRange
    number: int
    part: int
    first: int

    @property
    def path(self) -> str:
        """The part of documents."""
        return self.documents.path


@dataclass(frozen=True)
class SpansRef:
    """A reference to the spans of one partition in one signed range.

    again: what repeats within the range, in one of its references; None in the others.
    """

    number: int
    part: int
    first: int
    spans: Stream
    again: Stream | None


def signed_ranges(parts: Sequence[PartResult], directory: str, made_from: Sequence[Any]) -> list[Task]:
    """Return the tasks that sign the ranges of parts of documents; documents dropped before are not numbered."""
    tasks: list[Task] = []
    for part, (task, record) in enumerate(parts):
        first = 0
        for documents in cut_ranges([(task.path, record)]):
            begins = first_rows(record)
            [range_task] = range_tasks([documents], directory, *made_from)
            name = part_name(files.name(directory), len(tasks))
            tasks.append(replace(range_task, name=name, payload=Signed(documents, len(tasks), part, first)))
            first += begins[documents.last] - begins[documents.first] - len(documents.dropped)
    return tasks


def spans_part(
    config: DedupSpansConfig, segmenter: FindsSentences, partitions: int, task: Task, file: BinaryIO
) -> Counters:
    """Write the signed spans of one range of documents."""
    return write_spans(read_range(task.payload.documents), config, segmenter, partitions, file)


def spans_of(task: Task, record: PartMetadata) -> list[tuple[int, SpansRef]]:
    """Return the references (partition, spans) into the file of one range."""
    signed: Signed = task.payload
    again, *streams = (Stream(task.path, record.sha256, *place) for place in record.details["streams"])
    references: list[tuple[int, SpansRef]] = []
    for partition, spans in enumerate(streams):
        if spans.length:
            repeated_within = again if again.length and not references else None
            references.append((partition, SpansRef(signed.number, signed.part, signed.first, spans, repeated_within)))
    return references


def repeats_task(directory: str, partition: int, spans: Iterable[SpansRef]) -> list[Task]:
    """Return the task of one partition, none where it has no span; it does not depend on the order of references."""
    ordered = tuple(sorted(spans, key=lambda reference: reference.number))
    if not ordered:
        return []
    streams = [
        [
            reference.number,
            reference.spans.sha256,
            reference.spans.offset,
            reference.again.length if reference.again else 0,
        ]
        for reference in ordered
    ]
    made_from = fingerprint("repeats", REVISION, partition, streams)
    weight = sum(reference.spans.length for reference in ordered)
    name = part_name("repeats", partition)
    return [Task(files.join(directory, "repeats"), name, ".arrow", made_from, weight, (partition, ordered))]


def repeats_part(partitions: int, task: Task, file: BinaryIO) -> Counters:
    """Write what repeats in one partition, a stream for each range that has any of it.

    details["streams"] lists [place of the range among those of the task, offset, length].
    """
    partition, ordered = task.payload
    left_out = find_left_out([reference.spans for reference in ordered], hashes_of(partition, partitions))
    counters = Counters()
    counters.add(SpanCount.LEFT_OUT, sum(table.num_rows for table in left_out.values()))
    counters.details["streams"] = [[place, *write_stream(file, table)] for place, table in sorted(left_out.items())]
    return counters


def repeats_of(task: Task, record: PartMetadata) -> list[tuple[int, Repeats]]:
    """Return the references (part, what is to be left out of it) into the file of one partition, and into ranges."""
    _, ordered = task.payload
    references = [
        (reference.part, Repeats(reference.first, reference.again)) for reference in ordered if reference.again
    ]
    for place, *where in record.details["streams"]:
        reference = ordered[place]
        references.append((reference.part, Repeats(reference.first, Stream(task.path, record.sha256, *where))))
    return references


def rewrite_task(
    directory: str, parts: Sequence[DocumentRange], made_from: Sequence[Any], part: int, repeats: Iterable[Repeats]
) -> list[Task]:
    """Return the task that writes one part of documents anew, none where nothing is to be left out of it."""
    ordered = tuple(sorted(repeats, key=lambda repeat: (repeat.first, repeat.stream.path, repeat.stream.offset)))
    if not ordered:
        return []
    documents = parts[part]
    streams = [[repeat.first, repeat.stream.sha256, repeat.stream.offset, repeat.stream.length] for repeat in ordered]
    values = fingerprint("dedup spans", REVISION, *made_from, documents.made_from, streams)
    folder = files.join(directory, "documents")
    payload = Rewritten(documents, ordered, part)
    return [Task(folder, part_name("documents", part), ".parquet", values, documents.text_bytes, payload)]


def rewrite_part(config: DedupSpansConfig, segmenter: FindsSentences, task: Task, file: BinaryIO) -> Counters:
    """Write one part of documents without what is to be left out of it."""
    return write_without(config, segmenter, task.payload, file)


@dataclass(frozen=True)
class DropSpans:
    """The stage that leaves repeated paragraphs or sentences out of documents, with its parts in `directory`.

    segmenter: what finds the sentences; it decides only where these are what is looked for.
    """

    directory: str
    config: DedupSpansConfig
    segmenter: FindsSentences
    first = False

    @property
    def title(self) -> str:
        """What a dry run calls it."""
        return TITLE if self.config.dedup_spans != "none" else ""

    def plan(self, build_state: BuildState) -> Plan:
        """Plan signatures, decisions and new parts; raises InputError where there is no document."""
        config, segmenter, parts = self.config, self.segmenter, build_state.documents
        if config.dedup_spans == "none":
            return Plan((), lambda done: build_state, folders=(self.directory,))
        require_documents(parts)
        sentences = config.dedup_spans == "sentences"
        units = [config.dedup_spans, *([segmenter.fingerprint] if sentences else [])]
        partitions = partitions_for(sum(record.counts.get(DocumentCount.TEXT_BYTES, 0) for _, record in parts))
        made_from = ["spans", REVISION, *units, config.dedup_spans_min_words, partitions]
        signing = signed_ranges(parts, files.join(self.directory, "signatures"), made_from)
        whole = [_whole(task, record) for task, record in parts]
        minimum_left = [config.dedup_spans_words_left, *([config.dedup_spans_sentences_left] if sentences else [])]
        deciding = Grouping(range(partitions), spans_of, partial(repeats_task, self.directory))
        writing = Grouping(
            range(len(parts)), repeats_of, partial(rewrite_task, self.directory, whole, [*units, *minimum_left])
        )
        return Plan(
            [
                Step(TITLE, partial(spans_part, config, segmenter, partitions), signing),
                Step(TITLE, partial(repeats_part, partitions), grouping=deciding, unit="task"),
                Step(REWRITE_TITLE, partial(rewrite_part, config, segmenter), grouping=writing),
            ],
            partial(self._finish, build_state),
            inputs=[task.path for task, _ in parts],
            folders=[files.join(self.directory, name) for name in ("signatures", "repeats", "documents")],
        )

    def _finish(self, build_state: BuildState, done: Sequence[Sequence[PartResult]]) -> BuildState:
        written = {task.payload.number: (task, record) for task, record in done[2]}
        carried = (CHANGED_DOCUMENTS, self.config.dedup_spans + REPEATED, LEFT_OUT_BYTES)
        documents = tuple(
            with_rewritten(document, written[number], carried) if number in written else document
            for number, document in enumerate(build_state.documents)
        )
        return replace(
            build_state, documents=documents, dedup_spans=self._account(build_state.documents, documents, done)
        )

    def _account(
        self, before: Sequence[PartResult], after: Sequence[PartResult], done: Sequence[Sequence[PartResult]]
    ) -> dict[str, Any]:
        """Return what the manifest says: what was looked for, what was left out, and samples."""
        counts_before, counts_after = (add_counts(record.counts for _, record in parts) for parts in (before, after))
        records = [record for _, record in done[2]]
        counts = add_counts(record.counts for record in records)
        return {
            "spans": self.config.dedup_spans,
            "min_words": self.config.dedup_spans_min_words,
            "found": sum(record.counts[SpanCount.SPANS] for _, record in done[0]),
            "documents": counts_before.get(DocumentCount.DOCUMENTS, 0),
            "documents_changed": counts.get(CHANGED_DOCUMENTS, 0),
            "documents_dropped": sum(sum(record.drops.values()) for record in records),
            "documents_left": counts_after.get(DocumentCount.DOCUMENTS, 0),
            "text_bytes": counts_before.get(DocumentCount.TEXT_BYTES, 0),
            "bytes_left_out": counts.get(LEFT_OUT_BYTES, 0),
            "bytes_dropped": sum(record.details[DETAIL]["dropped_bytes"] for record in records),
            "bytes_left": counts_after.get(DocumentCount.TEXT_BYTES, 0),
            "left_out": counts.get(self.config.dedup_spans + REPEATED, 0),
            "samples": lowest_samples(sample for record in records for sample in record.details[DETAIL]["samples"]),
        }


def _whole(task: Task, record: PartMetadata) -> DocumentRange:
    """Return all of a part as one range; of one without a document an empty range, which nothing refers to."""
    return next(iter(cut_ranges([(task.path, record)], _WHOLE)), DocumentRange(task.path, record.sha256, 0, 0, 0))
