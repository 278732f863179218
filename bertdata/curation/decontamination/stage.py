"""Test data looked for in all documents, as a stage: one part for each part of documents.

`Decontaminate` is the stage. To drop documents, a part lists the rows that hold an n-gram, and the records of documents
leave them out. To cut passages, a part has the documents anew. What the manifest says is added up from the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from bertdata.counter_rng import text_bits
from bertdata.curation.decontamination.cutting import without_passages
from bertdata.curation.decontamination.ngram_table import REVISION, NgramTable, read_table
from bertdata.curation.decontamination.search import Hit, find_hits
from bertdata.curation.languages import languages_in, languages_told
from bertdata.curation.rewritten import with_rewritten
from bertdata.curation.settings import DecontaminationConfig
from bertdata.documents import (
    BYTES_REMOVED,
    CHANGED,
    COLUMNS,
    DocumentRange,
    DocumentWriter,
    Dropped,
    cut_ranges,
    first_rows,
    open_parquet,
    read_range,
    without_rows,
)
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, PartResult, Task, add_counts, labels, part_name
from bertdata.engine.stages import BuildState, Plan, Step, require_documents
from bertdata.errors import ConfigError
from bertdata.io import files, patterns
from bertdata.io.arrow_data import read_stage_file
from bertdata.io.console import byte_size, counted
from bertdata.io.unchanged import file_states, unchanged

REASON = "test data of "
CUT = CHANGED + "decontamination"
SAMPLES = 5
"""Documents that the manifest shows for each file of test data: those with the lowest hashes of their ids."""
MUCH_MEMORY = 64_000_000
"""Bytes of test data and its n-grams from which a build says what a worker holds of them."""
_AROUND = 100
_WHOLE = 1 << 62
DROPPED = pa.schema(
    [
        ("row", pa.int64()),
        ("id", pa.string()),
        ("bytes", pa.int64()),
        ("reason", pa.string()),
        ("language", pa.string()),
    ]
)


class TestDataCount(StrEnum):
    """What the record of a part counts."""

    __test__ = False  # not a test of pytest's

    SEARCHED = "documents_searched"
    CONTAMINATED = "documents_with_test_data"


@dataclass(frozen=True)
class Searched:
    """A part of documents to be searched, and how many rows it has, those included that its range skips."""

    documents: DocumentRange
    rows: int
    number: int


def test_table(config: DecontaminationConfig, texts_of: Callable[[str], Iterable[str]]) -> NgramTable | None:
    """Return the n-grams of the files of test data, None without any; `texts_of` returns the texts of a file.

    Raises InputError where there is no such file, and ConfigError where no text is long enough for an n-gram.
    """
    if not config.decontaminate:
        return None
    paths = patterns.expand(config.decontaminate, ("*",))
    n = config.decontaminate_ngram
    states = file_states(paths)
    with unchanged(states):
        table = NgramTable.of({name: texts_of(path) for name, path in zip(labels(paths), paths, strict=True)}, n)
        digests = [files.sha256(path) for path in paths]
    if not len(table.hashes):
        raise ConfigError(
            f"no text of the test data ({', '.join(file.name for file in table.files)}) has {n} words, so nothing "
            "could be looked for; give a lower --decontaminate-ngram"
        )
    return replace(
        table, fingerprint=fingerprint("test data", REVISION, n, [file.name for file in table.files], digests)
    )


test_table.__test__ = False  # type: ignore[attr-defined]


def notes_on(table: NgramTable) -> list[str]:
    """Return messages on what a large table takes, and on files with texts that are too short to be looked for."""
    notes = []
    if table.memory > MUCH_MEMORY:
        notes.append(
            f"--decontaminate: each worker holds {len(table.hashes):,} n-grams and their texts in about "
            f"{byte_size(table.memory)}"
        )
    for file in table.files:
        texts = counted(file.texts, "text")
        few = f"{file.too_short:,} of its {texts}, of fewer than {table.n} words, cannot be looked for"
        none = f"none of its {texts} has {table.n} words, so nothing of it is looked for"
        if file.too_short or not file.ngrams:
            notes.append(f"--decontaminate: {file.name}: {few if file.ngrams else none}")
    return notes


def search_part(path: str, digest: str, action: str, task: Task, file: BinaryIO) -> Counters:
    """Look for the n-grams of the table at `path` in one part of documents; write what is dropped, or what is left."""
    searched: Searched = task.payload
    table = read_table(path, digest)
    counters = Counters()
    matches = _Matches([test_file.name for test_file in table.files])
    with files.open_raw(searched.documents.path) as raw:
        columns = COLUMNS in open_parquet(raw, searched.documents.path).schema_arrow.names
    if action == "cut":
        with DocumentWriter(
            file, counters, columns=columns, add_languages=languages_told if columns else None
        ) as writer:
            for documents in read_range(searched.documents, columns=columns):
                _cut(documents, table, matches, writer, counters)
    else:
        row_numbers = np.delete(np.arange(searched.rows), searched.documents.dropped)
        dropped: list[tuple[int, str, int, str, str | None]] = []
        begin = 0
        for documents in read_range(searched.documents, columns=columns):
            for place, hits in _by_text(find_hits(documents["text"].combine_chunks(), table)).items():
                row = documents.slice(place, 1).to_pylist()[0]
                reason = matches.add(row["id"], row["text"], hits)
                language = languages_in([row[COLUMNS]])[0] if columns else None
                dropped.append(
                    (int(row_numbers[begin + place]), row["id"], len(row["text"].encode()), reason, language)
                )
            begin += documents.num_rows
            counters.add(TestDataCount.SEARCHED, documents.num_rows)
        rows = [dict(zip(DROPPED.names, values, strict=True)) for values in dropped]
        with pa.ipc.new_stream(file, DROPPED) as stream:
            stream.write_table(pa.Table.from_pylist(rows, schema=DROPPED))
    counters.add(TestDataCount.CONTAMINATED, matches.documents)
    counters.details["decontamination"] = matches.files
    return counters


def _by_text(hits: Iterable[Hit]) -> dict[int, list[Hit]]:
    result: dict[int, list[Hit]] = {}
    for hit in hits:
        result.setdefault(hit.text, []).append(hit)
    return result


def _cut(documents: pa.Table, table: NgramTable, matches: _Matches, writer: DocumentWriter, counters: Counters) -> None:
    """Write documents without the passages around their hits."""
    by_text = _by_text(find_hits(documents["text"].combine_chunks(), table))
    for place, row in enumerate(documents.to_pylist()):
        counters.add(TestDataCount.SEARCHED)
        if hits := by_text.get(place):
            reason = matches.add(row["id"], row["text"], hits)
            before = row["text"]
            row["text"] = without_passages(before, [(hit.begin, hit.end) for hit in hits])
            counters.add(BYTES_REMOVED + reason, len(before.encode()) - len(row["text"].encode()))
            if not row["text"]:
                counters.drop(reason)
                continue
            counters.add(CUT)
        writer.add(row["id"], row["source"], row["title"], row["url"], row["text"], None, row.get(COLUMNS))


class _Matches:
    """Adds up hits by file of test data, with some as samples."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names, self.documents = names, 0
        self.files: dict[str, dict[str, Any]] = {name: {"documents": 0, "hits": 0, "samples": []} for name in names}

    def add(self, document_id: str, text: str, hits: Sequence[Hit]) -> str:
        """Count the hits in a document; returns the reason for which it is dropped, of the first file that it has."""
        self.documents += 1
        data = text.encode()
        for number in sorted({hit.file for hit in hits}):
            entry, file_hits = self.files[self.names[number]], [hit for hit in hits if hit.file == number]
            entry["documents"] += 1
            entry["hits"] += len(file_hits)
            passage = data[max(0, file_hits[0].begin - _AROUND) : file_hits[0].end + _AROUND].decode("utf-8", "ignore")
            entry["samples"] = _lowest(
                [*entry["samples"], {"id": document_id, "ngram": file_hits[0].ngram, "text": passage}]
            )
        return REASON + self.names[min(hit.file for hit in hits)]


def _lowest(samples: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(samples, key=lambda sample: (text_bits(sample["id"]), sample["id"], sample["text"]))[:SAMPLES]


@dataclass(frozen=True)
class Decontaminate:
    """The stage that takes test data out of documents, with its parts in `directory`; without any it does nothing."""

    directory: str
    config: DecontaminationConfig
    table: NgramTable | None
    first = False

    @property
    def title(self) -> str:
        """What a dry run calls it."""
        return "look for test data" if self.table else ""

    def plan(self, build_state: BuildState) -> Plan:
        """Plan a part for each part of documents; raises InputError where there is no document."""
        table = self.table
        folder = files.join(self.directory, "documents")
        if table is None:
            return Plan((), lambda done: build_state, folders=(self.directory,))
        require_documents(build_state.documents)
        action = self.config.decontaminate_action
        path = files.join(self.directory, "ngrams.arrow")
        tasks = [
            _task(folder, number, done, documents, (REVISION, action, table.fingerprint))
            for number, done in enumerate(build_state.documents)
            for documents in cut_ranges([(done[0].path, done[1])], _WHOLE)
        ]

        def prepare() -> None:
            with files.atomic_write(path) as file:
                table.write(file)

        return Plan(
            [Step(self.title, partial(search_part, path, table.fingerprint, action), tasks)],
            partial(self._finish, build_state),
            prepare,
            inputs=[task.path for task, _ in build_state.documents],
            folders=[folder],
            notes=notes_on(table),
        )

    def _finish(self, build_state: BuildState, done: Sequence[Sequence[PartResult]]) -> BuildState:
        assert self.table is not None
        replaced = {task.payload.number: (task, record) for task, record in done[0]}
        apply = _with_cut if self.config.decontaminate_action == "cut" else _without_dropped
        documents = tuple(
            apply(document, replaced[number]) if number in replaced else document
            for number, document in enumerate(build_state.documents)
        )
        return replace(
            build_state, documents=documents, decontamination=self._account([record for _, record in done[0]])
        )

    def _account(self, records: Sequence[Any]) -> dict[str, Any]:
        """Return what the manifest says: what was looked for, what was found, and samples."""
        assert self.table is not None
        entries = {}
        for file in self.table.files:
            parts = [record.details["decontamination"][file.name] for record in records]
            entries[file.name] = {
                **{name: value for name, value in asdict(file).items() if name != "name"},
                "documents": sum(part["documents"] for part in parts),
                "hits": sum(part["hits"] for part in parts),
                "samples": _lowest(sample for part in parts for sample in part["samples"]),
            }
        counts = add_counts(record.counts for record in records)
        return {
            "ngram": self.table.n,
            "action": self.config.decontaminate_action,
            "documents": counts.get(TestDataCount.SEARCHED, 0),
            "contaminated": counts.get(TestDataCount.CONTAMINATED, 0),
            "files": entries,
        }


def _task(folder: str, number: int, done: PartResult, documents: DocumentRange, made_from: Sequence[Any]) -> Task:
    values = fingerprint("decontaminate", *made_from, documents.made_from)
    searched = Searched(documents, first_rows(done[1])[-1], number)
    suffix = ".parquet" if "cut" in made_from else ".arrow"
    return Task(folder, part_name(files.name(folder), number), suffix, values, documents.text_bytes, searched)


def _without_dropped(documents: PartResult, searched: PartResult) -> PartResult:
    task, record = documents
    if not searched[1].counts.get(TestDataCount.CONTAMINATED):
        return documents
    rows = read_stage_file(searched[0].path, "the documents that repeat test data").to_pylist()
    return task, without_rows(record, [Dropped(*(row[name] for name in DROPPED.names)) for row in rows])


def _with_cut(documents: PartResult, written: PartResult) -> PartResult:
    return with_rewritten(documents, written, (CUT,))
