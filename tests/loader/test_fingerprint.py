"""What identifies a data set in a state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.loader import EpochBatchSampler
from bertdata.loader.fingerprint import data_fingerprint
from tests.loader.runs import Lengths


class Texts(list[str]):
    """A data set of somebody else, with a fingerprint."""

    def __init__(self, fingerprint: Any) -> None:
        super().__init__(["one", "two", "three"])
        self.fingerprint = fingerprint


@pytest.mark.parametrize("value", [7, -7, 1 << 70, np.int64(7), "7", "a5f0c3"])
def test_a_fingerprint_is_an_integer_or_a_string_and_63_bits_of_a_state(value: Any) -> None:
    sampler = EpochBatchSampler(Texts(value), 2)
    state = sampler.state_dict()
    assert type(state["data"]) is int
    assert 0 <= state["data"] < 1 << 63
    sampler.load_state_dict(state)
    assert data_fingerprint(Texts(7)) == 7
    for other in (8, "8", "a5f0c4"):
        assert data_fingerprint(Texts(other)) != state["data"]
        with pytest.raises(ConfigError, match=f"3 examples with the fingerprint {state['data']:016x} in the state, 3"):
            EpochBatchSampler(Texts(other), 2).load_state_dict(state)


@pytest.mark.parametrize("value", [1.5, b"7", ["7"]])
def test_another_fingerprint_is_refused_with_its_type(value: Any) -> None:
    with pytest.raises(ConfigError, match=f"is of type {type(value).__name__}"):
        EpochBatchSampler(Texts(value), 2)


def test_without_a_fingerprint_lengths_and_sizes_are_compared() -> None:
    states = [
        EpochBatchSampler(data, 2).state_dict()
        for data in (
            Lengths([4, 5, 6, 7], [2, 2]),
            Lengths([4, 5, 7, 6], [2, 2]),
            Lengths([4, 5, 6, 7], [1, 3]),
            Lengths([4, 5, 6, 7], [4]),
        )
    ]
    assert len({state["data"] for state in states} - {0}) == 4
    for state in states[1:]:
        with pytest.raises(ConfigError, match="another data set"):
            EpochBatchSampler(Lengths([4, 5, 6, 7], [2, 2]), 2).load_state_dict(state)
    EpochBatchSampler(Lengths([4, 5, 6, 7], [2, 2]), 3).load_state_dict(states[0])


def test_the_kind_of_integers_of_lengths_makes_no_difference() -> None:
    narrow, wide = Lengths([4, 5]), Lengths([4, 5])
    wide.lengths = wide.lengths.astype(np.int64)
    assert data_fingerprint(narrow) == data_fingerprint(wide) != 0


def test_data_that_say_nothing_but_their_length_have_none() -> None:
    assert data_fingerprint(range(9)) == data_fingerprint(["a"]) == 0
