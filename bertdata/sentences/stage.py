"""Punkt's counts of one range of documents, and the parameters trained from all of them, as parts.

`TrainParameters` is the stage: ranges of documents are counted, one file for each range, and all counts lead to one set
of parameters.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, BinaryIO

import pyarrow as pa

from bertdata.documents import DocumentRange, cut_ranges, range_tasks, read_range
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, PartResult, Task, add_counts
from bertdata.engine.stages import BuildState, Grouping, Plan, Step, all_together, require_documents
from bertdata.io import files
from bertdata.io.arrow_data import read_stage_file
from bertdata.options.option import stored_values
from bertdata.sentences.parameters import PunktParameters, save_parameters
from bertdata.sentences.training import PunktCounts, PunktSettings

REVISION = 1
MAX_ENTRIES = 12_000_000
"""Counts held at once, about 2 GB; above that the rarest are dropped, and the parameters may differ from NLTK's."""


class PunktCount(StrEnum):
    """What the records of Punkt's counts and parameters count."""

    DOCUMENTS = "documents"
    CHARACTERS = "characters"
    TOKENS = "tokens"
    ENTRIES = "entries"
    PRUNED_TOKENS = "pruned_tokens"
    ABBREV_TYPES = "abbrev_types"
    COLLOCATIONS = "collocations"
    SENT_STARTERS = "sent_starters"
    ORTHO_CONTEXT = "ortho_context"


_TABLES = ("tokens", "begin", "unknown", "pairs")
_SCHEMA = pa.schema(
    [
        pa.field("table", pa.int8(), nullable=False),
        pa.field("token", pa.string(), nullable=False),
        pa.field("following", pa.string(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
    ]
)


def counts_part(task: Task, file: BinaryIO) -> Counters:
    """Write Punkt's counts of one range of documents, each document a text of its own, sorted."""
    documents: DocumentRange = task.payload
    counts, counters = PunktCounts(), Counters()
    for table in read_range(documents):
        for text in table["text"].to_pylist():
            counts.add(text)
            counters.add(PunktCount.DOCUMENTS)
            counters.add(PunktCount.CHARACTERS, len(text))
    counters.add(PunktCount.TOKENS, counts.tokens.total())
    rows = [
        (number, *(key if isinstance(key, tuple) else (key, "")), count)
        for number, name in enumerate(_TABLES)
        for key, count in sorted(getattr(counts, name).items())
    ]
    columns = zip(*rows, strict=True) if rows else ([] for _ in _SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    with pa.ipc.new_stream(file, _SCHEMA) as writer:
        writer.write_table(pa.Table.from_arrays(arrays, schema=_SCHEMA))
    return counters


def read_counts(path: str) -> PunktCounts:
    """Return the counts that `counts_part` wrote."""
    table = read_stage_file(path, "the counts for sentence parameters")
    counts = PunktCounts()
    tables: list[Counter[Any]] = [getattr(counts, name) for name in _TABLES]
    columns = (table[name].to_pylist() for name in _SCHEMA.names)
    for number, token, following, count in zip(*columns, strict=True):
        tables[number][(token, following) if _TABLES[number] == "pairs" else token] = count
    return counts


def parameters_task(directory: str, settings: PunktSettings, _: None, parts: Iterable[PartResult]) -> list[Task]:
    """Return the task that trains parameters from all counted parts."""
    ordered = sorted((task.path, record.sha256) for task, record in parts)
    digests = [digest for _, digest in ordered]
    made_from = fingerprint("train_sentences", REVISION, MAX_ENTRIES, _given(settings), digests)
    return [Task(directory, "parameters", ".punkt", made_from, 0, tuple(path for path, _ in ordered))]


def _given(settings: PunktSettings) -> dict[str, Any]:
    return stored_values(settings) | {"abbreviations": sorted(settings.abbreviations)}


def parameters_part(settings: PunktSettings, task: Task, file: BinaryIO) -> Counters:
    """Merge the counts and write the parameters trained from them as JSON of four tables."""
    counts = PunktCounts()
    for path in task.payload:
        counts.merge(read_counts(path))
        counts.keep_within(MAX_ENTRIES)
    trained = counts.parameters(settings)
    alone = counts.parameters(dataclasses.replace(settings, abbreviations=frozenset()))
    counters = Counters()
    counters.add(PunktCount.TOKENS, counts.tokens.total() + counts.pruned_tokens)
    counters.add(PunktCount.ENTRIES, len(counts))
    counters.add(PunktCount.PRUNED_TOKENS, counts.pruned_tokens)
    counters.details["given_not_learned"] = sorted(settings.abbreviations - alone.abbrev_types)
    value: dict[str, list[Any] | dict[str, int]] = {
        PunktCount.ABBREV_TYPES: sorted(trained.abbrev_types),
        PunktCount.COLLOCATIONS: sorted(trained.collocations),
        PunktCount.SENT_STARTERS: sorted(trained.sent_starters),
        PunktCount.ORTHO_CONTEXT: dict(sorted(trained.ortho_context.items())),
    }
    for name, entries in value.items():
        counters.add(name, len(entries))
    file.write(json.dumps(value, ensure_ascii=False, indent=0).encode())
    return counters


def read_parameters(path: str, card: dict[str, Any]) -> PunktParameters:
    """Return the parameters that `parameters_part` wrote, with a card."""
    value = files.read_json(path)
    return PunktParameters(
        abbrev_types=frozenset(value["abbrev_types"]),
        collocations=frozenset((first, second) for first, second in value["collocations"]),
        sent_starters=frozenset(value["sent_starters"]),
        ortho_context=value["ortho_context"],
        card=card,
    )


@dataclasses.dataclass(frozen=True)
class TrainParameters:
    """The stage that trains sentence parameters from the documents and saves them in `output` with their card."""

    output: str
    settings: PunktSettings
    title = "train parameters"
    first = False

    def plan(self, build_state: BuildState) -> Plan:
        """Plan counts and parameters; raises InputError where there is no document."""
        require_documents(build_state.documents)
        counts, parameters = (files.join(self.output, "stages", name) for name in ("counts", "parameters"))
        ranges = cut_ranges([(task.path, record) for task, record in build_state.documents])
        training = Grouping((None,), all_together, partial(parameters_task, parameters, self.settings))
        return Plan(
            [
                Step("count tokens", counts_part, range_tasks(ranges, counts, "count_sentences", REVISION)),
                Step("train parameters", partial(parameters_part, self.settings), grouping=training, unit="set"),
            ],
            partial(self._finish, build_state),
            inputs=[task.path for task, _ in build_state.documents],
            folders=[counts],
        )

    def _finish(self, build_state: BuildState, done: Sequence[Sequence[PartResult]]) -> BuildState:
        counted, [[task, record]] = done
        card = {
            "algorithm": "Punkt (Kiss and Strunk 2006), counts as NLTK's PunktTrainer",
            "made_by": "pipelines/train_sentences.py",
            "settings": _given(self.settings),
            "given_abbreviations_not_learned": record.details["given_not_learned"],
            "counts": record.counts | add_counts(part.counts for _, part in counted),
            "documents": [
                {"sha256": part.sha256, "documents": part.counts["documents"]} for _, part in build_state.documents
            ],
        }
        save_parameters(read_parameters(task.path, card), self.output)
        return dataclasses.replace(build_state, account=card)
