"""The rows of a shard are checked before a kernel or a model reads them: a shard and its SHA-256 may come from anyone.

Checked is what reading a row relies on: Arrow offsets inside of their buffers, no nulls, a value for each token, rows
of the length of the settings, ids of the vocabulary, labels and sources that are there. What rows hold is compared with
their settings by `bertdata verify`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.engine.fingerprints import fingerprint
from bertdata.errors import InputError
from bertdata.io.arrow_data import checked
from bertdata.io.machine import cores
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards.checked import once_each
from bertdata.shards.choices import CHOICE_LENGTHS, choices_apart
from bertdata.shards.columns import CU_SEQLENS
from bertdata.shards.number_arrays import numbers_of
from bertdata.shards.packed import unpacked
from bertdata.shards.schema import ShardInfo, ids_column

_LABELS = ("label", "labels")
"""The columns that hold -100 where nothing is to be predicted."""
REVISION = 1
"""Raised where more is checked: shards that were found valid before are checked again."""


def require_valid(
    tables: Sequence[tuple[str, pa.Table]], info: ShardInfo, urls: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Raise InputError for the first of some shards (path, table) with a row that cannot be read.

    urls: what to call those that are copies of shards at URLs, by their paths. Each file is read once on a machine, as
    for its SHA-256 (`bertdata.shards.checked`).
    """
    contents = dict(tables)
    wanted = fingerprint("rows", REVISION, info.values())

    def find(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
        paths = [path for path, _ in pairs]
        with ThreadPoolExecutor(min(len(paths), cores()), "bertdata-rows") as pool:
            problems = pool.map(partial(problem_of, info=info), [contents[path] for path in paths])
            return {path: problem for path, problem in zip(paths, problems, strict=True) if problem}

    for path, problem in once_each([(path, wanted) for path in contents], find).items():
        raise InputError(
            f"{problem}: this shard was not written by bertdata, or was changed; copy it again from where it was "
            "built, or build again",
            path=urls.get(path, path),
        )


def problem_of(table: pa.Table, info: ShardInfo) -> str:
    """Return why the rows of a table cannot be read, "" where they can."""
    begin = 0
    for batch in table.to_batches():
        try:
            _check(checked(batch), info)
        except MemoryError:
            raise
        except (pa.ArrowException, ValueError) as error:
            return f"the record batch of row {begin:,} cannot be read ({error})"
        begin += batch.num_rows
    return ""


def _check(batch: pa.RecordBatch, info: ShardInfo) -> None:
    """Raise ValueError where a row of a valid record batch is not one of such shards."""
    if not batch.num_rows:
        return
    lists = {name: batch[name] for name in batch.schema.names if pa.types.is_list(batch[name].type)}
    for name in batch.schema.names:
        if batch[name].null_count or (name in lists and lists[name].flatten().null_count):
            raise ValueError(f"{name} holds nulls")
    if CU_SEQLENS in lists:
        lengths, limit = _lengths(lists["input_ids"]), info.row_length
        if int(lengths.max(initial=0)) > limit:
            raise ValueError(f"a packed row has {lengths.max():,} tokens; expected at most {limit:,}")
        batch = unpacked(batch)
        lists = {name: batch[name] for name in batch.schema.names if pa.types.is_list(batch[name].type)}
    apart = lists
    if info.has_choices:
        tokens, _ = choices_apart(batch)
        apart = {name: tokens[name] for name in tokens.schema.names}
        if "label" in batch.schema.names and (_values(batch["label"]) >= _lengths(lists[CHOICE_LENGTHS])).any():
            raise ValueError("the label is not one of the choices of its row")
    others = {ids_column(place) for place in range(1, len(batch.schema.names))} & {*lists}
    least, most = info.row_template.special(pair=False), info.max_seq_length
    for name in ["input_ids", *sorted(others)]:
        lengths = _lengths(apart[name])
        if int(lengths.min(initial=least)) < least or int(lengths.max(initial=0)) > most:
            raise ValueError(
                f"{name} has rows of {lengths.min():,} to {lengths.max():,} ids; expected {least} to {most:,}"
            )
        _require(f"an id of {name}", _values(lists[name]), info.vocab_size)
    lengths = _lengths(lists["input_ids"])
    for name in lists.keys() - others - info.set_columns.keys() - {CHOICE_LENGTHS}:
        if not np.array_equal(_lengths(lists[name]), lengths):
            raise ValueError(f"{name} does not have a value for each token")
    for name, (what, number) in info.limits.items():
        if name in batch.schema.names and pa.types.is_integer(_kind(batch[name])):
            values = _values(batch[name])
            _require(what, values[values != IGNORE_INDEX] if name in (*_LABELS, *info.set_columns) else values, number)


def _require(what: str, values: NDArray[Any], number: int) -> None:
    """Raise ValueError where values are not whole numbers from 0 that are below a number."""
    if len(values) and not 0 <= int(values.min()) <= int(values.max()) < number:
        raise ValueError(f"{what} is {values.min()} or {values.max()}; expected 0 to {number - 1:,}")


def _lengths(column: pa.ListArray) -> NDArray[np.int64]:
    lengths: NDArray[np.int64] = np.diff(numbers_of(column.offsets)).astype(np.int64)
    return lengths


def _kind(column: pa.Array) -> pa.DataType:
    return column.type.value_type if pa.types.is_list(column.type) else column.type


def _values(column: pa.Array) -> NDArray[Any]:
    return numbers_of(column.flatten() if pa.types.is_list(column.type) else column)
