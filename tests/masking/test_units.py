"""Words, n-grams and spans as units of masking; single tokens are in test_masking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.masking import MASK_UNITS
from bertdata.masking.masked import Masked
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.settings import RANDOM_TOKENS, REPLACE_UNITS, MaskingConfig
from bertdata.masking.units import unit_lengths
from tests.generated import examples
from tests.masking.masker import (
    CLS,
    MASK,
    REPLACEMENTS,
    SEP,
    Rows,
    assert_masked_as_by_the_reference,
    mask_rows,
    mask_tokens,
    masker_of,
)
from tests.oracles.masking import draw, join_words, words_of
from tests.statistics import assert_uniform, bernstein, chi_square

WORD, PIECE = 5, 60
CONTINUATION = np.arange(100) >= PIECE


def mask(rows: Rows, unit: str = "word", *, seed: int = 0, epoch: int = 0, **options: Any) -> Masked:
    config = MaskingConfig(mask_unit=unit, **options)
    return mask_rows(rows, config=config, seed=seed, epoch=epoch, continuation=CONTINUATION)


def row_of(*segments: list[int]) -> list[int]:
    """[CLS] and segments, given by the number of tokens of each word."""
    row = [CLS]
    for words in segments:
        row += [token for word in words for token in (WORD, *[PIECE] * (word - 1))] + [SEP]
    return row


def repeated(row: list[int], count: int) -> Rows:
    return [(row, number) for number in range(count)]


def predicted(masked: Masked, width: int) -> NDArray[np.bool_]:
    return np.asarray(masked.labels != IGNORE_INDEX).reshape(-1, width)


def settings_of_any_kind() -> st.SearchStrategy[MaskingConfig]:
    return st.builds(
        lambda rate, limit, unit, replace, ngram, prob, span, drawn: MaskingConfig(
            rate, 0.5, 0.3, limit, unit, replace, ngram, prob, span, drawn
        ),
        st.floats(0.01, 0.99),
        st.integers(0, 6),
        st.sampled_from(list(MASK_UNITS)),
        st.sampled_from(REPLACE_UNITS),
        st.integers(1, 5),
        st.floats(0.05, 0.95),
        st.integers(1, 12),
        st.sampled_from(RANDOM_TOKENS),
    )


@settings(deadline=None, max_examples=examples(400))
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from([CLS, SEP, MASK, WORD, 6, 7, PIECE, PIECE, 61]), max_size=30),
            st.integers(0, 2**63 - 1),
        ),
        max_size=6,
    ),
    settings_of_any_kind(),
    st.integers(-5, 2**70),
    st.integers(0, 2**40),
)
def test_a_batch_is_what_the_plain_loop_makes_of_each_row(
    rows: Rows, config: MaskingConfig, seed: int, epoch: int
) -> None:
    assert_masked_as_by_the_reference(rows, config, seed, epoch, CONTINUATION)


@settings(deadline=None, max_examples=examples(200))
@given(
    st.lists(st.tuples(st.lists(st.sampled_from([CLS, SEP, MASK, 6, PIECE]), max_size=30), st.integers(0, 2**40))),
    settings_of_any_kind(),
    st.integers(0, 2**40),
)
def test_words_are_those_that_flags_of_tokens_tell_whatever_the_ids(
    rows: Rows, config: MaskingConfig, seed: int
) -> None:
    word_starts = np.random.default_rng(seed).random(sum(len(row) for row, _ in rows)) < 0.4
    assert_masked_as_by_the_reference(rows, config, seed, 1, CONTINUATION, word_starts)


def test_flags_of_tokens_and_of_ids_that_tell_the_same_words_give_the_same_masks() -> None:
    rows = repeated(row_of([1, 4, 2, 1, 7, 1], [3, 1, 1]), 200)
    flat = np.array([token for row, _ in rows for token in row])
    config = MaskingConfig(mask_unit="ngram")
    by_flags = mask_rows(rows, config=config, word_starts=~CONTINUATION[flat])
    assert by_flags.labels.tolist() == mask(rows, "ngram").labels.tolist()
    with pytest.raises(ValueError, match="expected a flag for each id"):
        mask_rows(rows, config=config, word_starts=~CONTINUATION[flat[1:]])


def test_of_a_word_all_pieces_are_predicted_or_none() -> None:
    row = row_of([1, 4, 2, 1, 7, 1], [3, 1, 1])
    taken = predicted(mask(repeated(row, 2000)), len(row))
    for start in [place for place, token in enumerate(row) if token == WORD]:
        end = start + 1
        while row[end] == PIECE:
            assert (taken[:, end] == taken[:, start]).all()
            end += 1


@pytest.mark.parametrize(("unit", "longest"), [("word", 9), ("ngram", 4), ("span", 4)])
def test_rule_04_every_token_is_as_likely_as_any_other_whatever_the_length_of_its_word(unit: str, longest: int) -> None:
    # 60 tokens at exactly 15 wanted: each with probability 0.25, 40,000 rows, words of up to 9 pieces, units of up to
    # 12. One false alarm in 10**9: within 0.015. Filling up to 15 and leaving out what does not fit takes a word of
    # nine 0.05 less often.
    long = [longest] * (24 // longest)
    row = row_of([1, *long[1:], 2, 1, 1], [3, 1, long[0], 2, *[1] * (49 - sum(long))])
    taken = predicted(mask(repeated(row, 40_000), unit, masked_lm_prob=0.25, max_span=3, span_prob=0.1), len(row))
    ordinary = [place for place, token in enumerate(row) if token not in (CLS, SEP)]
    assert len(ordinary) == 60
    shares = taken[:, ordinary].mean(0)
    assert abs(shares - 0.25).max() < bernstein(40_000, 0.25)


@pytest.mark.costly
@pytest.mark.parametrize("unit", MASK_UNITS)
def test_the_mean_number_of_predictions_is_exactly_fifteen_percent(unit: str) -> None:
    # Units are taken whole, so a row has more or fewer, but their mean is 0.15 n: 40,000 rows of 84 tokens, 6.1
    # standard errors, one false alarm in 10**9: within 0.1. Ending with a whole unit gives 0.3 too many.
    row = row_of([1, 2, 3, 1, 1, 1, 4, 1, 1, 2, 1, 1, 1, 5, 1, 1, 1, 3, 1, 1, 1, 2, 1, 1], [1] * 46)
    taken = predicted(mask(repeated(row, 40_000), unit, max_span=4), len(row)).sum(1)
    assert len(row) == 3 + 84
    assert taken.min() >= 1
    assert abs(float(taken.mean()) - 0.15 * 84) < 6.1 * float(taken.std()) / 200 < 0.1


@pytest.mark.costly
@pytest.mark.parametrize("unit", MASK_UNITS)
@pytest.mark.parametrize("words", [7, 9, 13, 20, 31, 60])
def test_rule_03_the_mean_is_the_share_in_rows_of_every_length_from_seven_words_on(unit: str, words: int) -> None:
    # Words of 1, 1, 3, 1, 2, 1 pieces in turn, 20,000 rows: 6.1 standard errors, one false alarm in 10**9.
    row = row_of(([1, 1, 3, 1, 2, 1] * words)[: words - 2], [1, 1])
    taken = predicted(mask(repeated(row, 20_000), unit), len(row))
    tokens = len(row) - 3
    total = taken.sum(1)
    assert total.min() >= 1
    assert abs(float(total.mean()) - 0.15 * tokens) < 6.1 * float(total.std()) / 20_000**0.5
    ordinary = [place for place, token in enumerate(row) if token not in (CLS, SEP)]
    assert abs(taken[:, ordinary].mean(0) - 0.15).max() < bernstein(20_000, 0.15)


@pytest.mark.parametrize("unit", ["word", "ngram", "span"])
def test_a_row_of_fewer_words_has_one_predicted_each_with_the_same_chance(unit: str) -> None:
    row = row_of([3, 1], [1, 2, 1])
    taken = predicted(mask(repeated(row, 20_000), unit), len(row))
    starts = [place for place, token in enumerate(row) if token == WORD]
    assert (taken[:, starts].sum(1) == 1).all()
    assert_uniform(taken[:, starts].sum(0))
    assert (taken[:, 1] == taken[:, 3]).all()


def test_a_span_is_no_longer_than_what_is_predicted_of_its_row() -> None:
    row = row_of([1] * 20)
    taken = predicted(mask(repeated(row, 2000), "span", span_prob=0.01), len(row))
    assert 3 <= taken.sum(1).max() <= 6
    for predictions in taken[:300, 1:-1]:
        runs = "".join("x" if prediction else " " for prediction in predictions).split()
        assert max(map(len, runs)) <= 6


@pytest.mark.parametrize("unit", MASK_UNITS)
def test_a_limit_that_applies_is_used_up(unit: str) -> None:
    # 124 tokens, of which 18.6 are wanted, and a limit of 10.
    row = row_of([1, 2, 1, 1, 3, 1, 1, 1] * 6, [1] * 58)
    masked = mask(repeated(row, 4000), unit, max_predictions_per_seq=10)
    taken = predicted(masked, len(row)).sum(1)
    assert taken.max() == 10
    assert taken.mean() > 9.9
    assert masked.capped > 3900


@pytest.mark.parametrize("unit", MASK_UNITS)
def test_a_row_of_one_long_word_still_has_a_prediction(unit: str) -> None:
    taken = predicted(mask(repeated(row_of([20]), 300), unit), 22)
    assert (taken.sum(1) >= 1).all()
    if MASK_UNITS[unit].whole_words:
        assert (taken.sum(1) == 20).all()


def test_a_piece_at_the_start_of_a_segment_does_not_join_the_word_before_it() -> None:
    row = [CLS, WORD, PIECE, SEP, PIECE, PIECE, WORD, SEP]
    special = [token in (CLS, SEP) for token in row]
    words = words_of(special, CONTINUATION[row].tolist())
    assert words == [[1, 2], [4, 5], [6]]
    spans = join_words(words, special, MaskingConfig(mask_unit="span"), 9, lambda place: 2**32 - 1)
    assert spans == [[1, 2], [4, 5, 6]]
    taken = predicted(mask(repeated(row, 3000)), len(row))
    assert (taken[:, 4] == taken[:, 5]).all()
    assert (taken[:, 2] != taken[:, 4]).mean() > 0.5


def test_n_grams_of_tokens_do_not_depend_on_words() -> None:
    row = row_of([4] * 15)
    taken = predicted(mask(repeated(row, 500), "token-ngram", ngram_weights=("0", "0", "1")), len(row))[:, 1:-1]
    triples = taken.reshape(-1, 3)
    assert (triples.all(1) == triples.any(1)).all()
    assert abs(triples.mean() - 0.15) < bernstein(len(triples), 0.15)


@pytest.mark.parametrize("unit", ["ngram", "span"])
def test_a_unit_never_crosses_a_special_token(unit: str) -> None:
    # Every unit has three words or ten; the last of A and the first of B are taken together no more often than two
    # independent events of 0.3.
    row = row_of([1] * 10, [1] * 10)
    taken = predicted(
        mask(repeated(row, 20_000), unit, masked_lm_prob=0.3, max_ngram=3, span_prob=0.01, max_span=3), len(row)
    )
    together = (taken[:, 10] & taken[:, 12]).mean()
    assert together < 0.3 * 0.3 + bernstein(20_000, 0.09)
    assert (taken[:, 1] & taken[:, 2]).mean() > 0.15


@pytest.mark.costly
@pytest.mark.parametrize(
    ("unit", "options", "chances"),
    [
        ("ngram", {}, [6 / 11, 3 / 11, 2 / 11]),
        ("ngram", {"max_ngram": 1}, [1.0]),
        ("span", {"max_span": 4}, [0.2, 0.16, 0.128, 0.1024]),
    ],
)
def test_lengths_of_units_follow_the_papers(unit: str, options: dict[str, Any], chances: list[float]) -> None:
    # ALBERT section 3.1: n with weight 1/n; SpanBERT section 3.1: geometric, cut at the longest. 20,000 first units of
    # long rows: chi-square, one false alarm in 10**9.
    config = MaskingConfig(mask_unit=unit, **options)
    expected = np.array(chances) / sum(chances)
    assert unit_lengths(config) == pytest.approx(expected.tolist())
    counts = np.zeros(len(chances), np.int64)
    for number in range(1000):
        row = row_of([1] * 60)
        special = [token in (CLS, SEP) for token in row]
        units = join_words(
            words_of(special, CONTINUATION[row].tolist()),
            special,
            config,
            9,
            lambda place, number=number: draw(0, "mask length", 0, number, place) >> 32,  # type: ignore[misc]
        )
        counts += np.bincount([len(unit) for unit in units[:-1]], minlength=len(chances) + 1)[1:]
    wanted = expected * counts.sum()
    assert counts.sum() > 15_000
    assert ((counts - wanted) ** 2 / wanted).sum() < chi_square(max(1, len(chances) - 1))


def test_eighty_percent_is_drawn_for_each_token_or_once_for_a_unit_as_asked() -> None:
    # A word of two pieces: both [MASK] with 0.64 by token, 0.8 by unit; 10,000 and more words.
    row = row_of([2] * 10)
    for replace, chance in (("token", 0.64), ("unit", 0.8)):
        masked = mask(repeated(row, 6000), masked_lm_prob=0.2, replace_unit=replace)
        taken = predicted(masked, len(row))[:, 1:-1].reshape(-1, 2)
        shown = (masked.input_ids == MASK).reshape(-1, len(row))[:, 1:-1].reshape(-1, 2)
        words = shown[taken[:, 0]]
        assert len(words) > 10_000
        assert abs(words.all(1).mean() - chance) < bernstein(len(words), chance)
        assert abs(words[:, 0].mean() - 0.8) < bernstein(len(words), 0.8)
        if replace == "unit":
            assert (words[:, 0] == words[:, 1]).all()


def test_random_tokens_of_a_unit_are_drawn_one_by_one() -> None:
    rows = repeated(row_of([2] * 10), 20_000)
    masked = mask(rows, mask_token_prob=0, random_token_prob=1, replace_unit="unit")
    new = masked.input_ids[masked.labels != IGNORE_INDEX].reshape(-1, 2)
    assert_uniform(np.bincount((new - 100).ravel(), minlength=100))
    assert abs((new[:, 0] == new[:, 1]).mean() - 0.01) < bernstein(len(new), 0.01)


def test_the_generator_of_electra_has_eighty_five_percent_masks_and_no_random_words() -> None:
    # ELECTRA's released code: 85% [MASK], 15% unchanged. 30,000 predictions.
    row = row_of([1] * 100)
    masked = mask(repeated(row, 2000), "token", mask_token_prob=0.85, random_token_prob=0.0)
    taken = masked.labels != IGNORE_INDEX
    assert taken.sum() == 30_000
    assert abs((masked.input_ids[taken] == MASK).mean() - 0.85) < bernstein(30_000, 0.85)
    assert set(masked.input_ids[taken].tolist()) == {MASK, WORD}


@pytest.mark.parametrize("unit", MASK_UNITS)
def test_the_limit_on_predictions_is_kept_by_all_units_and_counted(unit: str) -> None:
    row = row_of([1, 3, 2, 1, 9, 1, 1], [4, 1, 1, 12, 1, 1, 2])
    for limit in (1, 2, 5, 8):
        masked = mask(repeated(row, 500), unit, masked_lm_prob=0.3, max_predictions_per_seq=limit)
        taken = predicted(masked, len(row)).sum(1)
        assert (taken >= 1).all()
        assert int(taken.max()) <= limit
        assert masked.capped > 0
    free = mask(repeated(row, 500), unit, masked_lm_prob=0.3, max_predictions_per_seq=40)
    assert free.capped == 0
    assert (free.labels == mask(repeated(row, 500), unit, masked_lm_prob=0.3).labels).all()


@pytest.mark.parametrize("unit", MASK_UNITS)
def test_predictions_can_be_counted_without_the_masks(unit: str) -> None:
    rows = [(row_of([1 + (n * i) % 4 for i in range(1, 9 + n)], [2, 1]), n * 31) for n in range(200)]
    flat = np.array([token for row, _ in rows for token in row])
    masker = masker_of(MaskingConfig(mask_unit=unit, max_predictions_per_seq=4), 3, continuation=CONTINUATION)
    counted = masker.count(
        flat, np.cumsum([0, *(len(row) for row, _ in rows)]), np.array([word for _, word in rows]), 2
    )
    masked = mask(rows, unit, seed=3, epoch=2, max_predictions_per_seq=4)
    assert counted == (int((masked.labels != IGNORE_INDEX).sum()), masked.capped)


def test_random_tokens_of_the_whole_vocabulary_are_an_option() -> None:
    # BERT's code draws any id, special ones too: 15,000 of 100 ids, chi-square.
    rows = repeated(row_of([1] * 100), 1000)
    masked = mask(rows, "token", mask_token_prob=0, random_token_prob=1, random_tokens="vocabulary")
    new = masked.input_ids[masked.labels != IGNORE_INDEX]
    assert len(new) == 15_000
    assert_uniform(np.bincount(new, minlength=len(CONTINUATION)))


def test_words_cannot_be_masked_where_nobody_says_which_pieces_continue_one() -> None:
    rows: Rows = [([CLS, 5, SEP], 1)]
    with pytest.raises(
        ConfigError, match=r"`mask_unit` word needs to know where words begin: .* take `mask_unit` token"
    ):
        mask_rows(rows, config=MaskingConfig(mask_unit="word"))
    with pytest.raises(ConfigError, match="give the Masker `vocab_size`"):
        mask_rows(rows, config=MaskingConfig(random_tokens="vocabulary"))


def test_a_vocabulary_without_ordinary_ids_cannot_give_random_tokens() -> None:
    with pytest.raises(ConfigError, match="`random_token_prob` 0"):
        mask_rows([([CLS, 5, SEP], 1)], replacement_ids=np.zeros(0, np.int64))


@pytest.mark.parametrize("offsets", [[0, 4], [0, 2, 1], [-1, 3], [0], [0, 1, 2, 3]])
def test_arrays_that_do_not_go_together_are_refused_before_anything_is_read(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="do not go together"):
        mask_tokens(
            np.array([CLS, 5, SEP]),
            np.array(offsets),
            np.array([True, False, True]),
            np.arange(2 if len(offsets) == 3 else 1),
            config=MaskingConfig(),
            seed=0,
            epoch=0,
            mask_token_id=MASK,
            replacement_ids=REPLACEMENTS,
        )
