"""Duplicates found over the whole corpus and left out, as a stage; `planning` says how its steps follow on each other.

The parts of documents stay as they are: their records name the rows that later stages pass over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bertdata.curation.dedup import planning
from bertdata.curation.dedup.candidates import Block, write_candidates
from bertdata.curation.dedup.components import connected, pieces_of
from bertdata.curation.dedup.decide import DROPPED, find_dropped
from bertdata.curation.dedup.links import find_links
from bertdata.curation.dedup.partitions import hashes_of
from bertdata.curation.dedup.signature_store import rows_of_a_key, similarity_of, write_signatures
from bertdata.curation.settings import DedupConfig
from bertdata.documents import (
    DocumentCount,
    Dropped,
    DroppedSamples,
    first_rows,
    open_parquet,
    read_range,
    without_rows,
)
from bertdata.engine.byte_ranges import Stream, read_stream, write_stream
from bertdata.engine.parts import Counters, PartResult, Task
from bertdata.engine.stages import BuildState, Grouping, Plan, Step, all_together, require_documents
from bertdata.io import files


class DuplicateCount(StrEnum):
    """What the records of links, of components, and of the decision, count."""

    LINKS = "links"
    CANDIDATES = "candidates"
    DROPPED = "dropped"


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
    chance = f"pairs of similarity {alike:.2f} share one with a probability of {share:.0%}"
    return [f"--dedup-minhash {config.dedup_minhash}: {what}; {chance}"]


def signatures_part(config: DedupConfig, partitions: int, task: Task, file: BinaryIO) -> Counters:
    """Write the signatures and keys of one range of documents."""
    signed: planning.Signed = task.payload
    return write_signatures(
        read_range(signed.documents, columns=signed.languages),
        _threshold(config),
        file,
        config.buckets_of(),
        partitions,
    )


def links_part(partitions: int, task: Task, file: BinaryIO) -> Counters:
    """Write which documents share a key of one partition; details["streams"] lists [offset, length] of each round."""
    partition, ordered = task.payload
    counters = Counters()
    streams: list[list[int]] = []
    for table in find_links([reference.keys for reference in ordered], hashes_of(partition, partitions)):
        counters.add(DuplicateCount.LINKS, table.num_rows)
        streams.append(write_stream(file, table))
    counters.details["streams"] = streams
    return counters


def components_part(blocks: Sequence[int], task: Task, file: BinaryIO) -> Counters:
    """Write the piece of each document that shares a key; details["streams"] lists [offset, length] of each block."""
    linked: planning.Linked = task.payload
    lowest = connected(map(read_stream, linked.links), linked.documents)
    firsts = [*(signed_file.first for signed_file in linked.files), linked.documents]
    counters = Counters()
    streams: list[list[int]] = []
    for table in pieces_of(lowest, [firsts[number] for number in blocks], len(blocks) - 1):
        counters.add(DuplicateCount.CANDIDATES, table.num_rows)
        streams.append(write_stream(file, table) if table.num_rows else [file.tell(), 0])
    counters.details["streams"] = streams
    return counters


def candidates_part(task: Task, file: BinaryIO) -> Counters:
    """Write the candidates of one block; details["streams"] lists [piece, offset, length]."""
    block: Block = task.payload
    counters = Counters()
    counters.details["streams"] = write_candidates(block, file)
    return counters


def decision_part(config: DedupConfig, blocks: Sequence[int], task: Task, file: BinaryIO) -> Counters:
    """Write which candidates of one piece are dropped; details["streams"] lists [block, offset, length]."""
    streams: Sequence[Stream] = task.payload
    threshold = _threshold(config)
    table = find_dropped(streams, threshold, rows_of_a_key(threshold, config.buckets_of()))
    bounds = np.searchsorted(table["file"].to_numpy(), blocks).tolist()
    counters = Counters()
    counters.details["streams"] = [
        [block, *write_stream(file, table.slice(begin, end - begin))]
        for block, (begin, end) in enumerate(pairwise(bounds))
        if begin < end
    ]
    return counters


def dropped_part(task: Task, file: BinaryIO) -> Counters:
    """Write the duplicates to be dropped, one row each: where it is, its id, the reason, and the id of what stays.

    They are in the order of their files, a row group for each block of these.
    """
    decided: Sequence[planning.Decided] = task.payload
    by_block: dict[int, list[Stream]] = {}
    for decision in decided:
        for block, *place in decision.places:
            by_block.setdefault(block, []).append(Stream(decision.path, decision.sha256, *place))
    counters = Counters()
    counters.add(DuplicateCount.DROPPED, 0)
    with pq.ParquetWriter(file, DROPPED, compression="zstd", write_statistics=False) as writer:
        for block in sorted(by_block):
            table = pa.concat_tables(map(read_stream, by_block[block])).sort_by(
                [("file", "ascending"), ("row", "ascending")]
            )
            writer.write_table(table.combine_chunks())
            counters.add(DuplicateCount.DROPPED, table.num_rows)
            for reason_count in pc.value_counts(table["reason"]).to_pylist():
                counters.drop(reason_count["values"], reason_count["counts"])
    return counters


def apply_dedup(
    parts: Sequence[PartResult], signing: Sequence[Task], path: str, threshold: float | None = None
) -> list[PartResult]:
    """Return parts of documents whose records leave out what the decision at `path` drops, with some of it as samples.

    `signing` are the tasks that signed the parts, in their order: the decision names rows by them. Some thousand rows
    of it are held at a time. threshold: the similarity at which documents are alike, None where they are the same.
    """
    limit = "" if threshold is None else f", threshold {threshold:.2f}"
    with files.open_raw(path) as raw:
        rows = _rows(open_parquet(raw, path))
        row = next(rows, None)
        result = []
        for task, record in parts:
            dropped, begins = [], first_rows(record)
            samples = DroppedSamples()
            while row and signing[row["file"]].payload.path == task.path:
                first = begins[signing[row["file"]].payload.documents.first]
                details = (row["id"], row["bytes"], row["reason"], row["language"])
                dropped.append(Dropped(first + row["row"], *details))
                stays = f"[{row['kept']} stays for it, similarity {row['similarity']:.2f}{limit}]"
                samples.add(row["reason"], row["id"], "", stays)
                row = next(rows, None)
            result.append((task, without_rows(record, dropped, samples.of_part())))
    return result


def _rows(parquet: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a decision."""
    for batch in parquet.iter_batches(1 << 14):
        yield from batch.to_pylist()


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
        return planning.TITLE if self.config.dedup != "none" else ""

    def plan(self, build_state: BuildState) -> Plan:
        """Plan all steps from the signatures to the decision; raises InputError where there is no document."""
        config, directory = self.config, self.directory
        if config.dedup == "none":
            return Plan((), lambda done: build_state, folders=(directory,))
        require_documents(build_state.documents)
        threshold = _threshold(config)
        asked = config.buckets_of() if config.dedup == "near" else None
        pieces = planning.pieces_for(
            sum(record.counts.get(DocumentCount.DOCUMENTS, 0) for _, record in build_state.documents)
        )
        made_from = ["duplicates", planning.REVISION, threshold, asked, pieces]
        signing = planning.sign_tasks(build_state.documents, files.join(directory, "signatures"), made_from)
        blocks = planning.blocks_of(signing, pieces)
        every = range(pieces)
        linking = Grouping(every, planning.keys_of, partial(planning.links_task, directory))
        connecting = Grouping((None,), all_together, partial(planning.components_task, directory, blocks))
        bringing = Grouping(
            every, partial(planning.blocks_referred, blocks), partial(planning.candidates_task, directory)
        )
        deciding = Grouping(
            every, planning.candidates_of, partial(planning.decision_task, directory, [threshold, asked, blocks])
        )
        dropping = Grouping((None,), planning.decisions_of, partial(planning.dropped_task, directory))

        def finish(done: Sequence[Sequence[PartResult]]) -> BuildState:
            [[task, _]] = done[-1]
            return replace(
                build_state, documents=tuple(apply_dedup(build_state.documents, signing, task.path, threshold or None))
            )

        return Plan(
            [
                Step(planning.SIGN_TITLE, partial(signatures_part, config, pieces), signing),
                Step(planning.TITLE, partial(links_part, pieces), grouping=linking, unit="task"),
                Step(planning.TITLE, partial(components_part, blocks), grouping=connecting, unit="task"),
                Step(planning.TITLE, candidates_part, grouping=bringing, unit="task"),
                Step(planning.TITLE, partial(decision_part, config, blocks), grouping=deciding, unit="task"),
                Step(planning.TITLE, dropped_part, grouping=dropping, unit="task"),
            ],
            finish,
            inputs=[task.path for task, _ in build_state.documents],
            folders=[files.join(directory, name) for name in planning.FOLDERS],
            notes=_notes(config),
        )
