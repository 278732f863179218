"""What dynamic masks predict in shards that are kept: counted again where only the settings of the masks changed.

Dynamic masks are drawn by the loader, so their settings are in the manifest and not in the shards
(`PretrainingInfo.of_rows`). The record of a shard has what its masks predict in epoch 0, and which masks these were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import BinaryIO

from bertdata.corpus.stage import MASKS, ShardsSpec, tokenizer_of
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, Counts, PartMetadata, PartResult, Task
from bertdata.engine.stages import Grouping, Step
from bertdata.io import files
from bertdata.shards.packed import unpacked, word_starts
from bertdata.shards.reader import open_stream

TITLE = "count predictions"
_REVISION = 1


@dataclass(frozen=True)
class WrittenShard:
    """A shard whose record has the predictions of other masks: its phase, its split and its file."""

    phase: int
    split: str
    path: str
    name: str
    sha256: str
    bytes: int


def folder_of(output: str) -> str:
    """Return where the counts of a build are."""
    return files.join(output, "stages", "mask-counts")


def counting(specs: Sequence[ShardsSpec], folder: str, shared: Mapping[int, int] | None = None) -> list[Step]:
    """Return the step that counts the predictions of kept shards, none where no phase has dynamic masks.

    shared: the phases that have the shards of others (`shared_rows.same_rows`), and maybe other masks.
    """
    if not any(spec.info.draws_masks for spec in specs):
        return []
    grouping = Grouping((None,), partial(_references, specs, dict(shared or {})), partial(_tasks, specs, folder))
    return [Step(TITLE, partial(count_part, specs), grouping=grouping, unit="shard", of_kept=True)]


def _references(
    specs: Sequence[ShardsSpec], shared: Mapping[int, int], task: Task, record: PartMetadata
) -> list[tuple[None, WrittenShard]]:
    split, first = task.payload.split, task.payload.phase
    masks = record.details.get(MASKS, "")
    return [
        (None, WrittenShard(phase, split, task.path, task.name, record.sha256, record.bytes))
        for phase, spec in enumerate(specs)
        if shared.get(phase, phase) == first and spec.info.draws_masks and spec.info.masks_of(split) != masks
    ]


def _tasks(specs: Sequence[ShardsSpec], folder: str, key: None, shards: Iterable[WrittenShard]) -> list[Task]:
    tasks = []
    for shard in sorted(shards, key=lambda shard: (shard.phase, shard.split, shard.name)):
        masks = specs[shard.phase].info.masks_of(shard.split)
        made_from = fingerprint(TITLE, _REVISION, shard.sha256, masks)
        name = f"{shard.phase}-{shard.split}-{shard.name}"
        tasks.append(Task(folder, name, ".txt", made_from, shard.bytes, shard))
    return tasks


def count_part(specs: Sequence[ShardsSpec], task: Task, file: BinaryIO) -> Counters:
    """Count what the masks of a shard predict in epoch 0, at the rate of the beginning of a run; in the record."""
    shard: WrittenShard = task.payload
    spec = specs[shard.phase]
    masker = spec.info.masker(tokenizer_of(spec), split=shard.split, build=spec.output)
    counters = Counters()
    with open_stream(shard.path) as stream:
        for rows in stream:
            if not rows.num_rows:
                continue
            batch = unpacked(rows)
            ids, offsets = batch["input_ids"].flatten().to_numpy(), batch["input_ids"].offsets.to_numpy()
            examples, starts = batch["example_id"].to_numpy(), word_starts(batch)
            number, capped = masker.count(ids, offsets - offsets[0], examples, 0, levels=0, word_starts=starts)
            counters.add_all(predictions=number, predictions_capped_rows=capped)
    file.write("".join(f"{name} {number}\n" for name, number in sorted(counters.counts.items())).encode())
    return counters


def recounted(shards: Sequence[PartResult], counts: Sequence[PartResult], phase: int) -> list[PartMetadata]:
    """Return the records of the shards of a phase with the counts of its masks as they are now."""
    of_path: dict[str, Counts] = {
        task.payload.path: record.counts for task, record in counts if task.payload.phase == phase
    }
    return [
        replace(record, counts=record.counts | of_path[task.path]) if task.path in of_path else record
        for task, record in shards
    ]
