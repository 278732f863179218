"""The order of streamed rows: each once an epoch, random within a window of shards, a function of the position."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.loader import EpochBatchSampler
from bertdata.loader.window_order import WindowedOrder, borders

RNG = np.random.default_rng(5)


class Sharded(list[int]):
    """Numbers that lie in the shards of some sets."""

    def __init__(self, *sets: list[int]) -> None:
        super().__init__(range(sum(map(sum, sets))))
        self.shard_rows = tuple(np.array(numbers, np.int64) for numbers in sets)
        self.sizes = tuple(map(sum, sets))


def order_of(rows: list[int], window: int) -> WindowedOrder:
    return WindowedOrder(sum(rows), 7, np.array(rows, np.int64), window, 3)


@pytest.mark.costly
@pytest.mark.parametrize("window", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("shards", [1, 2, 9, 20])
def test_each_row_comes_once_an_epoch_and_any_position_is_found_alone(shards: int, window: int) -> None:
    rows = RNG.integers(0, 30, shards).tolist()
    rows[0] += 1
    order = order_of(rows, window)
    epochs, numbers = order.pairs(np.arange(3 * order.size))
    assert epochs.tolist() == np.repeat(np.arange(3), order.size).tolist()
    for epoch in range(3):
        assert sorted(numbers[epochs == epoch].tolist()) == list(range(order.size))
    chosen = RNG.integers(0, 3 * order.size, 20)
    assert [order_of(rows, window).pairs(np.array([place]))[1][0] for place in chosen] == numbers[chosen].tolist()


def test_the_rows_of_a_window_are_those_of_its_shards_and_in_no_order_of_them() -> None:
    order = order_of([100] * 12, 4)
    _, numbers = order.pairs(np.arange(1200, 2400))
    shards = (numbers // 100).reshape(3, 400)
    assert [len(set(window)) for window in shards.tolist()] == [4, 4, 4]
    assert all(len(set(part.tolist())) == 4 for window in shards for part in window.reshape(8, 50))
    again = (order.pairs(np.arange(2400, 3600))[1] // 100).reshape(3, 400)
    assert set(map(frozenset, shards.tolist())) != set(map(frozenset, again.tolist()))


def test_the_first_epoch_begins_with_two_shards() -> None:
    order = order_of([100] * 20, 8)
    _, numbers = order.pairs(np.arange(200))
    assert len(set((numbers // 100).tolist())) == 2
    assert borders(20, 8, cold=True) == [0, 2, 6, 13, 20]
    assert borders(3, 8, cold=True) == [0, 2, 3]
    assert borders(1, 1, cold=True) == [0, 1]


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["plain", "weights"])
def test_the_steps_of_a_run_have_the_same_rows_on_any_number_of_ranks(kind: str) -> None:
    settings: dict[str, Any]
    if kind == "plain":
        data, settings = Sharded([50, 70, 30, 64, 50, 41, 9, 80]), {}
    else:
        data, settings = Sharded([50, 70, 30], [64, 50, 41, 9, 80]), {"weights": (1.0, 2.0)}

    def steps(world_size: int) -> list[Counter[tuple[int, ...]]]:
        samplers = [
            EpochBatchSampler(
                data, 24 // world_size, shuffle_window=3, epochs=2, rank=rank, world_size=world_size, **settings
            )
            for rank in range(world_size)
        ]
        return [sum(map(Counter, parts), Counter()) for parts in zip(*samplers, strict=True)]

    alone = steps(1)
    assert alone[:-2] == steps(3)[: len(alone) - 2] == steps(8)[: len(alone) - 2]
    if kind == "plain":
        assert sum(alone, Counter()) == Counter((epoch, number) for epoch in range(2) for number in data)
        assert sum(steps(8), Counter()) == sum(alone, Counter())


def test_each_rank_reads_its_own_part_of_a_window() -> None:
    """Of a window of 16 shards each of 4 ranks reads about 4: those, and what its share sways by."""
    data = Sharded([1000] * 48)
    read: list[set[int]] = []
    for rank in range(4):
        sampler = EpochBatchSampler(data, 64, shuffle_window=16, rank=rank, world_size=4, epochs=None)
        sampler.set_epoch(1)
        batches = iter(sampler)
        window = [number // 1000 for _ in range(60) for _, number in next(batches)]
        read.append(set(window))
    assert len(set.union(*read)) == 16
    assert max(map(len, read)) <= 8


def test_a_run_that_goes_on_with_other_ranks_has_each_row_once() -> None:
    data = Sharded([37, 80, 12, 55, 90, 41, 66])
    seen: Counter[tuple[int, ...]] = Counter()
    state = None
    for world_size, steps in ((2, 5), (5, 3), (1, 9), (3, 1000)):
        samplers = [
            EpochBatchSampler(data, 8, shuffle_window=2, epochs=2, rank=rank, world_size=world_size)
            for rank in range(world_size)
        ]
        for sampler in samplers:
            if state is not None:
                sampler.load_state_dict(state)
            for _, batch in zip(range(steps), sampler, strict=False):
                seen.update(batch)
        states = [sampler.state_dict() for sampler in samplers]
        assert all(state == states[0] for state in states)
        state = states[0]
    assert seen == Counter((epoch, number) for epoch in range(2) for number in data)


def test_a_state_of_another_window_is_refused() -> None:
    data = Sharded([10, 10, 10])
    state = EpochBatchSampler(data, 4, shuffle_window=2).state_dict()
    EpochBatchSampler(data, 4, shuffle_window=2).load_state_dict(state)
    for window in (1, None):
        with pytest.raises(ConfigError, match="shuffle_window"):
            EpochBatchSampler(data, 4, shuffle_window=window).load_state_dict(state)


def test_a_window_needs_shards_and_at_least_one() -> None:
    with pytest.raises(ConfigError, match="shard_rows"):
        EpochBatchSampler(range(9), 4, shuffle_window=2)
    with pytest.raises(ConfigError, match="expected at least 1 shard"):
        EpochBatchSampler(Sharded([4, 4]), 4, shuffle_window=0)
