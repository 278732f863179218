"""Packing: every example once, rows never too long, and hardly any padding."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.objectives.objective import plan_examples
from bertdata.objectives.packing import fill_rows, pack
from bertdata.objectives.rows import row_offsets
from bertdata.objectives.settings import ExamplesConfig
from tests.objectives.blocks import BERT, random_block


def rows_of(lengths: list[int], room: int) -> list[list[int]]:
    members, offsets = pack(np.array(lengths, np.int64), room)
    return [members[begin:end].tolist() for begin, end in pairwise(offsets.tolist())]


def best_fit(lengths: list[int], room: int) -> list[int]:
    """Return the room left in each row, the longest example first, one at a time, where it leaves the least room."""
    left: list[int] = []
    for length in sorted(lengths, reverse=True):
        fitting = [space for space in left if space >= length]
        space = min(fitting, default=room)
        if fitting:
            left.remove(space)
        left.append(space - length)
    return sorted(left)


LENGTHS = st.integers(1, 40).flatmap(
    lambda room: st.tuples(st.lists(st.integers(1, room), max_size=60), st.integers(room, room))
)


@settings(deadline=None)
@given(LENGTHS)
def test_every_example_is_in_one_row_and_no_row_is_too_long(drawn: tuple[list[int], int]) -> None:
    lengths, room = drawn
    rows = rows_of(lengths, room)
    assert sorted(member for row in rows for member in row) == list(range(len(lengths)))
    assert all(row and sum(lengths[member] for member in row) <= room for row in rows)


@settings(deadline=None)
@given(LENGTHS)
def test_rows_are_filled_as_best_fit_fills_them_one_example_at_a_time(drawn: tuple[list[int], int]) -> None:
    lengths, room = drawn
    assert sorted(room - sum(lengths[member] for member in row) for row in rows_of(lengths, room)) == best_fit(
        lengths, room
    )


@given(LENGTHS)
def test_kinds_of_rows_hold_what_the_histogram_counts(drawn: tuple[list[int], int]) -> None:
    lengths, room = drawn
    held: Counter[int] = Counter()
    for row, number in fill_rows(np.bincount(lengths, minlength=1).tolist() if lengths else [0], room):
        for length in row:
            held[length] += number
    assert held == Counter(lengths)


def test_who_meets_is_decided_by_the_order_given() -> None:
    assert rows_of([4, 4, 4, 4], 8) == [[0, 2], [1, 3]]
    assert rows_of([5, 3, 5, 3], 8) == [[0, 1], [2, 3]]


@pytest.mark.parametrize("lengths", [[9], [0], [3, -1]])
def test_an_example_that_is_longer_than_a_row_or_empty_is_refused(lengths: list[int]) -> None:
    with pytest.raises(ValueError, match="expected 1 to the 8 of a row"):
        pack(np.array(lengths), 8)


@pytest.mark.parametrize(
    ("objective", "length", "room"),
    [
        *((objective, length, length) for objective in ("nsp", "sop", "single-segment") for length in (128, 512)),
        *((objective, 128, 512) for objective in ("sentence-pair-nsp", "doc-sentences", "full-sentences")),
    ],
)
def test_padding_is_under_two_percent(objective: str, length: int, room: int) -> None:
    block = random_block(2, 1200, 30, 24.0)
    plan = plan_examples(block, ExamplesConfig(objective=objective, max_seq_length=length), 0, BERT)
    lengths = np.diff(row_offsets(block, plan, np.arange(len(plan.ids)), BERT))
    _, offsets = pack(lengths, room)
    rows = len(offsets) - 1
    assert rows > 500
    assert 1 - lengths.sum() / (rows * room) < 0.02
    assert 1 - lengths.sum() / (len(lengths) * length) > 0.02
