"""Stages that count the tokens of train after they are in the token store, for what depends on their counts.

`CountTokens` counts those that each phase selects of each source, for mixtures, and `CountIds` how often each token of
the vocabulary is there, for masks that favour rare tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from bertdata.corpus.count_columns import CountColumns
from bertdata.corpus.selection import select
from bertdata.corpus.stage import ShardsSpec, made_of, tokenizer_of
from bertdata.corpus.token_slices import TokenFile, TokenSlices
from bertdata.corpus.token_store import load_documents
from bertdata.corpus.write_shards import WriteShards
from bertdata.curation.settings import AccountsConfig
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, PartMetadata, PartResult, Task, add_counts
from bertdata.engine.stages import BuildState, Grouping, Plan, Stage, Step
from bertdata.io import files
from bertdata.io.arrow_data import read_stage_file
from bertdata.shards.token_counts import TokenCounts

_REVISION = 1
_IDS_REVISION = 1


@dataclass(frozen=True)
class CountTokens:
    """The stage that tokenizes the documents, and then counts the tokens of train for each phase and source.

    `sizes` of the build_state after it has for each phase the tokens that it selects, by source.
    """

    write: WriteShards
    title = "count tokens"
    first = False

    def plan(self, build_state: BuildState) -> Plan:
        """Plan the token store and the counts, one for each of its files."""
        store = self.write.token_plan(build_state)
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
            partial(self._finish, build_state, [spec.info.sources for spec in specs]),
            store.prepare,
            inputs=[task.path for task, _ in build_state.documents],
            folders=[store.folder, folder],
        )

    def _finish(
        self, build_state: BuildState, names: Sequence[Sequence[str]], done: Sequence[Sequence[PartResult]]
    ) -> BuildState:
        counts = add_counts(record.counts for _, record in done[1])
        sizes = [
            {name: counts.get(f"tokens_{phase}_{name}", 0) for name in of_phase} for phase, of_phase in enumerate(names)
        ]
        return replace(build_state, sizes=tuple(sizes))


def _references(task: Task, record: PartMetadata) -> list[tuple[str, TokenFile]]:
    return [(task.path, TokenFile.of(task, record))]


def _count_tasks(
    specs: Sequence[ShardsSpec],
    folder: str,
    numbers: Mapping[str, int],
    path: str,
    token_files: Iterable[TokenFile],
) -> list[Task]:
    """Return the task that counts the slices of one token file that are of train."""
    chosen, depends_on = _of_train(specs, token_files)
    made_from = fingerprint("count tokens", _REVISION, *depends_on)
    name = f"counts-{numbers[path]:05d}"
    return [Task(folder, name, ".txt", made_from, int(chosen.rows.array[:, 1].sum(dtype=np.int64)), chosen)]


def _of_train(specs: Sequence[ShardsSpec], token_files: Iterable[TokenFile]) -> tuple[TokenSlices, list[Any]]:
    """Return the slices of one token file that are of train, and what the counts of all phases depend on."""
    slices = sorted((pair for token_file in token_files for pair in token_file.slices()), key=lambda pair: pair[0])
    chosen = [token_slice for shard, token_slice in slices if specs[0].plan.split(shard) == "train"]
    chosen_by = [spec.info.selection for spec in specs]
    selections = [
        [
            *(selection.sources, selection.where),
            *([selection.source_where] if selection.source_where else []),
            *([["sample", *selection.sample]] if selection.sample else []),
        ]
        for selection in chosen_by
    ]
    return TokenSlices.of(chosen), [made_of(chosen), selections, specs[0].info.sources]


def count_part(specs: Sequence[ShardsSpec], task: Task, file: BinaryIO) -> Counters:
    """Count the tokens that each phase selects of some slices; the counts are in the record."""
    slices: TokenSlices = task.payload
    counters = Counters()
    block, columns = load_documents(slices, tokenizer_of(specs[0]), 0, columns=specs[0].columns)
    for phase, spec in enumerate(specs):
        selected, _ = select(block, columns, spec.info)
        sizes = np.diff(selected.document_ends, prepend=0)
        for number, tokens in enumerate(np.bincount(selected.document_sources, sizes).astype(np.int64).tolist()):
            if tokens:
                counters.add(f"tokens_{phase}_{spec.info.sources[number]}", tokens)
    file.write("".join(f"{name} {number}\n" for name, number in sorted(counters.counts.items())).encode())
    return counters


@dataclass(frozen=True)
class CountIds:
    """The stage that counts each token of train that a phase selects, after the documents are tokenized.

    `token_counts` of the build_state after it has the counts of each phase, None for one whose masks do not need them.
    """

    write: WriteShards
    title = "count each token"
    first = False

    def plan(self, build_state: BuildState) -> Plan:
        """Plan the token store and the counts, one table for each of its files."""
        store, wanted = (
            self.write.token_plan(build_state),
            [bool(phase.masking.mask_smoothing) for phase in self.write.phases],
        )
        specs, folder = store.specs(), files.join(self.write.output, "stages", "id-counts")
        counted = [spec for spec, needed in zip(specs, wanted, strict=True) if needed]
        numbers = {task.path: number for number, task in enumerate(store.tasks)}
        tasks = partial(_count_ids_tasks, counted, folder, numbers)
        return Plan(
            [
                Step("tokenize", store.make, store.tasks),
                Step(
                    self.title,
                    partial(ids_part, counted),
                    grouping=Grouping(list(numbers), _references, tasks),
                    unit="file",
                ),
            ],
            partial(self._finish, build_state, wanted, store.tokenizer.vocab_size),
            store.prepare,
            inputs=[task.path for task, _ in build_state.documents],
            folders=[store.folder, folder],
        )

    def _finish(
        self, build_state: BuildState, wanted: Sequence[bool], size: int, done: Sequence[Sequence[PartResult]]
    ) -> BuildState:
        totals = np.zeros((sum(wanted), size), np.int64)
        for task, _ in done[1]:
            table = read_stage_file(task.path, "the counts of tokens")
            totals += np.array([column.to_numpy() for column in table.columns])
        each = iter(totals)
        counts = tuple(TokenCounts(next(each)) if needed else None for needed in wanted)
        return replace(build_state, token_counts=counts)


def _count_ids_tasks(
    specs: Sequence[ShardsSpec],
    folder: str,
    numbers: Mapping[str, int],
    path: str,
    token_files: Iterable[TokenFile],
) -> list[Task]:
    """Return the task that counts the ids of one token file that are of train."""
    chosen, depends_on = _of_train(specs, token_files)
    made_from = fingerprint("count each token", _IDS_REVISION, *depends_on, specs[0].info.vocab_size)
    name = f"ids-{numbers[path]:05d}"
    return [Task(folder, name, ".arrow", made_from, int(chosen.rows.array[:, 1].sum(dtype=np.int64)), chosen)]


def ids_part(specs: Sequence[ShardsSpec], task: Task, file: BinaryIO) -> Counters:
    """Write how often each id is in some slices, a column for each phase, int64, of which row i is of id i."""
    slices: TokenSlices = task.payload
    tokenizer = tokenizer_of(specs[0])
    block, columns = load_documents(slices, tokenizer, 0, columns=specs[0].columns)
    counts = {}
    for number, spec in enumerate(specs):
        tokens = select(block, columns, spec.info)[0].tokens
        counts[f"phase {number}"] = np.bincount(tokens, minlength=tokenizer.vocab_size)
    table = pa.table({name: pa.array(column, pa.int64()) for name, column in counts.items()})
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    return Counters()


def write_stages(write: WriteShards) -> list[Stage]:
    """Return the stages that write shards, before them those that count, where a mixture, masks or accounts need it."""
    before: list[Stage] = [CountTokens(write)] if any(phase.counts_tokens for phase in write.phases) else []
    before += [CountIds(write)] if any(phase.masking.mask_smoothing for phase in write.phases) else []
    before += [CountColumns(write)] if write.accounts != AccountsConfig() else []
    return [*before, write]
