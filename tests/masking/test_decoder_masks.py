"""Second masks for a decoder, against the plain loop, torch's masks, and what is asked of their shares."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from bertdata.counter_rng import key
from bertdata.errors import ConfigError
from bertdata.masking.decoder_masks import SETS, DecoderMasker
from bertdata.masking.law import RowLaw
from bertdata.masking.settings import MaskingConfig
from bertdata.torch.data.gpu_masking import mask_tokens
from tests.masking.masker import masker_of
from tests.oracles.masking import draw, mask_row

LENGTHS = (7, 40, 3, 1, 2)
EXAMPLES, EPOCHS = np.array([5, 2**62, 9, 1, 0]), np.array([0, 3, 2**62 + 11, 1, 1])


def rows_of(seed: int = 0) -> tuple[Any, Any, Any]:
    """Return flat ids, offsets, and which ids of the vocabulary continue a word; each row is in [CLS] and [SEP]."""
    generator = np.random.default_rng(seed)
    rows = [np.concatenate([[2], generator.integers(10, 90, length), [3]]) for length in LENGTHS]
    return np.concatenate(rows), np.cumsum([0, *map(len, rows)]), np.arange(90) % 3 == 0


@pytest.mark.parametrize("unit", ["token", "word", "span"])
def test_each_set_is_the_mask_that_a_plain_loop_draws_in_an_epoch_of_its_own(unit: str) -> None:
    ids, offsets, continuation = rows_of()
    schedule: dict[str, Any] = {"mask_schedule": ("0=0.3", "1=0.1"), "max_predictions_per_seq": 2}
    first = masker_of(MaskingConfig(mask_unit=unit, **schedule), seed=8, continuation=continuation)
    hidden = DecoderMasker.of(first, 0.6).hidden(ids, offsets, EXAMPLES, EPOCHS)
    assert hidden.shape == (SETS, len(ids))
    config = MaskingConfig(0.6, 1.0, 0.0, mask_unit=unit)
    for row, (begin, end) in enumerate(pairwise(offsets)):
        for number in (0, 1, SETS - 1):
            _, labels, _ = mask_row(
                ids[begin:end].tolist(),
                [place in (0, end - begin - 1) for place in range(end - begin)],
                int(EXAMPLES[row]),
                config=config,
                seed=key(8, "decoder mask"),
                epoch=(int(EPOCHS[row]) * SETS + number) % 2**64,
                mask_token_id=4,
                replacement_ids=[],
                continuation=continuation.tolist(),
            )
            assert hidden[number, begin:end].tolist() == [label != -100 for label in labels]


def test_torch_hides_the_same_tokens() -> None:
    ids, offsets, _ = rows_of()
    masker = DecoderMasker.of(masker_of(MaskingConfig(), seed=3), 0.5)
    hidden = masker.hidden(ids, offsets, EXAMPLES, EPOCHS)
    for row, (begin, end) in enumerate(pairwise(offsets)):
        of_row = torch.from_numpy(ids[begin:end].astype(np.int64)).expand(SETS, -1)
        example = np.full(SETS, EXAMPLES[row])
        epochs = EPOCHS[row : row + 1] * SETS + np.arange(SETS)
        law = RowLaw.of_columns(torch.from_numpy(masker.masker.law(example, epochs).columns(SETS)))
        special = (of_row == 2) | (of_row == 3)
        drawn_by = (torch.from_numpy(example), torch.from_numpy(epochs), masker.masker, law)
        _, labels = mask_tokens(of_row, special, *drawn_by)
        assert np.array_equal((labels != -100).numpy(), hidden[:, begin:end])


def test_a_position_takes_a_set_by_a_draw() -> None:
    masker = DecoderMasker.of(masker_of(MaskingConfig(), seed=3), 0.5)
    sets = masker.sets(EXAMPLES, EPOCHS, 300)
    for row, place in ((0, 0), (1, 299), (2, 7)):
        drawn = draw(key(3, "decoder mask"), "decoder set", int(EPOCHS[row]), int(EXAMPLES[row]), place)
        assert sets[row, place] == drawn >> 57
    assert (sets.min(), sets.max()) == (0, SETS - 1)


def test_the_share_is_that_asked_for_and_rows_epochs_sets_and_both_masks_differ() -> None:
    ids = np.tile(np.concatenate([[2], np.arange(10, 70), [3]]), 40)
    offsets, examples = np.arange(0, 62 * 41, 62), np.arange(40)
    first = masker_of(MaskingConfig(), seed=1)
    masker = DecoderMasker.of(first, 0.7)
    hidden, later = (masker.hidden(ids, offsets, examples, np.full(40, epoch)) for epoch in (0, 1))
    assert hidden.sum() == 40 * SETS * 42  # 60 tokens at 0.7
    rows = hidden.reshape(SETS * 40, 62)
    assert len({row.tobytes() for row in [*rows, *later.reshape(-1, 62)]}) == 2 * SETS * 40
    assert not rows[:, [0, 61]].any()
    of_encoder = masker_of(MaskingConfig(0.7), seed=1).mask(ids, offsets, examples, 0).labels != -100
    assert not any(np.array_equal(of_encoder, mask) for mask in hidden)
    alone = masker.hidden(ids[62:124], np.array([0, 62]), examples[1:2], np.zeros(1, np.int64))
    assert np.array_equal(alone, hidden[:, 62:124])


@pytest.mark.parametrize("rate", [1.0, -0.5, 50])
def test_a_share_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(ConfigError, match=r"decoder_masks is .*; expected the share of tokens"):
        DecoderMasker.of(masker_of(MaskingConfig()), rate)
