"""What rows are trained for: the texts that say it, which rows are causal, and what it does not go with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.training import Training, causal_rows, find_training
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.option import stored_values
from bertdata.shards.pretraining_info import check_masking


def test_texts_say_the_share_of_causal_rows_and_where_labels_are() -> None:
    trainings = {text: find_training(text) for text in ("masked", "masked-next-token", "causal", "0.25")}
    assert trainings == {
        "masked": Training(0.0, shifted=False),
        "masked-next-token": Training(0.0, shifted=True),
        "causal": Training(1.0, shifted=True),
        "0.25": Training(0.25, shifted=True),
    }


@pytest.mark.parametrize("text", ["", "0", "1", "1.5", "-0.5", "nan", "casual", "1/16"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected masked, masked-next-token, causal, or the share of causal rows"):
        MaskingConfig(training=text)


def test_the_default_is_not_stored_so_earlier_builds_stay_valid() -> None:
    assert "training" not in stored_values(MaskingConfig())
    assert stored_values(MaskingConfig(training="causal"))["training"] == "causal"


def test_as_many_rows_are_causal_as_the_share_says_and_others_in_each_epoch_and_seed() -> None:
    ids, epoch = np.arange(200_000), np.zeros(200_000, np.int64)
    first, later, other = (causal_rows(0.1, seed, ids, epoch + number) for seed, number in ((1, 0), (1, 1), (2, 0)))
    for rows in (first, later, other):
        assert rows.mean() == pytest.approx(0.1, abs=0.003)
    for rows in (later, other):
        assert (rows & first).mean() == pytest.approx(0.01, abs=0.002)
    assert causal_rows(0.1, 1, ids[::-1], epoch)[::-1].tolist() == first.tolist()
    assert not (causal_rows(0.05, 1, ids, epoch) & ~first).any()


@pytest.mark.parametrize(
    ("examples", "masking", "message"),
    [
        ({"masking": "static"}, {"training": "causal"}, "was given with `masking` static"),
        ({"masking": "static"}, {"training": "masked-next-token"}, "was given with `masking` static"),
        ({"objective": "nsp"}, {"training": "causal"}, "cannot tell how two segments belong together"),
        ({"objective": "sop"}, {"training": "0.1"}, "take an objective without pairs"),
        ({"objective": "nsp"}, {"training": "masked-next-token"}, None),
        ({}, {"training": "masked"}, None),
    ],
)
def test_static_masks_and_pairs_have_no_causal_rows(
    examples: dict[str, Any], masking: dict[str, Any], message: str | None
) -> None:
    rows = ExamplesConfig(**{"objective": "full-sentences"} | examples)
    if message is None:
        check_masking(rows, MaskingConfig(**masking))
        return
    with pytest.raises(ConfigError, match=message):
        check_masking(rows, MaskingConfig(**masking))


def test_rates_that_are_drawn_have_no_causal_rows_beside_them() -> None:
    drawn: dict[str, Any] = {"mask_rate_draw": "0.1-0.5"}
    assert MaskingConfig(**drawn, training="masked-next-token").trained_for.shifted
    with pytest.raises(ConfigError, match="has rows without any"):
        MaskingConfig(**drawn, training="0.1")
