"""The splits of a task, and rows of one or two segments with special tokens around them, as flat arrays.

The caller truncates texts. The readable reference of `join_segments` is `row_of` in `bertdata.tokenizers.pairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.engine.parts import Counts
from bertdata.errors import ConfigError
from bertdata.io.console import counted
from bertdata.tokenizers.pairs import RowTemplate


@dataclass(frozen=True)
class Encoded:
    """Encoded examples: the columns of a shard by name, without `example_id`, and counts of the texts and tokens."""

    columns: dict[str, pa.Array]
    counts: Counts = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns["input_ids"])

    def table(self, schema: pa.Schema, first_id: int) -> pa.Table:
        """Return the rows with the columns of a shard, `example_id` counted from `first_id`.

        Raises ConfigError where the columns are not those that the task declares.
        """
        ids = pa.array(np.arange(first_id, first_id + len(self), dtype=np.int64))
        columns = self.columns | {"example_id": ids}
        try:
            return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)
        except MemoryError:
            raise
        except (KeyError, pa.ArrowException, TypeError) as error:
            described = ", ".join(
                f"{name} ({column.type}, {counted(len(column), 'row')})" for name, column in columns.items()
            )
            expected = ", ".join(f"{field.name} ({field.type})" for field in schema)
            raise ConfigError(
                f"the task gives the columns {described}; expected {expected}, as many rows of each: see its `columns`"
            ) from error


@dataclass(frozen=True)
class TaskSplit:
    """One split: the number of its examples, and functions that read them from the start and that encode some of them.

    So only the examples that are being encoded are in memory. original: makes a table of examples as text, for tasks
    whose answers are mapped back to it.
    """

    examples: int
    read: Callable[[], Iterator[Any]]
    encode: Callable[[Sequence[Any]], Encoded]
    original: Callable[[Sequence[Any]], pa.Table] | None = None


def is_unlabelled(split: str) -> bool:
    """Return whether the examples of a split may have no labels.

    >>> is_unlabelled("test"), is_unlabelled("test_mismatched"), is_unlabelled("train")
    (True, True, False)
    """
    return split.startswith("test")


def batches(examples: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of `size` examples, the last one of what is left.

    >>> list(batches(iter("salty"), 2))
    [['s', 'a'], ['l', 't'], ['y']]
    """
    while batch := list(islice(examples, size)):
        yield batch


@dataclass(frozen=True)
class Segments:
    """Runs of a flat array of ids: row i is ids[starts[i]:starts[i] + lengths[i]]; both int64 (N,)."""

    ids: NDArray[Any]
    starts: Ints
    lengths: Ints

    @staticmethod
    def of(texts: pa.ListArray) -> Segments:
        """Return the rows of a list array."""
        offsets = texts.offsets.to_numpy().astype(np.int64)
        return Segments(texts.values.to_numpy(), offsets[:-1], np.diff(offsets))

    def cut(self, lengths: Ints) -> Segments:
        """Return the first ids of each row."""
        return Segments(self.ids, self.starts, lengths)

    def take(self, rows: Ints) -> Segments:
        """Return rows by number."""
        return Segments(self.ids, self.starts[rows], self.lengths[rows])


@dataclass(frozen=True)
class Layout:
    """Rows laid out flat: row i lies from offsets[i] to offsets[i + 1], its second segment begins at second[i].

    input_ids has the dtype of the ids, token_type_ids is uint8, None where the template has none; offsets int64
    (N + 1,); second int64 (N,), the row's end where it has one segment.
    """

    input_ids: NDArray[Any]
    token_type_ids: NDArray[np.uint8] | None
    offsets: Ints
    second: Ints

    def lists(self, values: NDArray[Any]) -> pa.ListArray:
        """Return flat values, one for each token, as a list array."""
        return pa.ListArray.from_arrays(pa.array(self.offsets.astype(np.int32)), pa.array(values))

    def columns(self) -> dict[str, pa.Array]:
        """Return `input_ids` and, where there are any, `token_type_ids` as list arrays."""
        types = {} if self.token_type_ids is None else {"token_type_ids": self.lists(self.token_type_ids)}
        return {"input_ids": self.lists(self.input_ids)} | types


def join_segments(
    first: Segments,
    second: Segments | None = None,
    has_second: NDArray[np.bool_] | None = None,
    *,
    template: RowTemplate,
) -> Layout:
    """Lay out the rows of one text, or of two where `has_second` says so (all, if it is None), by a template.

    >>> first = Segments.of(pa.array([[7, 8], [9]], pa.list_(pa.uint16())))
    >>> second = Segments.of(pa.array([[5], []], pa.list_(pa.uint16())))
    >>> rows = join_segments(first, second, np.array([True, False]), template=RowTemplate((2,), (3,), (3,)))
    >>> rows.lists(rows.input_ids).to_pylist(), rows.lists(rows.token_type_ids).to_pylist()
    ([[2, 7, 8, 3, 5, 3], [2, 9, 3]], [[0, 0, 0, 0, 1, 1], [0, 0, 0]])
    """
    number, suffix = len(first.lengths), len(template.suffix)
    has = np.full(number, second is not None) if second is None or has_second is None else has_second
    heads = len(template.prefix) + first.lengths + np.where(has, len(template.between), suffix)
    tails = np.zeros(number, np.int64) if second is None else np.where(has, second.lengths + suffix, 0)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(heads + tails)])
    after_first = offsets[:-1] + heads
    input_ids = np.empty(offsets[-1], first.ids.dtype)
    for starts, ids in (
        (offsets[:-1], template.prefix),
        (after_first[has] - len(template.between), template.between),
        (offsets[1:] - suffix, template.suffix),
    ):
        for place, token_id in enumerate(ids):
            input_ids[starts + place] = token_id
    _copy(input_ids, offsets[:-1] + len(template.prefix), first)
    types = np.zeros(len(input_ids), np.uint8)
    if second is not None:
        _copy(input_ids, after_first, second.cut(np.maximum(tails - suffix, 0)))
        types[np.repeat(after_first, tails) + ranges(tails)] = template.second_type
    if template.last_type is not None and suffix:
        types[offsets[1:] - 1] = template.last_type
    return Layout(input_ids, types if template.has_types else None, offsets, after_first)


def _copy(target: NDArray[Any], places: Ints, segments: Segments) -> None:
    steps = ranges(segments.lengths)
    lengths = segments.lengths
    target[np.repeat(places, lengths) + steps] = segments.ids[np.repeat(segments.starts, lengths) + steps]


def ranges(lengths: Ints) -> Ints:
    """Return 0, 1, ... for each length, one after another.

    >>> ranges(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - lengths, lengths)
