"""Schedules of mask rates: what is at each point of the run, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.masking.masking import Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.option import stored_values
from bertdata.shards.pretraining_info import check_masking

FALLING = ("0=0.30", "0.5=0.15", "0.9=0.05,1,0")


@pytest.mark.parametrize(
    ("shape", "rates"),
    [
        ("linear", {0: 0.3, 250: 0.225, 500: 0.15, 700: 0.1, 900: 0.05, 1000: 0.05}),
        ("step", {0: 0.3, 499: 0.3, 500: 0.15, 899: 0.15, 900: 0.05, 1000: 0.05}),
    ],
)
def test_the_rate_is_that_of_the_points_and_of_the_last_one_after_it(shape: str, rates: dict[int, float]) -> None:
    config = MaskingConfig(mask_schedule=FALLING, mask_schedule_shape=shape)
    assert {level: round(config.at(level).masked_lm_prob, 9) for level in rates} == rates
    assert (config.at(0).mask_token_prob, config.at(0).random_token_prob) == (0.8, 0.1)
    assert (config.at(900).mask_token_prob, config.at(900).random_token_prob) == (1.0, 0.0)
    between = config.at(700)
    assert (between.mask_token_prob, between.random_token_prob) == pytest.approx(
        (0.9, 0.05) if shape == "linear" else (0.8, 0.1)
    )


def test_a_point_may_replace_each_predicted_token_by_a_random_one() -> None:
    config = MaskingConfig(mask_schedule=("0=0.3,0,1",)).at(0)
    assert (config.mask_token_prob, config.random_token_prob) == (0.0, 1.0)


def test_validation_has_its_own_rate_or_that_of_the_end_of_the_run() -> None:
    config = MaskingConfig(mask_schedule=FALLING)
    assert config.for_split("train") is config
    assert config.for_split("validation") == config.at(1000)
    own = MaskingConfig(mask_schedule=FALLING, eval_masked_lm_prob=0.15).for_split("validation")
    assert (own.masked_lm_prob, own.mask_token_prob, own.mask_schedule) == (0.15, 1.0, ())
    assert MaskingConfig(masked_lm_prob=0.3, eval_masked_lm_prob=0.15).for_split("validation").masked_lm_prob == 0.15
    assert MaskingConfig(masked_lm_prob=0.3).for_split("validation").masked_lm_prob == 0.3


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"mask_schedule": ("0.1=0.3",)}, "the first at 0"),
        ({"mask_schedule": ("0=0.3", "0=0.2")}, "later than the one before"),
        ({"mask_schedule": ("0=0.3", "0.6=0.2", "0.5=0.1")}, "later than the one before"),
        ({"mask_schedule": ("0=0.3", "1.5=0.2")}, "AT 1.5; expected a share of the run from 0 to 1"),
        ({"mask_schedule": ("0=1",)}, "the rate 1; expected more than 0 and less than 1"),
        ({"mask_schedule": ("0=0",)}, "the rate 0; expected"),
        ({"mask_schedule": ("0=0.3,0.8,0.3",)}, r"MASK \+ RANDOM 1.1; expected at most 1"),
        ({"mask_schedule": ("0=0.3,1.2,0",)}, "MASK 1.2; expected"),
        ({"mask_schedule": ("0=0.3,0.8",)}, "expected AT=RATE or AT=RATE,MASK,RANDOM"),
        ({"mask_schedule": ("0:0.3",)}, "expected AT=RATE"),
        ({"mask_schedule": ("0=nan",)}, "the rate nan"),
        ({"mask_schedule_shape": "step"}, "no effect without `mask_schedule`"),
        ({"mask_schedule": ("0=0.3",), "masked_lm_prob": 0.2}, "`masked_lm_prob` 0.2 has no effect"),
        ({"mask_schedule": ("0=0.3,1,0",), "mask_token_prob": 0.7}, "each point of `mask_schedule` has its own"),
        ({"eval_masked_lm_prob": 1.0}, "`eval_masked_lm_prob` is 1.0"),
    ],
)
def test_what_is_not_a_schedule_is_refused_with_the_reason(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        MaskingConfig(**settings)


def test_static_masks_have_no_schedule() -> None:
    with pytest.raises(ConfigError, match="`masking` static, whose masks are written once"):
        check_masking(ExamplesConfig(masking="static"), MaskingConfig(mask_schedule=FALLING))


def test_settings_without_a_schedule_are_stored_as_before() -> None:
    assert not {"mask_schedule", "mask_schedule_shape", "eval_masked_lm_prob"} & set(stored_values(MaskingConfig()))


def test_a_masker_draws_at_a_level_what_a_constant_rate_draws_and_nothing_without_a_level() -> None:
    config = MaskingConfig(mask_schedule=FALLING)
    masker = Masker(config, 0, 2, 3, 4, np.arange(5, 100))
    ids, offsets, rows = np.tile(np.arange(10, 90), 50), np.arange(0, 4001, 80), np.arange(50)
    constant = Masker(MaskingConfig(masked_lm_prob=0.15), 0, 2, 3, 4, np.arange(5, 100))
    of_level, expected = masker.mask(ids, offsets, rows, 1, levels=500), constant.mask(ids, offsets, rows, 1)
    assert of_level.input_ids.tolist() == expected.input_ids.tolist()
    for call in (masker.mask, masker.count):
        with pytest.raises(ConfigError, match="the position is not known"):
            call(ids, offsets, rows, 1)
