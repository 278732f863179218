"""The stage that counts documents by columns, after they are in the token store: for `--account` and `--score`.

Each token file is counted by itself, for all phases. The counts are added up when all are there: memory is about 300
bytes for each of a million values at a time, however many there are; the files are read as often as that takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bertdata.corpus.selection import choose, totals_by
from bertdata.corpus.stage import ShardsSpec, tokenizer_of
from bertdata.corpus.token_slices import TokenFile, TokenSlices
from bertdata.corpus.token_store import load_documents
from bertdata.corpus.write_shards import WriteShards
from bertdata.counter_rng import text_bits
from bertdata.curation.accounts import WORDS, value_text
from bertdata.curation.settings import AccountsConfig
from bertdata.documents import storable
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, PartResult, Task
from bertdata.engine.stages import BuildState, Grouping, Plan, Step
from bertdata.io import files
from bertdata.io.arrow_data import read_stage_file
from bertdata.options.option import stored_values
from bertdata.shards.accounts import LEFT_OUT, MOST_VALUES, NUMBERS, range_of
from bertdata.shards.schema import SPLITS

TITLE = "count by columns"
_REVISION = 1
_KEYS = ("phase", "column", "source", "place", "value")
_PLACES = (*SPLITS, LEFT_OUT)
VALUES_AT_ONCE = 1 << 20
"""Values, of all columns and sources, that are held while counts are added up."""


@dataclass(frozen=True)
class CountColumns:
    """The stage that tokenizes the documents, and counts them by the values of columns.

    `accounts` of the build_state after it has the account of each phase, as `bertdata.shards.accounts` says.
    """

    write: WriteShards
    title = TITLE
    first = False

    def plan(self, build_state: BuildState) -> Plan:
        """Plan the token store and the counts, one table for each of its files."""
        store, folder = self.write.token_plan(build_state), files.join(self.write.output, "stages", "column-counts")
        specs = store.specs()
        numbers = {task.path: number for number, task in enumerate(store.tasks)}
        tasks = partial(_tasks, specs, self.write.accounts, folder, numbers)
        counting = Grouping(list(numbers), _references, tasks)
        make = partial(columns_part, specs, self.write.accounts)
        return Plan(
            [Step("tokenize", store.make, store.tasks), Step(TITLE, make, grouping=counting, unit="file")],
            partial(self._finish, build_state, specs),
            store.prepare,
            inputs=[task.path for task, _ in build_state.documents],
            folders=[store.folder, folder],
        )

    def _finish(
        self, build_state: BuildState, specs: Sequence[ShardsSpec], done: Sequence[Sequence[PartResult]]
    ) -> BuildState:
        rows = sum(record.counts.get("values", 0) for _, record in done[1])
        tables = [task.path for task, _ in done[1]]
        added = add_up(tables, 1 + rows // VALUES_AT_ONCE)
        accounts = [
            account_of(added, phase, spec.info.sources, self.write.accounts) for phase, spec in enumerate(specs)
        ]
        return replace(build_state, accounts=tuple(accounts))


def _references(task: Task, record: Any) -> list[tuple[str, TokenFile]]:
    return [(task.path, TokenFile.of(task, record))]


def _tasks(
    specs: Sequence[ShardsSpec],
    config: AccountsConfig,
    folder: str,
    numbers: Mapping[str, int],
    path: str,
    token_files: Iterable[TokenFile],
) -> list[Task]:
    """Return the task that counts the documents of one token file."""
    slices = sorted((pair for token_file in token_files for pair in token_file.slices()), key=lambda pair: pair[0])
    by_split = {
        split: TokenSlices.of([token_slice for shard, token_slice in slices if specs[0].plan.split(shard) == split])
        for split in SPLITS
    }
    made_from = fingerprint(
        TITLE,
        _REVISION,
        [
            [shard, token_slice.sha256, token_slice.offset, token_slice.length, token_slice.source]
            for shard, token_slice in slices
        ],
        [specs[0].plan.split(shard) for shard, _ in slices],
        [[spec.info.sources, stored_values(spec.info.selection)] for spec in specs],
        [list(config.account), list(config.score)],
    )
    weight = sum(token_slice.length for _, token_slice in slices)
    return [Task(folder, f"columns-{numbers[path]:05d}", ".arrow", made_from, weight, by_split)]


def columns_part(specs: Sequence[ShardsSpec], config: AccountsConfig, task: Task, file: BinaryIO) -> Counters:
    """Write what the documents of one token file add up to: a row for each phase, column, source, split and value.

    The columns are those of `_KEYS`, numbers but for the value, and `NUMBERS`.
    """
    tables: list[pa.Table] = []
    for place, split in enumerate(SPLITS):
        slices: TokenSlices = task.payload[split]
        if len(slices):
            tables += _counted(specs, config, place, slices)
    table = pa.concat_tables(tables) if tables else None
    counters = Counters()
    if table is not None:
        counters.add("values", table.num_rows)
        with pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)
    return counters


def _counted(
    specs: Sequence[ShardsSpec], config: AccountsConfig, place: int, slices: TokenSlices
) -> Iterable[pa.Table]:
    block, stored = load_documents(slices, tokenizer_of(specs[0]), 0, columns=True)
    rows = [json.loads(text) for text in stored]
    amounts = {
        "words": np.array([row.get(WORDS, 0) for row in rows], np.int64),
        "tokens": np.diff(block.document_ends, prepend=0),
    }
    names = [account.name for account in config.accounts]
    columns = [[_text(row.get(name)) for row in rows] for name in names]
    columns += [[range_of(row[name]) for row in rows] for name in config.made]
    for phase, spec in enumerate(specs):
        sources, taken = choose(block, stored, spec.info)
        places = np.where(taken, place, _PLACES.index(LEFT_OUT))
        for number, values in enumerate(columns):
            keys = {
                "phase": pa.repeat(pa.scalar(phase, pa.int64()), len(rows)),
                "column": pa.repeat(pa.scalar(number, pa.int64()), len(rows)),
                "source": pa.array(sources, pa.int64()),
                "place": pa.array(places, pa.int64()),
                "value": pa.array(values, pa.string()),
            }
            yield totals_by(keys, amounts)


def _text(value: Any) -> str | None:
    return None if value is None else storable(value_text(value) or "") or None


Sums = dict[tuple[int, int, int], "OfSource"]
"""By phase, column and source."""


@dataclass
class OfSource:
    """What the documents of a source add up to by the values of one column: int64 (places, numbers) of each value.

    values: of those that are named; without: of documents without one; others: of the values that are not named, whose
    number is `left`.
    """

    values: dict[str, Any]
    without: Any
    others: Any
    left: int = 0

    @staticmethod
    def empty() -> OfSource:
        """Return what nothing adds up to."""
        return OfSource({}, _zeros(), _zeros())

    def add(self, value: str | None, place: int, numbers: Sequence[int]) -> None:
        """Add the numbers of a value in one place."""
        counts = self.without if value is None else self.values.get(value)
        if counts is None:
            counts = self.values[value or ""] = _zeros()
        counts[place] += numbers

    def shrink(self) -> None:
        """Leave the values with the most documents, of equal ones the first by the alphabet; count the others."""
        if len(self.values) > MOST_VALUES:
            ordered = sorted(self.values, key=lambda value: (-int(self.values[value][:, 0].sum()), value))
            for value in ordered[MOST_VALUES:]:
                self.others += self.values.pop(value)
                self.left += 1


def _zeros() -> Any:
    return np.zeros((len(_PLACES), len(NUMBERS)), np.int64)


def add_up(paths: Sequence[str], passes: int) -> Sums:
    """Add up the tables in files of `columns_part`; each pass holds a share of the values, by their hash."""
    sums: Sums = {}
    for number in range(passes):
        for path in paths:
            if not files.size(path):
                continue
            for row in _of_pass(read_stage_file(path, "the counts by columns"), number, passes).to_pylist():
                key = (row["phase"], row["column"], row["source"])
                sums.setdefault(key, OfSource.empty()).add(row["value"], row["place"], [row[name] for name in NUMBERS])
        for of_source in sums.values():
            of_source.shrink()
    return sums


def _of_pass(table: pa.Table, number: int, passes: int) -> pa.Table:
    """Return the rows whose value is of a pass; that of none is of the first."""
    if passes == 1:
        return table
    values = [0 if value is None else text_bits(value) % passes for value in table["value"].to_pylist()]
    return table.filter(pc.equal(pa.array(values, pa.int64()), number))


def account_of(sums: Sums, phase: int, sources: Sequence[str], config: AccountsConfig) -> dict[str, Any]:
    """Return the account of a phase, as `bertdata.shards.accounts` says."""
    accounts, made = config.accounts, config.made
    names = [*(account.name for account in accounts), *made]
    columns: dict[str, Any] = {name: {} for name in names}
    others: dict[str, Any] = {account.name: {} for account in accounts}
    for (number, column, source), of_source in sorted(sums.items()):
        if number == phase:
            by_place = {place: _entry(of_source, row) for row, place in enumerate(_PLACES)}
            columns[names[column]][sources[source]] = {
                place: entry
                for place, entry in by_place.items()
                if entry["values"] or entry["none"][0] or entry["other"][0]
            }
            if names[column] in others and of_source.left:
                others[names[column]][sources[source]] = of_source.left
    return {
        "numbers": list(NUMBERS),
        "most_values": MOST_VALUES,
        "made_from": {account.name: made_from for account in accounts if (made_from := account.made_from)},
        "other_values": {name: by_source for name, by_source in others.items() if by_source},
        "columns": {account.name: columns[account.name] for account in accounts},
        "scores": {name: columns[name] for name in made},
    }


def _entry(of_source: OfSource, place: int) -> dict[str, Any]:
    """Return what documents add up to in one place, the values with the most documents first."""
    values = {value: numbers[place].tolist() for value, numbers in of_source.values.items() if numbers[place, 0]}
    ordered = sorted(values, key=lambda value: (-values[value][0], value))
    return {
        "values": {value: values[value] for value in ordered},
        "none": of_source.without[place].tolist(),
        "other": of_source.others[place].tolist(),
    }
