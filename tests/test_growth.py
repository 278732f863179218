"""The measure of growth: quadratic functions fail, linear ones pass, whatever they cost."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.growth import (
    REPETITIONS,
    assert_linear,
    assert_linear_count,
    every_repetition,
    repeated,
    some_repetitions,
)

CONSTANT = np.arange(200_000)


def slow_start(text: str) -> None:
    """Takes a time for any text, and then looks at all characters for every fourth."""
    CONSTANT.cumsum()
    for at in range(0, len(text), 4):
        text.count("b", at)


def pairs(text: str) -> int:
    return sum(1 for at in range(len(text)) for _ in text[at:])


QUADRATIC: list[Callable[[str], object]] = [
    pairs,
    slow_start,
    re.compile("a+b").search,
    re.compile("(?:aaaaaaaaaaaaaaaa)+b").search,
    lambda text: sum(len(text[at:]) for at in range(0, len(text), 20)),
]
LINEAR: list[Callable[[str], object]] = [
    len,
    str.upper,
    lambda text: sum(map(ord, text)),
    lambda text: sorted(text[at : at + 20] for at in range(len(text))),
    lambda text: CONSTANT.cumsum(),
    re.compile("a+").findall,
    re.compile("(?:a{1,100}b|c)").search,
]


@pytest.mark.parametrize("run", QUADRATIC)
def test_a_quadratic_function_fails(run: Callable[[str], object]) -> None:
    with pytest.raises(
        AssertionError, match=r"the time grows by [3-5]\.\d\d for each doubling, expected at most 2\.3;"
    ):
        assert_linear(run, repeated("a"), floor=0.002)


@pytest.mark.parametrize("run", LINEAR)
def test_a_linear_function_passes(run: Callable[[str], object]) -> None:
    assert_linear(run, repeated("a"))


def test_counted_work_needs_no_clock() -> None:
    assert_linear_count(lambda text: 3 * len(text) + 100, repeated("a"))
    with pytest.raises(AssertionError, match=r"the work grows by 3\.98"):
        assert_linear_count(pairs, repeated("a"), smallest=64)


def test_repetitions_have_the_length_that_was_asked_for() -> None:
    assert len(REPETITIONS) > 400
    assert len(every_repetition()) > 10_000
    for name, text_of in every_repetition().items():
        assert 900 < len(text_of(1000)) <= 1001, name


def test_shares_have_all_repetitions_together() -> None:
    shares = [some_repetitions(share, 7) for share in range(7)]
    assert sum(map(len, shares)) == len(REPETITIONS)
    assert {name for share in shares for name in share} == set(REPETITIONS)
