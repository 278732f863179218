"""What a state says, and which states are refused."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from bertdata.errors import ConfigError
from bertdata.loader import EpochBatchSampler
from tests.loader.runs import Lengths

DATA = Lengths([4, 12, 20] * 10, [18, 12])


def state_of(**keywords: Any) -> dict[str, int]:
    return EpochBatchSampler(DATA, 4, **keywords).state_dict()


WAYS: list[dict[str, Any]] = [
    {},
    {"weights": [1.0, 1.0]},
    {"weights": [1.0, 2.0]},
    {"bins": (8, 24)},
    {"bins": (16, 24)},
    {"bins": (16, 24), "weights": [1.0, 1.0]},
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("other", WAYS)
def test_a_state_is_of_one_order_and_refused_by_any_other(way: dict[str, Any], other: dict[str, Any]) -> None:
    sampler = EpochBatchSampler(DATA, 4, **other)
    if way == other:
        sampler.load_state_dict(state_of(**way))
        return
    with pytest.raises(ConfigError, match="of a run with other length bins or weights"):
        sampler.load_state_dict(state_of(**way))


def test_numbers_of_a_state_fit_int64_and_a_plain_order_is_0() -> None:
    for way in WAYS:
        assert all(0 <= number < 1 << 63 for number in state_of(**way).values())
        assert (state_of(**way)["order"] == 0) == (way == {})
    assert state_of(bins=(24,))["order"] == 0
    assert set(state_of(bins=(8, 24))) - set(state_of()) == {"bin_0", "bin_1"}


@pytest.mark.parametrize(
    ("way", "wrong"),
    [
        ({}, {"position": -1}),
        ({"bins": (8, 24)}, {"bin_0": -1, "bin_1": 1, "position": 0}),
        ({"bins": (8, 24)}, {"bin_0": 1, "bin_1": 1, "position": 1}),
    ],
)
def test_positions_below_0_or_that_do_not_add_up_are_refused(way: dict[str, Any], wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="expected numbers of 0 or more that add up"):
        EpochBatchSampler(DATA, 4, **way).load_state_dict(state_of(**way) | wrong)


@pytest.mark.parametrize("way", WAYS)
def test_a_state_asked_for_out_of_order_is_that_of_the_number_of_batches(way: dict[str, Any]) -> None:
    sampler = EpochBatchSampler(DATA, 4, epochs=2, **way)
    taken, states = [], [sampler.state_dict()]
    for batch in sampler:
        taken.append(batch)
        states.append(sampler.state_dict())
    for number in (3, 1, len(taken) - 1, 5, 0, len(taken)):
        assert sampler.state_dict(number) == states[number]
        again = EpochBatchSampler(DATA, 4, epochs=2, **way)
        again.load_state_dict(states[number])
        assert list(islice(again, 3)) == (taken[number : number + 3] or list(islice(sampler, 3)))
    with pytest.raises(ConfigError, match="-1 batches were taken"):
        sampler.state_dict(-1)


def test_the_order_is_that_of_the_seed_in_every_version() -> None:
    data = Lengths([4, 30] * 5, [4, 6])
    numbers = {
        "plain": [number for batch in EpochBatchSampler(data, 4, seed=7) for _, number in batch],
        "bins": [number for batch in EpochBatchSampler(data, 4, seed=7, bins=(8, 32)) for _, number in batch],
        "weights": [number for batch in EpochBatchSampler(data, 4, seed=7, weights=[1.0, 2.0]) for _, number in batch],
    }
    assert numbers == {
        "plain": [8, 1, 7, 6, 0, 2, 9, 5, 3, 4],
        "bins": [6, 2, 4, 8, 9, 1, 7, 5, 0, 3],
        "weights": [5, 4, 7, 8, 9, 1, 2, 6, 9, 4],
    }


def test_a_run_without_end_begins_at_the_epoch_that_is_set() -> None:
    sampler, epoch = EpochBatchSampler(DATA, 4, epochs=None), EpochBatchSampler(DATA, 4)
    for sampler_or_epoch in (sampler, epoch):
        sampler_or_epoch.set_epoch(3)
    assert list(islice(sampler, 7)) == list(islice(epoch, 7))


def test_a_trainer_that_is_done_is_told_why_a_run_without_end_does_not_begin_at_its_count() -> None:
    """The Trainer of transformers counts a loader without a length as one of max_steps batches."""
    sampler = EpochBatchSampler(DATA, 4, epochs=None)
    sampler.set_epoch(2)
    sampler.load_state_dict(sampler.state_dict())
    sampler.set_epoch(0)  # of the only iteration
    sampler.set_epoch(2)
    with pytest.raises(ConfigError, match=r"epoch 2 of a run without an end .* all of max_steps behind it"):
        sampler.set_epoch(1)
