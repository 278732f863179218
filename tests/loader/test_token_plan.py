"""Batches by tokens against a plain definition of them: all examples once, none over its tokens, and exact resumes."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.loader import EpochBatchSampler
from bertdata.loader.iteration import Row


class Examples:
    """A data set of examples of some lengths."""

    def __init__(self, lengths: list[int]) -> None:
        self.lengths = np.array(lengths, np.int32)

    def __len__(self) -> int:
        return len(self.lengths)


def samplers(lengths: list[int], tokens: int, world: int, **given: Any) -> list[EpochBatchSampler]:
    ranks = range(world)
    return [
        EpochBatchSampler(Examples(lengths), batch_tokens=tokens, rank=rank, world_size=world, seed=3, **given)
        for rank in ranks
    ]


def in_order(lengths: list[int], count: int) -> list[Row]:
    """Return the first examples of the order, as a sampler of single examples has them."""
    plain = EpochBatchSampler(Examples(lengths), 1, epochs=None, seed=3)
    return [row for batch in islice(plain, count) for row in batch]


def filled(lengths: list[int], tokens: int, world: int, steps: int) -> list[list[list[Row]]]:
    """Return the batches of each rank, step by step: each takes the next examples while they fit."""
    rows, batches = iter(in_order(lengths, steps * world * tokens + 1)), []
    row = next(rows)
    for _ in range(steps):
        step: list[list[Row]] = []
        for _ in range(world):
            batch: list[Row] = []
            while sum(lengths[number] for _, number, *_ in batch) + lengths[row[1]] <= tokens:
                batch.append(row)
                row = next(rows)
            step.append(batch)
        batches.append(step)
    return [[step[rank] for step in batches] for rank in range(world)]


sizes = st.integers(1, 3)
rows_of = st.lists(st.integers(1, 9), min_size=1, max_size=30)


@pytest.mark.costly
@given(lengths=rows_of, tokens=st.integers(9, 40), world=st.integers(1, 3), steps=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_each_rank_takes_the_next_examples_that_fit(lengths: list[int], tokens: int, world: int, steps: int) -> None:
    expected = filled(lengths, tokens, world, steps)
    drawn = [list(islice(sampler, steps)) for sampler in samplers(lengths, tokens, world, epochs=None)]
    assert drawn == expected


@given(lengths=rows_of, tokens=st.integers(9, 40), world=st.integers(1, 3), epochs=st.integers(1, 3))
@example(lengths=[1] * 6, tokens=10, world=2, epochs=3)
@settings(max_examples=40, deadline=None)
def test_an_iteration_has_each_example_once_an_epoch_and_no_batch_has_more_tokens(
    lengths: list[int], tokens: int, world: int, epochs: int
) -> None:
    ranks = samplers(lengths, tokens, world, epochs=epochs)
    batches = [list(sampler) for sampler in ranks]
    assert [len(sampler) for sampler in ranks] == [len(batch) for batch in batches]
    rows = sorted(row for own in batches for batch in own for row in batch)
    assert rows == [(epoch, number) for epoch in range(epochs) for number in range(len(lengths))]
    assert all(0 < sum(lengths[number] for _, number in batch) <= tokens for own in batches for batch in own)
    assert max(map(len, batches)) - min(map(len, batches)) <= 1


@pytest.mark.costly
@given(data=st.data(), lengths=rows_of, tokens=st.integers(9, 40), worlds=st.tuples(sizes, sizes))
@settings(max_examples=20, deadline=None)
def test_a_run_goes_on_on_other_processes_with_the_rows_that_follow(
    data: st.DataObject, lengths: list[int], tokens: int, worlds: tuple[int, int]
) -> None:
    before = samplers(lengths, tokens, worlds[0], epochs=None)
    taken = data.draw(st.integers(0, 5))
    used = [batch for sampler in before for batch in islice(sampler, taken)]
    state = before[0].state_dict(taken)
    after = samplers(lengths, tokens, worlds[1], epochs=None)
    for sampler in after:
        sampler.load_state_dict(state)
    used += [batch for sampler in after for batch in islice(sampler, 2)]
    rows = [row for batch in used for row in batch]
    assert sorted(rows) == sorted(in_order(lengths, len(rows)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_tokens": 8}, "batch_tokens is 8, but the longest row has 9 tokens; expected room for it"),
        ({"batch_tokens": 64, "batch_size": 4}, "batch_tokens and batch_size say two things of a batch"),
        ({"batch_tokens": 64, "shuffle_window": 2}, "batch_tokens and shuffle_window say two things"),
    ],
)
def test_what_does_not_go_with_it_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        EpochBatchSampler(Examples([9, 3]), **settings)
    with pytest.raises(ConfigError, match="batch_tokens needs a data set with `lengths`"):
        EpochBatchSampler(range(3), batch_tokens=64)


def test_a_step_that_is_not_full_may_be_dropped() -> None:
    (sampler,) = samplers([8] * 5, 16, 1, drop_last=True)
    assert [len(batch) for batch in sampler] == [2, 2]
