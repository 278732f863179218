"""The steps of a run against a plain definition of them, from any positions and over several iterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.loader.batch_plan import BatchPlan, Segment
from bertdata.loader.bins import Bin
from bertdata.loader.sample_order import PermutedOrder
from tests.generated import examples
from tests.loader.runs import Lengths, counted, ranks, run


def schedule(
    sizes: Sequence[int], batches: Sequence[int], world_size: int, epochs: int | None = 1, drop_last: bool = False
) -> BatchPlan:
    """Return the schedule of bins of some sizes, the narrowest first, and of the rows that a rank takes of each."""
    bins = tuple(
        Bin(8 * (number + 1), size, batch, PermutedOrder(size, number))
        for number, (size, batch) in enumerate(zip(sizes, batches, strict=True))
    )
    return BatchPlan(bins, world_size, epochs, drop_last)


def parted(left: int, batch: int, world_size: int, drop_last: bool) -> list[int]:
    """Return the sizes of the steps that take what is left of a bin: full ones, and a rest every rank has a part of."""
    group = batch * world_size
    full, rest = [group] * (left // group), left % group
    if drop_last or not rest:
        return full
    if not full or rest >= world_size:
        return [*full, rest]
    last = full.pop() + rest
    return [*full, last] if batch == 1 else [*full, last - last // 2, last // 2]


def defined(plan: BatchPlan, places: Sequence[int]) -> Iterator[list[Segment]]:
    """Yield the steps to the end of the iteration, as the module's docstring has them."""
    at, ranks_, numbers = list(places), plan.world_size, list(range(len(plan.bins)))
    ends = plan.ends(places) or []
    todo: list[Any] = [None for _ in numbers]
    shared: list[int] = []
    if ends:
        left = [end - place for end, place in zip(ends, places, strict=True)]
        shared = [number for number in numbers if 0 < left[number] < ranks_]
        shared = [] if plan.drop_last or len(plan.bins) == 1 else shared
        alone = [0 if number in shared else left[number] for number in numbers]
        missing = ranks_ - sum(left[number] for number in shared)
        if shared and missing > 0:
            can_spare = [number for number in numbers if alone[number] - missing >= ranks_]
            whole = [number for number in numbers if alone[number]]
            if can_spare:
                alone[can_spare[-1]] -= missing
                shared.append(can_spare[-1])
            elif whole:
                alone[whole[-1]] = 0
                shared.append(whole[-1])
        todo = [parted(rest, bin_.batch, ranks_, plan.drop_last) for rest, bin_ in zip(alone, plan.bins, strict=True)]
    while True:
        open_bins = [number for number in numbers if todo[number] is None or todo[number]]
        if not open_bins:
            break
        furthest = min(open_bins, key=lambda number: (at[number] / plan.bins[number].size, number))
        size = todo[furthest].pop(0) if todo[furthest] is not None else plan.bins[furthest].batch * ranks_
        yield [(furthest, at[furthest], at[furthest] + size)]
        at[furthest] += size
    shared.sort()
    if shared and not plan.drop_last:
        for size in parted(
            sum(ends[number] - at[number] for number in shared), plan.bins[shared[-1]].batch, ranks_, False
        ):
            step = []
            for number in shared:
                taken = min(size, ends[number] - at[number])
                if taken:
                    step.append((number, at[number], at[number] + taken))
                at[number], size = at[number] + taken, size - taken  # noqa: PLW2901
            yield step


bins = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 5)), min_size=1, max_size=4)


@given(bins=bins, world_size=st.integers(1, 7), epochs=st.integers(1, 2), drop_last=st.booleans(), data=st.data())
@settings(max_examples=examples(300))
def test_the_steps_from_any_positions_are_those_of_the_definition(
    bins: list[tuple[int, int]], world_size: int, epochs: int, drop_last: bool, data: st.DataObject
) -> None:
    sizes, batches = zip(*bins, strict=True)
    plan = schedule(sizes, batches, world_size, epochs, drop_last)
    iteration = data.draw(st.integers(0, 2))
    share = data.draw(st.tuples(*(st.integers(0, epochs * size - (len(bins) == 1)) for size in sizes)))
    places = [iteration * epochs * size + part for size, part in zip(sizes, share, strict=True)]
    if sum(share) == epochs * sum(sizes):
        places = [iteration * epochs * size for size in sizes]
    steps = list(plan.steps(places))
    assert steps == list(defined(plan, places))
    parts = [sum(stop - start for _, start, stop in step) for step in steps]
    assert plan.count(places) == [sum(rank < part for part in parts) for rank in range(world_size)]


@given(bins=bins, world_size=st.integers(1, 7))
@settings(max_examples=50)
def test_without_an_end_the_bin_that_is_furthest_behind_comes_next(
    bins: list[tuple[int, int]], world_size: int
) -> None:
    sizes, batches = zip(*bins, strict=True)
    plan = schedule(sizes, batches, world_size, None)
    places = [0] * len(sizes)
    assert list(islice(plan.steps(places), 60)) == list(islice(defined(plan, places), 60))


@given(
    lengths=st.lists(st.integers(1, 64), min_size=1, max_size=80).map(Lengths),
    edges=st.sampled_from([(64,), (16, 64), (8, 16, 24, 32, 48, 64)]),
    world_size=st.integers(1, 7),
    batch_size=st.integers(1, 9),
    epochs=st.integers(1, 2),
)
@settings(max_examples=60)
def test_rule_24_in_every_iteration_all_ranks_take_as_many_steps_of_the_same_bins(
    lengths: Lengths, edges: tuple[int, ...], world_size: int, batch_size: int, epochs: int
) -> None:
    samplers = ranks(lengths, world_size, bins=edges, batch_size=batch_size, epochs=epochs)
    for iteration in range(3):
        outputs = run(samplers)
        numbers = range(iteration * epochs, (iteration + 1) * epochs)
        expected = {(epoch, number): 1 for epoch in numbers for number in range(len(lengths))}
        assert counted(outputs) == expected
        if len(lengths) * epochs >= world_size:
            assert len({len(batches) for batches in outputs}) == 1
        assert [len(batches) for batches in outputs] == [len(sampler) for sampler in samplers]


def test_rule_24_in_the_second_iteration_of_two_bins_five_ranks_still_take_three_steps() -> None:
    lengths = Lengths([8] * 13 + [40] * 12)
    samplers = ranks(lengths, 5, bins=(16, 64), batch_size=2)
    for _ in range(3):
        sizes = [[len(batch) for batch in batches] for batches in run(samplers)]
        assert {len(size) for size in sizes} == {len(sizes[0])}
        assert sum(map(sum, sizes)) == 25


@pytest.mark.parametrize(
    ("sizes", "steps"),
    [
        # Two rests of a row each are shared; the widest bin that can spare them gives the two that are missing.
        (
            [1, 1, 8, 7],
            [[(2, 0, 4)], [(3, 0, 5)], [(2, 4, 8)], [(0, 0, 1), (1, 0, 1), (3, 5, 7)]],
        ),
        # None can spare them, so the widest goes with them wholly; the narrow rows stand first.
        ([2, 5, 5], [[(1, 0, 5)], [(0, 0, 2), (2, 0, 5)]]),
        # The same where the widest has just one row for each rank.
        ([1, 4], [[(0, 0, 1), (1, 0, 4)]]),
        # Rests that are more than a step share two, one after another.
        ([3, 3, 3], [[(0, 0, 3), (1, 0, 1)], [(1, 1, 3), (2, 0, 3)]]),
        # The widest has too few, so the one before it gives what is missing.
        ([1, 1, 6, 5], [[(2, 0, 4)], [(3, 0, 5)], [(0, 0, 1), (1, 0, 1), (2, 4, 6)]]),
    ],
)
def test_small_rests_wait_for_the_last_step(sizes: list[int], steps: list[list[Segment]]) -> None:
    plan = schedule(sizes, [1] * len(sizes), 4)
    assert list(plan.steps([0] * len(sizes))) == steps


def test_a_mixed_step_is_dealt_to_the_ranks_in_equal_runs() -> None:
    data = Lengths([4] * 2 + [12] * 3 + [20] * 25)
    outputs = run(ranks(data, 4, bins=(8, 16, 24), batch_size=2))
    last = [[int(data.lengths[number]) for _, number in batches[-1]] for batches in outputs]
    assert sorted(len(batch) for batch in last) == [len(batch) for batch in reversed(last)]
    assert np.diff([length for batch in last for length in batch]).min() >= 0
    assert {4, 12} <= {length for batch in last for length in batch}
