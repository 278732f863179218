"""Tokens drawn by weights of their frequency: the numbers they are drawn by, and how often each is predicted."""

from __future__ import annotations

import math
from hashlib import sha256
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.masking import MASK_UNITS
from bertdata.masking.lowest_kernel import bound_by_halves
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.smoothing import FRACTION, NEVER, OFFSET, delays, log2, spread, spread_table
from tests.generated import examples
from tests.masking.masker import CLS, MASK, REPLACEMENTS, SEP, Rows, assert_masked_as_by_the_reference, mask_rows
from tests.statistics import bernstein

COUNTS = np.array([0, 9, 1, 2, 0, 10**9, 1, 2, 5, 17, 400, 10**12, 3, 3])
SMOOTHED = MaskingConfig(mask_smoothing=0.7)
DRAWS = st.integers(0, 31).flatmap(
    lambda power: st.integers(0, 2**power - 1) | st.integers(2**32 - 2**power, 2**32 - 1)
)


@given(DRAWS)
def test_the_logarithm_of_the_exponential_number_is_right_to_five_digits(draw: int) -> None:
    exact = math.log2(-math.log1p(-(draw + 0.5) / 2**32)) + OFFSET
    assert abs(spread(draw) / 2**FRACTION - exact) < 1.2e-5


@given(DRAWS, DRAWS)
def test_a_lower_draw_comes_first(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert 0 <= spread(low) <= spread(high) < spread(2**32 - 1) + NEVER < 2**32 - 1


def test_the_table_is_the_same_on_every_machine() -> None:
    assert sha256(spread_table().astype("<i8").tobytes()).hexdigest()[:16] == "8e9644172a85ebb4"


@given(st.lists(st.integers(1, 2**53), min_size=1, max_size=20))
def test_logarithms_of_counts_are_right_to_a_unit(numbers: list[int]) -> None:
    logarithms = log2(np.array(numbers)) / 2**FRACTION
    exact = np.array([math.log2(number) for number in numbers])
    assert (np.abs(logarithms - exact) < 2**-FRACTION * 1.01).all()


@given(st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 5), min_size=1, max_size=40), st.data())
def test_a_bound_parts_numbers_however_they_are_spread(numbers: list[int], data: st.DataObject) -> None:
    needed = data.draw(st.integers(1, len(numbers)))
    bound = int(bound_by_halves(np.array(numbers, np.uint32), len(numbers), needed))
    below, ordered = sum(number < bound for number in numbers), [*sorted(numbers), 2**32 - 1]
    assert below == needed or (ordered[needed - 1] == ordered[needed] and below < needed)


@settings(deadline=None, max_examples=examples(300))
@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from([CLS, SEP, *range(5, 20)]), max_size=30), st.integers(0, 2**63 - 1)),
        max_size=6,
    ),
    st.floats(0.05, 0.99),
    st.integers(0, 6),
    st.floats(0.1, 1.0),
    st.integers(0, 2**40),
)
def test_a_batch_is_what_the_plain_loop_makes_of_each_row(
    rows: Rows, rate: float, limit: int, smoothing: float, epoch: int
) -> None:
    config = MaskingConfig(rate, 0.5, 0.2, limit, mask_smoothing=smoothing)
    assert_masked_as_by_the_reference(rows, config, 3, epoch, delays=delays(COUNTS, [0, 8], smoothing))


def test_tokens_are_drawn_one_after_another_with_chances_of_their_weights() -> None:
    tokens, number = [6, 7, 9, 10], 40_000
    weights = dict(zip(tokens, COUNTS[tokens] ** -0.7, strict=True))
    config = MaskingConfig(0.5, mask_smoothing=0.7)
    masked = mask_rows(
        [([CLS, *tokens, SEP], example) for example in range(number)], config=config, delays=delays(COUNTS, [], 0.7)
    )
    predicted = masked.labels.reshape(number, -1) != IGNORE_INDEX
    assert (predicted.sum(1) == 2).all()
    for place, token in enumerate(tokens, 1):
        chance = 0.0
        for first, second in permutations(tokens, 2):
            left = sum(weights.values())
            if token in (first, second):
                chance += weights[first] / left * weights[second] / (left - weights[first])
        assert abs(predicted[:, place].mean() - chance) < bernstein(number, chance)


def test_tokens_of_weight_zero_are_predicted_only_where_others_do_not_suffice() -> None:
    never = [5, 9]
    drawn = delays(COUNTS, never, 0.7)
    rows: Rows = [([CLS, 5, 11, 9, 11, 5, SEP], example) for example in range(300)]
    two = mask_rows(rows, config=MaskingConfig(0.4, mask_smoothing=0.7), delays=drawn).labels
    assert {*np.unique(two).tolist()} == {IGNORE_INDEX, 11}
    three = mask_rows(rows, config=MaskingConfig(0.6, mask_smoothing=0.7), delays=drawn).labels.reshape(300, -1)
    assert ((three == 11).sum(1) == 2).all()
    assert ((three != IGNORE_INDEX).sum(1) == 3).all()


def test_as_many_tokens_are_predicted_as_without_weights() -> None:
    rows: Rows = [([CLS, *[6, 9, 10] * (example % 30), SEP], example) for example in range(200)]
    smoothed = mask_rows(rows, config=SMOOTHED, delays=delays(COUNTS, [], 0.7)).labels
    plain = mask_rows(rows).labels
    ends = np.cumsum([len(row) for row, _ in rows])
    assert [(part != IGNORE_INDEX).sum() for part in np.split(smoothed, ends)] == [
        (part != IGNORE_INDEX).sum() for part in np.split(plain, ends)
    ]
    assert smoothed.tolist() != plain.tolist()


@pytest.mark.parametrize("unit", [unit for unit in MASK_UNITS if unit != "token"])
def test_several_tokens_that_are_predicted_together_have_no_weight(unit: str) -> None:
    with pytest.raises(ConfigError, match=f"`mask_smoothing` 0.7 weighs single tokens, and `mask_unit` {unit}"):
        MaskingConfig(mask_unit=unit, mask_smoothing=0.7)


def test_a_masker_without_counts_is_refused() -> None:
    with pytest.raises(ConfigError, match="the Masker does not know how frequent tokens are"):
        Masker(SMOOTHED, 0, CLS, SEP, MASK, REPLACEMENTS)
