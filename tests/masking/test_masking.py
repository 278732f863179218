from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bertdata.masking.masked import Masked, count_masked
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.settings import MaskingConfig
from tests.generated import examples
from tests.masking.masker import (
    CLS,
    MASK,
    REPLACEMENTS,
    SEP,
    Rows,
    assert_masked_as_by_the_reference,
    mask_tokens,
    masker_of,
)
from tests.masking.masker import mask_rows as mask
from tests.statistics import assert_uniform, bernstein, chi_square, hoeffding

ORDINARY = range(5, 100)


def equal_rows(ordinary: int, count: int, first_id: int = 0) -> Rows:
    row = [CLS, *(ORDINARY[i % len(ORDINARY)] for i in range(ordinary)), SEP]
    return [(row, first_id + number) for number in range(count)]


def chosen(masked: Masked, width: int) -> NDArray[np.bool_]:
    """Which ordinary tokens are predicted in rows of one width, specials cut off: (rows, width - 2)."""
    predicted: NDArray[np.bool_] = masked.labels != IGNORE_INDEX
    return predicted.reshape(-1, width)[:, 1:-1]


def rows_of_any_shape() -> st.SearchStrategy[Rows]:
    token = st.sampled_from([CLS, SEP, MASK, *ORDINARY, 65535])
    ids = st.integers(0, 2**63 - 1)
    return st.lists(st.tuples(st.lists(token, max_size=30), ids), max_size=8)


def configs() -> st.SearchStrategy[MaskingConfig]:
    return st.builds(
        lambda rate, mask_share, random_share, limit: MaskingConfig(
            rate, mask_share, (1 - mask_share) * random_share, limit
        ),
        st.floats(0.01, 0.99),
        st.floats(0, 1),
        st.floats(0, 1),
        st.integers(0, 6),
    )


@settings(deadline=None, max_examples=examples(150))
@given(rows_of_any_shape(), configs(), st.integers(-5, 2**70), st.integers(0, 2**40))
def test_a_batch_is_what_the_plain_loop_makes_of_each_row(
    rows: Rows, config: MaskingConfig, seed: int, epoch: int
) -> None:
    assert_masked_as_by_the_reference(rows, config, seed, epoch)


def test_an_empty_batch_stays_empty() -> None:
    masked = mask([])
    assert (len(masked.input_ids), len(masked.labels), masked.capped) == (0, 0, 0)


def test_a_row_of_special_tokens_only_stays_as_it_is() -> None:
    masked = mask([([CLS, SEP], 1), ([CLS, 7, SEP], 2), ([], 3)])
    assert masked.labels.tolist() == [IGNORE_INDEX] * 3 + [7, IGNORE_INDEX]
    assert masked.input_ids[:3].tolist() == [CLS, SEP, CLS]


def test_special_tokens_are_never_masked_nor_labelled() -> None:
    rows = [([CLS, 9, 8, SEP, 7, 6, SEP], number) for number in range(2000)]
    masked = mask(rows, config=MaskingConfig(masked_lm_prob=0.99, mask_token_prob=0.5, random_token_prob=0.5))
    ids, labels = masked.input_ids.reshape(-1, 7), masked.labels.reshape(-1, 7)
    for position, token in ((0, CLS), (3, SEP), (6, SEP)):
        assert (ids[:, position] == token).all()
        assert (labels[:, position] == IGNORE_INDEX).all()
    assert (labels[:, [1, 2, 4, 5]] != IGNORE_INDEX).mean() > 0.9


def test_special_tokens_are_known_by_position_not_by_id() -> None:
    ids, special = np.array([CLS, SEP, MASK, SEP]), np.array([True, False, False, True])
    seen = set()
    for example in range(100):
        options: dict[str, Any] = {"config": MaskingConfig(), "seed": 0, "epoch": 0, "mask_token_id": MASK}
        masked = mask_tokens(
            ids, np.array([0, 4]), special, np.array([example]), replacement_ids=REPLACEMENTS, **options
        )
        seen |= set(np.flatnonzero(masked.labels != IGNORE_INDEX).tolist())
    assert seen == {1, 2}


def test_rule_07_padding_is_never_masked_and_does_not_move_the_mask() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 40, 300)
    rows = [([CLS, *rng.integers(5, 100, length).tolist(), SEP], number) for number, length in enumerate(lengths)]
    bare = mask(rows)
    padded = [row + [0] * (50 - len(row)) for row, _ in rows]
    flat = np.array(padded).ravel()
    result = mask_tokens(
        flat,
        np.arange(0, len(flat) + 1, 50),
        np.isin(flat, [0, CLS, SEP]),
        np.arange(300),
        config=MaskingConfig(),
        seed=0,
        epoch=0,
        mask_token_id=MASK,
        replacement_ids=REPLACEMENTS,
    )
    assert (result.input_ids[flat == 0] == 0).all()
    assert (result.labels[flat == 0] == IGNORE_INDEX).all()
    assert result.input_ids[flat != 0].tolist() == bare.input_ids.tolist()
    assert result.labels[flat != 0].tolist() == bare.labels.tolist()


def test_labels_are_the_original_ids_and_all_else_is_unchanged() -> None:
    rows = equal_rows(60, 500)
    original = np.array([token for row, _ in rows for token in row])
    masked = mask(rows)
    predicted = masked.labels != IGNORE_INDEX
    assert (masked.labels[predicted] == original[predicted]).all()
    assert (masked.input_ids[~predicted] == original[~predicted]).all()
    assert masked.input_ids.dtype == masked.labels.dtype == np.int64


@pytest.mark.parametrize("probability", [0.001, 0.15, 0.5, 0.999])
def test_every_row_has_a_prediction_and_none_has_more_than_its_tokens(probability: float) -> None:
    lengths = np.arange(1, 60)
    number, _ = masker_of(MaskingConfig(masked_lm_prob=probability)).number_of_predictions(lengths, lengths * 7, 0)
    assert (number >= 1).all()
    assert (number <= lengths).all()


def test_rule_03_the_mean_number_of_predictions_is_exactly_fifteen_percent() -> None:
    # Each n: the number is one of the two neighbours of 0.15 n, and the share of the upper one its fraction. 40,000
    # draws bound the error by 0.0164 at one false alarm in 10**9; rounding to nearest is off by 0.05 or more for 19 of
    # every 20 lengths.
    draws = 40_000
    for n in range(7, 90):
        number, _ = masker_of(MaskingConfig(), 1).number_of_predictions(np.full(draws, n), np.arange(draws), 0)
        below, fraction = divmod(n * 15, 100)
        assert set(number.tolist()) <= ({below, below + 1} if fraction else {below})
        assert abs(float(number.mean()) - 0.15 * n) < hoeffding(draws)


def test_rows_too_short_for_fifteen_percent_have_one_prediction() -> None:
    for n in range(1, 7):
        number, _ = masker_of(MaskingConfig()).number_of_predictions(np.full(1000, n), np.arange(1000), 0)
        assert set(number.tolist()) == {1}


def test_the_number_of_predictions_of_an_epoch_can_be_told_without_masking() -> None:
    rows = [row for n in range(1, 60) for row in equal_rows(n, 3, first_id=n * 100)]
    config = MaskingConfig(max_predictions_per_seq=5)
    masked = mask(rows, config=config, epoch=3)
    available = np.array([len(row) - 2 for row, _ in rows])
    number, capped = masker_of(config).number_of_predictions(available, np.array([word for _, word in rows]), 3)
    assert int((masked.labels != IGNORE_INDEX).sum()) == int(number.sum())
    assert masked.capped == capped > 0


def test_rule_06_positions_are_drawn_uniformly_and_without_replacement() -> None:
    # 10 tokens at 20% are exactly 2 positions: all 45 pairs are equally likely, 20,000 draws. One false alarm in 10**9;
    # a tie-breaking argsort or a draw with replacement leaves some pairs at half or twice their share.
    masked = mask(equal_rows(10, 20_000), config=MaskingConfig(masked_lm_prob=0.2))
    taken = chosen(masked, 12)
    assert (taken.sum(1) == 2).all()
    pairs = [int((taken[:, i] & taken[:, j]).sum()) for i, j in combinations(range(10), 2)]
    assert_uniform(pairs)


def test_every_position_of_a_long_row_is_as_likely_as_any_other() -> None:
    # 300 tokens at 15% are 45 positions, 4,000 rows: 600 for each position. Without replacement the counts vary less by
    # (1 - 0.15), which `scale` corrects.
    taken = chosen(mask(equal_rows(300, 4000)), 302)
    assert_uniform(taken.sum(0), scale=299 / 300 / 0.85)


def test_a_position_is_masked_whatever_its_neighbours_are() -> None:
    # Two fixed positions out of 100 at exactly 15 predictions: both with probability 15/100 * 14/99, 10,000 rows.
    # Spans, or draws that repeat from one position to the next, would give several times that.
    taken = chosen(mask(equal_rows(100, 10_000)), 102)
    for distance in (1, 2, 3):
        both = (taken[:, 40] & taken[:, 40 + distance]).mean()
        assert abs(both - 0.15 * 14 / 99) < bernstein(10_000, 0.15 * 14 / 99)


def test_rule_05_eighty_percent_become_mask_ten_a_random_token_and_ten_stay() -> None:
    # 60,000 predictions, by token; the replacements are disjoint from the tokens, so each action can be told.
    # Chi-square of 2 degrees of freedom: above 56 once in 10**9; 78/11/11 would give 150 in the mean.
    rows = equal_rows(100, 4000)
    masked = mask(rows)
    original = np.array([token for row, _ in rows for token in row])
    predicted = masked.labels != IGNORE_INDEX
    new, old = masked.input_ids[predicted], original[predicted]
    counts = np.array([(new == MASK).sum(), np.isin(new, REPLACEMENTS).sum(), (new == old).sum()])
    assert counts.sum() == predicted.sum() == 60_000
    expected = np.array([0.8, 0.1, 0.1]) * counts.sum()
    assert ((counts - expected) ** 2 / expected).sum() < chi_square(2)


def test_the_action_does_not_depend_on_the_position_or_the_number() -> None:
    # 80% [MASK] for the first and the last position alike, and for the row's first and second prediction.
    masked = mask(equal_rows(20, 60_000))
    taken = chosen(masked, 22)
    is_mask = (masked.input_ids == MASK).reshape(-1, 22)[:, 1:-1]
    for position in (0, 10, 19):
        count = int(taken[:, position].sum())
        assert abs(is_mask[:, position].sum() / count - 0.8) < hoeffding(count)
    both = taken[:, 0] & taken[:, 1]
    assert abs((is_mask[both][:, 0] & is_mask[both][:, 1]).mean() - 0.64) < hoeffding(int(both.sum()))


def test_random_tokens_are_uniform_over_the_replacements_and_never_special() -> None:
    masked = mask(equal_rows(100, 1000), config=MaskingConfig(mask_token_prob=0, random_token_prob=1))
    new = masked.input_ids[masked.labels != IGNORE_INDEX]
    assert len(new) == 15_000
    assert set(new.tolist()) <= set(REPLACEMENTS.tolist())
    assert_uniform(np.bincount(new - 100, minlength=100))


@pytest.mark.parametrize(("mask_share", "random_share"), [(1, 0), (0, 1), (0, 0)])
def test_the_shares_can_be_all_or_nothing(mask_share: float, random_share: float) -> None:
    rows = equal_rows(40, 100)
    masked = mask(rows, config=MaskingConfig(mask_token_prob=mask_share, random_token_prob=random_share))
    predicted = masked.labels != IGNORE_INDEX
    assert ((masked.input_ids == MASK) == (predicted & bool(mask_share))).all()
    assert (np.isin(masked.input_ids, REPLACEMENTS) == (predicted & bool(random_share))).all()


@settings(deadline=None, max_examples=60)
@given(rows_of_any_shape(), st.randoms(use_true_random=False))
def test_rule_08_a_mask_is_the_same_whatever_the_batching_and_order(rows: Rows, random: Any) -> None:
    def each(batches: list[Rows]) -> list[tuple[int, list[int], list[int]]]:
        batches_of_masks = []
        for batch in batches:
            masked, start = mask(batch, seed=9, epoch=2), 0
            for row, example_id in batch:
                end = start + len(row)
                batches_of_masks.append(
                    (example_id, masked.input_ids[start:end].tolist(), masked.labels[start:end].tolist())
                )
                start = end
        return sorted(batches_of_masks)

    mixed = random.sample(rows, len(rows))
    cut = random.randint(0, len(rows))
    assert each([rows]) == each([[row] for row in rows]) == each([mixed[:cut], mixed[cut:]])


def test_masks_differ_by_epoch_by_example_and_by_seed() -> None:
    # Two independent masks of 15 of 100 share 2.25 positions in the mean; equal ones share 15.
    def positions(**options: Any) -> NDArray[np.bool_]:
        return chosen(mask(equal_rows(100, 2000, options.pop("first_id", 0)), **options), 102)

    base = positions()
    others = [
        positions(epoch=1),
        positions(epoch=2),
        positions(seed=1),
        positions(first_id=10_000),
        np.roll(base, 1, axis=0),
    ]
    for other in others:
        assert not (base == other).all(1).any()
        assert abs((base & other).sum(1).mean() / 15 - 0.15) < hoeffding(2000)


def test_an_epoch_is_no_shift_of_the_example_ids() -> None:
    first = chosen(mask(equal_rows(100, 50), epoch=0), 102)
    for epoch in range(1, 20):
        later = chosen(mask(equal_rows(100, 50), epoch=epoch), 102)
        assert not (first[:, None] == later[None]).all(2).any()


def test_all_tokens_are_predicted_sooner_or_later() -> None:
    seen = np.zeros(20, np.bool_)
    for epoch in range(100):
        seen |= chosen(mask(equal_rows(20, 1), epoch=epoch), 22)[0]
    assert seen.all()


def test_the_limit_on_predictions_is_kept_and_the_rows_where_it_bit_are_counted() -> None:
    rows = equal_rows(100, 30) + equal_rows(20, 50, first_id=500)
    free = mask(rows)
    limited = mask(rows, config=MaskingConfig(max_predictions_per_seq=10))
    assert (free.capped, limited.capped) == (0, 30)
    assert set(chosen(mask(rows[:30]), 102).sum(1).tolist()) == {15}
    predicted = limited.labels != IGNORE_INDEX
    assert set(predicted[: 30 * 102].reshape(30, 102).sum(1).tolist()) == {10}
    assert set(predicted[30 * 102 :].reshape(50, 22).sum(1).tolist()) == {3}
    assert (free.labels[predicted] == limited.labels[predicted]).all()


def test_ids_past_65535_are_masked_and_labelled_unharmed() -> None:
    ids = np.array([CLS, 70_000, 119_546, SEP], np.uint32)
    masked = mask_tokens(
        ids,
        np.array([0, 4]),
        np.isin(ids, [CLS, SEP]),
        np.array([2**63 - 1]),
        config=MaskingConfig(masked_lm_prob=0.9, mask_token_prob=0, random_token_prob=1),
        seed=0,
        epoch=0,
        mask_token_id=MASK,
        replacement_ids=np.array([100_000], np.uint32),
    )
    predicted = masked.labels != IGNORE_INDEX
    assert (masked.labels[predicted] == ids[predicted]).all()
    assert set(masked.input_ids[predicted].tolist()) == {100_000}


@pytest.mark.parametrize("unit", ["token", "word"])
def test_narrow_types_hold_the_same_masks(unit: str) -> None:
    rows = equal_rows(30, 200)
    options = {"config": MaskingConfig(mask_unit=unit, max_predictions_per_seq=4), "continuation": np.arange(40) > 30}
    wide, narrow = mask(rows, **options), mask(rows, narrow=True, **options)
    assert (str(narrow.input_ids.dtype), str(narrow.labels.dtype)) == ("uint16", "int16")
    assert narrow.input_ids.tolist() == wide.input_ids.tolist()
    assert narrow.labels.tolist() == wide.labels.tolist()
    assert narrow.capped == wide.capped


@pytest.mark.parametrize("unit", ["token", "word"])
@pytest.mark.parametrize("narrow", [False, True])
def test_the_predictions_of_each_kind_are_counted(unit: str, narrow: bool) -> None:
    rows, options = equal_rows(30, 200), {"continuation": np.arange(40) > 30, "config": MaskingConfig(mask_unit=unit)}
    masked = mask(rows, narrow=narrow, **options)
    predicted = masked.labels != IGNORE_INDEX
    became, stayed = masked.input_ids[predicted] == MASK, masked.input_ids[predicted] == masked.labels[predicted]
    assert count_masked(masked, MASK) == (predicted.sum(), became.sum(), stayed.sum())


def test_ids_that_narrow_types_do_not_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="expects uint16 up to 32767"):
        mask([([CLS, 40_000, SEP], 1)], narrow=True)
