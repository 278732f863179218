"""Punkt's counts of one range of documents, and the parameters trained from all of them, as parts.

What it does not do: counting and training themselves (`training`).
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from bertdata.documents import DocumentRange, read_range
from bertdata.engine.parts import Counters, PartMetadata, Task, fingerprint
from bertdata.io import files
from bertdata.sentences.parameters import PunktParameters
from bertdata.sentences.training import PunktCounts, PunktSettings
from bertdata.sources.tabular import part_name

REVISION = 1
MAX_ENTRIES = 12_000_000
"""Counts held at once, about 2 GB; beyond that the rarest go, and the parameters are no longer NLTK's exactly."""

_TABLES = ("tokens", "begin", "unknown", "pairs")
_SCHEMA = pa.schema(
    [
        pa.field("table", pa.int8(), nullable=False),
        pa.field("token", pa.string(), nullable=False),
        pa.field("following", pa.string(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
    ]
)


def plan_counts(ranges: Sequence[DocumentRange], directory: str) -> list[Task]:
    """Return one counting task for each range of documents."""
    return [
        Task(
            directory,
            part_name("counts", number),
            ".arrow",
            fingerprint("count_sentences", REVISION, dataclasses.asdict(one) | {"path": ""}),
            one.text_bytes,
            one,
        )
        for number, one in enumerate(ranges)
    ]


def counts_part(task: Task, file: BinaryIO) -> Counters:
    """Write Punkt's counts of one range of documents, each document a text of its own, sorted."""
    documents: DocumentRange = task.payload
    counts, tally = PunktCounts(), Counters()
    for table in read_range(documents):
        for text in table["text"].to_pylist():
            counts.add(text)
            tally.add("documents")
            tally.add("characters", len(text))
    tally.add("tokens", counts.tokens.total())
    rows = [
        (number, *(key if isinstance(key, tuple) else (key, "")), count)
        for number, name in enumerate(_TABLES)
        for key, count in sorted(getattr(counts, name).items())
    ]
    columns = zip(*rows, strict=True) if rows else ([] for _ in _SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    with pa.ipc.new_stream(file, _SCHEMA) as writer:
        writer.write_table(pa.Table.from_arrays(arrays, schema=_SCHEMA))
    return tally


def read_counts(path: str) -> PunktCounts:
    """Return the counts that `counts_part` wrote."""
    with files.open_raw(path) as raw:
        table = pa.ipc.open_stream(raw).read_all()
    counts = PunktCounts()
    tables: list[Counter[Any]] = [getattr(counts, name) for name in _TABLES]
    columns = (table[name].to_pylist() for name in _SCHEMA.names)
    for number, token, following, count in zip(*columns, strict=True):
        tables[number][(token, following) if _TABLES[number] == "pairs" else token] = count
    return counts


def parameters_task(parts: Sequence[tuple[Task, PartMetadata]], directory: str, settings: PunktSettings) -> Task:
    """Return the task that trains parameters from all counted parts."""
    ordered = sorted((task.path, record.sha256) for task, record in parts)
    given = dataclasses.asdict(settings) | {"abbreviations": sorted(settings.abbreviations)}
    mark = fingerprint("train_sentences", REVISION, MAX_ENTRIES, given, [digest for _, digest in ordered])
    return Task(directory, "parameters", ".punkt", mark, 0, tuple(path for path, _ in ordered))


def parameters_part(settings: PunktSettings, task: Task, file: BinaryIO) -> Counters:
    """Merge the counts and write the parameters trained from them as JSON of four tables."""
    counts = PunktCounts()
    for path in task.payload:
        counts.merge(read_counts(path))
        counts.keep_within(MAX_ENTRIES)
    trained = counts.parameters(settings)
    alone = counts.parameters(dataclasses.replace(settings, abbreviations=frozenset()))
    tally = Counters()
    tally.add("tokens", counts.tokens.total() + counts.pruned_tokens)
    tally.add("entries", len(counts))
    tally.add("pruned_tokens", counts.pruned_tokens)
    for name in ("abbrev_types", "collocations", "sent_starters", "ortho_context"):
        tally.add(name, len(getattr(trained, name)))
    tally.details["given_not_learned"] = sorted(settings.abbreviations - alone.abbrev_types)
    value = {
        "abbrev_types": sorted(trained.abbrev_types),
        "collocations": sorted(map(list, trained.collocations)),
        "sent_starters": sorted(trained.sent_starters),
        "ortho_context": dict(sorted(trained.ortho_context.items())),
    }
    file.write(json.dumps(value, ensure_ascii=False, indent=0).encode())
    return tally


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
