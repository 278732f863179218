"""Positions masked in turn: how often each is masked, when rounds begin, and what is the same as in the plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.masking import MASK_UNITS
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.settings import REPLACE_UNITS, MaskingConfig
from bertdata.masking.turns import EPOCHS, turns_of
from tests.generated import examples
from tests.masking.masker import CLS, SEP, Rows, assert_masked_as_by_the_reference, mask_rows
from tests.oracles.masking import round_of
from tests.statistics import bernstein

CONTINUATION = np.arange(100) >= 70
FALLING = ("0=0.3", "1=0.15")


def predicted(rows: Rows, config: MaskingConfig, epoch: int, **options: Any) -> NDArray[np.bool_]:
    """Return which tokens of rows of one length are predicted, bool (N, L), [CLS] and [SEP] left out."""
    masked = mask_rows(rows, config=config, epoch=epoch, continuation=CONTINUATION, **options)
    chosen: NDArray[np.bool_] = masked.labels.reshape(len(rows), -1)[:, 1:-1] != IGNORE_INDEX
    return chosen


@pytest.mark.parametrize("unit", MASK_UNITS)
@pytest.mark.parametrize("rate", [0.05, 0.15, 0.3, 0.5])
def test_after_any_number_of_epochs_all_positions_were_masked_equally_often_within_one(unit: str, rate: float) -> None:
    ids = np.random.default_rng(0).integers(5, 100, (20, 50)).tolist()
    rows: Rows = [([CLS, *row, SEP], number * 7919) for number, row in enumerate(ids)]
    config = MaskingConfig(rate, mask_unit=unit, mask_in_turn=True, max_ngram=2, span_prob=0.6, max_span=2)
    counts = np.zeros((20, 50), np.int64)
    for epoch in range(45):
        counts += predicted(rows, config, epoch)
        assert (counts.max(1) - counts.min(1)).max() <= 1
    assert int(45 * rate) - 1 <= counts.min() <= counts.max() <= 45 * rate + 2


def test_masks_drawn_alike_in_every_epoch_have_no_such_bound() -> None:
    rows: Rows = [([CLS, *[7] * 50, SEP], number) for number in range(20)]
    counts = sum(predicted(rows, MaskingConfig(0.3), epoch).astype(np.int64) for epoch in range(20))
    assert (np.max(counts, 1) - np.min(counts, 1)).min() >= 3


def test_rounds_have_other_orders_and_rows_too() -> None:
    rows: Rows = [([CLS, *[7] * 40, SEP], number) for number in range(60)]
    config = MaskingConfig(0.25, mask_in_turn=True)
    first, again = (predicted(rows, config, epoch) for epoch in (0, 4))
    assert (first.sum(1) == 10).all()
    assert (again.sum(1) == 10).all()
    assert len({row.tobytes() for row in first}) == 60
    # Two draws of 10 of 40 have 2.5 in common.
    assert abs((first & again).sum() / 600 - 0.25) < bernstein(600, 0.25)


@pytest.mark.parametrize("rate", [0.15, 0.3, 0.4])
def test_the_mean_rate_is_the_one_asked_for(rate: float) -> None:
    rows: Rows = [([CLS, *[7] * 40, SEP], number) for number in range(300)]
    config, epochs = MaskingConfig(rate, mask_in_turn=True), 60
    share = np.mean([predicted(rows, config, epoch).mean() for epoch in range(epochs)])
    assert abs(share - rate) < rate / 50


def test_a_schedule_changes_how_many_are_masked_and_not_the_rounds() -> None:
    rows: Rows = [([CLS, *[7] * 60, SEP], number) for number in range(400)]
    falling = MaskingConfig(mask_in_turn=True, mask_schedule=FALLING)
    for level, rate in ((0, 0.3), (500, 0.225), (1000, 0.15)):
        shares = [predicted(rows, falling, epoch, level=level).mean() for epoch in range(9)]
        assert abs(np.mean(shares) - rate) < 0.005
    part = predicted(rows, falling, 1, level=500)
    more, fewer = (predicted(rows, falling, 1, level=level) for level in (0, 1000))
    assert (part & ~more).sum() == 0
    assert (fewer & ~part).sum() == 0


def test_under_a_schedule_counts_differ_by_a_third_of_what_masks_drawn_alike_do() -> None:
    rows: Rows = [([CLS, *[7] * 126, SEP], number) for number in range(200)]
    deviations = []
    for in_turn in (True, False):
        config = MaskingConfig(mask_unit="token-ngram", mask_in_turn=in_turn, mask_schedule=("0=0.3", "1=0.25"))
        levels = [int((epoch + 0.5) * 100) for epoch in range(10)]
        counts = sum(predicted(rows, config, epoch, level=levels[epoch]).astype(np.int64) for epoch in range(10))
        deviations.append(round(float(np.std(counts)), 1))
    assert deviations == [0.5, 1.4]


@pytest.mark.costly
@settings(deadline=None, max_examples=examples(200))
@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from([CLS, SEP, 7, 8, 71, 72, 73]), max_size=30), st.integers(0, 2**63 - 1)),
        max_size=4,
    ),
    st.sampled_from(list(MASK_UNITS)),
    st.sampled_from(REPLACE_UNITS),
    st.floats(0.02, 0.5),
    st.sampled_from([(), FALLING, ("0=0.5", "0.3=0.02")]),
    st.integers(0, 60) | st.integers(EPOCHS - 5, EPOCHS + 60) | st.integers(2**62, 2**63 - 1),
    st.integers(0, 1000),
)
def test_a_batch_is_what_the_plain_loop_makes_of_each_row(
    rows: Rows, unit: str, replaced: str, rate: float, schedule: tuple[str, ...], epoch: int, level: int
) -> None:
    config = MaskingConfig(
        0.15 if schedule else rate,
        mask_unit=unit,
        replace_unit=replaced,
        mask_in_turn=True,
        mask_schedule=schedule,
    )
    assert_masked_as_by_the_reference(rows, config, 3, epoch, CONTINUATION, level=level)


@given(st.integers(0, 2**63 - 1), st.integers(0, 400), st.floats(0.02, 0.5))
def test_rounds_follow_one_another(example_id: int, epoch: int, rate: float) -> None:
    config = MaskingConfig(rate, mask_in_turn=True)
    here, then = (turns_of(config, 0, np.array([example_id]), in_epoch) for in_epoch in (epoch, epoch + 1))
    assert 0 <= here.part[0] < here.parts[0]
    assert here.parts[0] in (int(1 / rate + 1e-6), int(1 / rate + 1e-6) + 1)
    if here.part[0] + 1 < here.parts[0]:
        assert (then.rounds[0], then.part[0]) == (here.rounds[0], here.part[0] + 1)
    else:
        assert (then.rounds[0], then.part[0]) == (here.rounds[0] + 1, 0)
    if epoch == 0:
        assert (here.rounds[0], here.part[0]) == (0, 0)


def test_rounds_are_rounded_so_that_their_mean_is_exact() -> None:
    config = MaskingConfig(0.4)
    lengths = [round_of(drawn << 24, 0, config)[2] for drawn in range(256)]
    assert (lengths.count(2), lengths.count(3)) == (128, 128)


def test_validation_is_not_masked_in_turn() -> None:
    assert not MaskingConfig(mask_in_turn=True).for_split("validation").mask_in_turn
    assert MaskingConfig(mask_in_turn=True).for_split("train").mask_in_turn


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"masked_lm_prob": 0.51}, "`mask_in_turn` was given with 0.51 of the tokens predicted"),
        ({"mask_schedule": ("0=0.6", "1=0.1")}, "`mask_in_turn` was given with 0.6 of the tokens predicted"),
        ({"max_predictions_per_seq": 20}, "`max_predictions_per_seq` 20 would leave out positions"),
        ({"mask_smoothing": 0.7}, "`mask_smoothing` 0.7 masks some tokens more often than others"),
    ],
)
def test_settings_that_break_the_turns_are_refused(others: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        MaskingConfig(mask_in_turn=True, **others)
