"""Rows of lists in another order, by the kernel and by plain Python."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.corpus.token_rows import joined, row_bytes_of, taken
from bertdata.corpus.token_rows_kernel import move_rows
from bertdata.kernels.warmup import compiling_always
from tests.generated import examples

KINDS = {"uint16": pa.uint16(), "uint32": pa.uint32(), "int32": pa.int32(), "bool": pa.bool_()}
rows = st.lists(st.lists(st.integers(0, 1), max_size=5), max_size=6)


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(rows, max_size=3), st.sampled_from(sorted(KINDS)), st.randoms(use_true_random=False))
def test_rows_are_moved_as_a_list_of_lists_is(columns: list[list[list[int]]], kind: str, choices: Any) -> None:
    value = bool if kind == "bool" else int
    columns = [[list(map(value, row)) for row in column] for column in columns]
    every = [row for column in columns for row in column]
    order = list(range(len(every)))
    choices.shuffle(order)
    # each column is a slice of a larger one
    arrays = [pa.array([[value(1)], *column, []], pa.list_(KINDS[kind])).slice(1, len(column)) for column in columns]
    expected = [every[row] for row in order]
    for compiled in (False, True):
        with compiling_always() if compiled else nullcontext():
            values, lengths = joined(arrays, np.array(order, np.int64), kind)
            assert (values.tolist(), lengths.tolist()) == (
                [v for row in expected for v in row],
                list(map(len, expected)),
            )
            for array, column in zip(arrays, columns, strict=True):
                some = [choices.randrange(len(column)) for _ in column]
                chosen = taken(array, np.array(some, np.int64))
                assert (chosen.to_pylist(), chosen.type) == ([column[row] for row in some], array.type)
    assert list(row_bytes_of(arrays, order)) == [np.array(row, kind).tobytes() for row in expected]


@pytest.mark.parametrize(
    ("offsets", "row", "target"),
    [([0, 2], 1, 0), ([0, 2], -1, 0), ([0, 9], 0, 0), ([0, 2], 0, 3), ([2, 0], 0, 0), ([0, 2], 0, -1)],
)
def test_the_kernel_refuses_rows_and_places_that_are_not_there(offsets: list[int], row: int, target: int) -> None:
    out = np.zeros(4, np.uint8)
    places = (np.array([row]), np.array([target]))
    assert not move_rows(np.ones(4, np.uint8), np.array(offsets, np.int32), 1, *places, out)
    assert not out.any()
