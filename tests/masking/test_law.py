"""The law of each row: its rates and turns, and masks of a batch whose rows are of several epochs and levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.masking.law import RowLaw, law_of
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.similar_words import SimilarWords
from tests.masking.masker import masker_of

FALLING = ("0=0.4,0.5,0.5", "1=0.1")
IDS = np.array([5, 6, 2**62, 7])
EPOCHS, LEVELS = np.array([0, 9, 3, 2**61]), np.array([0, 1000, 371, 1])
CONFIGS = {
    "constant": MaskingConfig(),
    "schedule": MaskingConfig(mask_schedule=FALLING),
    "drawn": MaskingConfig(mask_rate_draw="0.2-0.8"),
    "independent": MaskingConfig(mask_rate_draw="0.2-0.8", mask_number="independent"),
    "in turn": MaskingConfig(0.3, mask_in_turn=True),
    "in turn by a schedule": MaskingConfig(mask_unit="span", mask_in_turn=True, mask_schedule=FALLING),
    "words": MaskingConfig(0.4, mask_unit="word"),
    "similar words": MaskingConfig(0.5, mask_unit="word", similar_words="table.tsv", replace_unit="unit"),
    "weights": MaskingConfig(0.4, mask_smoothing=0.7),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_law_of_several_rows_is_that_of_each_alone(name: str) -> None:
    config = CONFIGS[name]
    together = law_of(config, 3, IDS, EPOCHS, LEVELS).columns(len(IDS))
    alone = [law_of(config, 3, IDS[[row]], int(EPOCHS[row]), int(LEVELS[row])).columns(1)[0] for row in range(4)]
    assert together.tolist() == [row.tolist() for row in alone]
    assert together.shape == (4, 8 if config.mask_in_turn else 3)


@pytest.mark.parametrize("name", CONFIGS)
def test_rows_of_several_epochs_and_levels_are_masked_as_each_alone(name: str) -> None:
    generator = np.random.default_rng(0)
    ids = generator.integers(5, 60, 4 * 30)
    ids[::30], ids[29::30] = 2, 3
    words = SimilarWords.of({(word,): [(word + 1,), (word + 2,)] for word in range(5, 40, 3)})
    masker = masker_of(
        CONFIGS[name], 3, 4, np.arange(5, 60), np.arange(60) > 45, words, np.arange(60, dtype=np.int64) << 25
    )
    together = masker.mask(ids, np.arange(0, 121, 30), IDS, EPOCHS, levels=LEVELS)
    for row in range(4):
        tokens = slice(30 * row, 30 * row + 30)
        alone = masker.mask(ids[tokens], np.array([0, 30]), IDS[[row]], int(EPOCHS[row]), levels=int(LEVELS[row]))
        assert together.input_ids[tokens].tolist() == alone.input_ids.tolist()
        assert together.labels[tokens].tolist() == alone.labels.tolist()


def test_columns_give_the_law_back() -> None:
    law = law_of(CONFIGS["in turn by a schedule"], 3, IDS, EPOCHS, LEVELS)
    again = RowLaw.of_columns(law.columns(4))
    assert again.in_turn
    assert [column.ravel().tolist() for column in again.turns] == [
        np.broadcast_to(column, 4).tolist() for column in law.turns
    ]
    assert not RowLaw.of_columns(law_of(MaskingConfig(), 3, IDS, EPOCHS).columns(4)).in_turn


def test_a_schedule_without_a_level_is_refused() -> None:
    with pytest.raises(ConfigError, match="give `levels`, 0 at its beginning to 1000 at its end"):
        law_of(CONFIGS["schedule"], 0, IDS, EPOCHS)


@pytest.mark.parametrize("wrong", [{"epochs": np.arange(2)}, {"epochs": 0, "levels": np.arange(3)}])
def test_epochs_and_levels_that_are_not_of_the_rows_are_refused_before_anything_is_read(wrong: dict[str, Any]) -> None:
    masker = masker_of(CONFIGS["schedule" if "levels" in wrong else "constant"])
    with pytest.raises(ValueError, match="epochs or levels and 4 example ids do not go together"):
        masker.mask(np.arange(8), np.arange(0, 9, 2), IDS, **wrong)
