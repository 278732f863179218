"""The stage that counts the tokens which each phase selects of each source, for mixtures that depend on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import BinaryIO

import numpy as np

from bertdata.engine.parts import Counters, PartMetadata, PartResult, Task, add_counts, fingerprint
from bertdata.engine.stages import Grouping, Plan, Stage, Standing, Step
from bertdata.io import files
from bertdata.shards.selection import select
from bertdata.shards.stage import ShardsSpec, slices_of, tokenizer_of
from bertdata.shards.token_store import TokenSlice, load_documents
from bertdata.shards.write_shards import WriteShards

_REVISION = 1


@dataclass(frozen=True)
class CountTokens:
    """The stage that tokenizes the documents, and then counts the tokens of train for each phase and source.

    `sizes` of the standing after it has for each phase the tokens that it selects, by source.
    """

    write: WriteShards
    title = "count tokens"
    first = False

    def plan(self, standing: Standing) -> Plan:
        """Plan the token store and the counts, one for each of its files."""
        store = self.write.token_plan(standing)
        specs, folder = store.specs(), files.join(self.write.output, "stages", "token-counts")
        numbers = {task.path: number for number, task in enumerate(store.tasks)}
        return Plan(
            [
                Step("tokenize", store.make, store.tasks),
                Step(
                    "count tokens",
                    partial(count_part, specs),
                    grouping=Grouping(list(numbers), _references, partial(_count_tasks, specs, folder, numbers)),
                    unit="file",
                ),
            ],
            partial(self._finish, standing, [spec.info.sources for spec in specs]),
            store.prepare,
            inputs=[task.path for task, _ in standing.documents],
            folders=[store.folder, folder],
        )

    def _finish(
        self, standing: Standing, names: Sequence[Sequence[str]], done: Sequence[Sequence[PartResult]]
    ) -> Standing:
        counts = add_counts(record.counts for _, record in done[1])
        sizes = [{name: counts.get(f"tokens_{phase}_{name}", 0) for name in known} for phase, known in enumerate(names)]
        return replace(standing, sizes=tuple(sizes))


def _references(task: Task, record: PartMetadata) -> list[tuple[str, tuple[int, TokenSlice]]]:
    return [(task.path, one) for one in slices_of(task, record)]


def _count_tasks(
    specs: Sequence[ShardsSpec],
    folder: str,
    numbers: Mapping[str, int],
    path: str,
    slices: Iterable[tuple[int, TokenSlice]],
) -> list[Task]:
    """Return the task that counts the slices of one token file that are of train."""
    chosen = tuple(
        one for shard, one in sorted(slices, key=lambda one: one[0]) if specs[0].plan.split(shard) == "train"
    )
    chosen_by = [spec.info.selection for spec in specs]
    selections = [[one.sources, one.where, *([one.source_where] if one.source_where else [])] for one in chosen_by]
    parts = [[one.sha256, one.offset, one.length, one.source] for one in chosen]
    made_from = fingerprint("count tokens", _REVISION, parts, selections, specs[0].info.sources)
    name = f"counts-{numbers[path]:05d}"
    return [Task(folder, name, ".txt", made_from, sum(one.length for one in chosen), chosen)]


def count_part(specs: Sequence[ShardsSpec], task: Task, file: BinaryIO) -> Counters:
    """Count the tokens that each phase selects of some slices; the counts are in the record."""
    slices: tuple[TokenSlice, ...] = task.payload
    counters = Counters()
    block, columns = load_documents(slices, tokenizer_of(specs[0]), 0, columns=specs[0].columns)
    for phase, spec in enumerate(specs):
        kept, _ = select(block, columns, spec.info)
        sizes = np.diff(kept.document_ends, prepend=0)
        for number, held in enumerate(np.bincount(kept.document_sources, sizes).astype(np.int64).tolist()):
            if held:
                counters.add(f"tokens_{phase}_{spec.info.sources[number]}", held)
    file.write("".join(f"{name} {number}\n" for name, number in sorted(counters.counts.items())).encode())
    return counters


def write_stages(write: WriteShards) -> list[Stage]:
    """Return the stages that write shards: with one before it that counts tokens, where a mixture depends on them."""
    return [*([CountTokens(write)] if any(phase.counts_tokens for phase in write.phases) else []), write]
