"""Rates drawn for each row: their law, how many tokens are masked by them, and the weights that make a bound of losses.

What is compared with is written out here after LLaDA's guidelines and dLLM's trainer, on NumPy's random numbers.
"""

from __future__ import annotations

import math
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bertdata.counter_rng import bits, key
from bertdata.errors import ConfigError
from bertdata.loader.weights import weights_of_rows
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.rate_draws import RATE_DRAWS, row_shares, table_of
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.smoothing import delays
from bertdata.options.option import stored_values
from tests.generated import examples
from tests.masking.masker import CLS, SEP, Rows, assert_masked_as_by_the_reference, mask_rows, masker_of

COUNTS = np.array([0, 9, 1, 2, 0, 10**9, 1, 2, 5, 17, 400, 10**12, 3, 3])
ALL = {"mask_token_prob": 1.0, "random_token_prob": 0.0}
Floats = NDArray[np.float64]


def drawn(draw: str, number: str = "rounded", **others: Any) -> MaskingConfig:
    return MaskingConfig(mask_rate_draw=draw, mask_number=number, **(ALL | others))


def bell(times: Floats) -> Floats:
    """The rates of a normal distribution cut off at 0 and 1, below which shares `times` are, by bisection."""
    low, high = np.zeros_like(times), np.ones_like(times)
    below = np.vectorize(lambda rate: math.erf((rate - 0.5) / 0.25 / math.sqrt(2)))
    for _ in range(50):
        middle = (low + high) / 2
        under = (below(middle) / below(1.0) + 1) / 2 < times
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return (low + high) / 2


LAWS: dict[str, Any] = {
    "uniform": lambda times: times,
    "cosine": lambda times: np.cos(np.pi / 2 * (1 - times)),
    "bell": bell,
    "0.2-0.9": lambda times: 0.2 + 0.7 * times,
}


@pytest.mark.parametrize("draw", LAWS)
def test_rates_follow_the_law_of_their_draw(draw: str) -> None:
    ids = np.arange(3000)
    times = (bits(key(7, "mask rate"), 5, ids) >> np.uint64(32)) / 2**32
    rates = row_shares(draw, 7, ids, 5) / 2**32
    assert np.abs(rates - LAWS[draw](times)).max() < 2e-6
    assert sorted(LAWS) == sorted([*RATE_DRAWS, "0.2-0.9"])


def test_the_tables_are_the_same_on_every_machine() -> None:
    digests = {draw: sha256(table_of(draw).astype("<i8").tobytes()).hexdigest()[:16] for draw in LAWS}
    assert digests == {
        "uniform": "9ed7e293ad381861",
        "cosine": "21a4a502d70ed4f9",
        "bell": "8ef96b6a786ed90b",
        "0.2-0.9": "2ec23f15537f6050",
    }


@settings(deadline=None, max_examples=examples(200))
@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from([CLS, SEP, *range(5, 20)]), max_size=30), st.integers(0, 2**63 - 1)),
        max_size=6,
    ),
    st.sampled_from([*LAWS, "0.001-1"]),
    st.sampled_from(["rounded", "independent"]),
    st.booleans(),
    st.integers(0, 2**40),
)
def test_a_batch_is_what_the_plain_loop_makes_of_each_row(
    rows: Rows, draw: str, number: str, smoothed: bool, epoch: int
) -> None:
    smoothing = 0.7 if smoothed and number == "rounded" else 0.0
    config = drawn(draw, number, mask_smoothing=smoothing)
    assert_masked_as_by_the_reference(rows, config, 3, epoch, delays=delays(COUNTS, [0, 8], 0.7))


def masked_numbers(config: MaskingConfig, rows: int, tokens: int) -> NDArray[np.int64]:
    """Return how many of the tokens of each row are masked, int64 (rows,)."""
    numbers = []
    for begin in range(0, rows, 20_000):
        ids = np.arange(begin, min(begin + 20_000, rows))
        flat = np.full(len(ids) * tokens, 9, np.uint16)
        masker = masker_of(config, 1, delays=delays(COUNTS, [], 0.7))
        masked = masker.mask(flat, np.arange(len(ids) + 1) * tokens, ids, 0, narrow=True)
        numbers.append((masked.labels.reshape(-1, tokens) != IGNORE_INDEX).sum(1))
    return np.concatenate(numbers)


def integral(draw: str, number: str, tokens: int) -> float:
    """Return the mean share that is masked: the integral of the law, of at least one token where it is rounded."""
    first = 0.001 if number == "independent" and draw in RATE_DRAWS else 0.0
    times = first + (1 - first) * (np.arange(20_000) + 0.5) / 20_000
    rates = LAWS[draw](times)
    return float((np.maximum(rates, 1 / tokens) if number == "rounded" else rates).mean())


@pytest.mark.costly
@pytest.mark.parametrize("rows", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("number", ["rounded", "independent", "smoothed"])
@pytest.mark.parametrize("draw", LAWS)
def test_the_mean_share_that_is_masked_is_the_integral_of_the_draw(draw: str, number: str, rows: int) -> None:
    config = drawn(draw, mask_smoothing=0.7) if number == "smoothed" else drawn(draw, number)
    shares = masked_numbers(config, rows, 40) / 40
    expected = integral(draw, config.mask_number, 40)
    assert abs(shares.mean() - expected) < 4.5 * shares.std() / math.sqrt(rows)
    assert number == "independent" or shares.min() >= 1 / 40


def curve(number: NDArray[Any], tokens: int) -> Floats:
    """The mean loss of a masked token where so many are masked, which rises steeply to where all are."""
    height: Floats = 1 + 6 * (number / tokens) ** 3
    return height


@pytest.mark.parametrize("tokens", [1, 2, 9, 40])
@pytest.mark.parametrize("number", ["rounded", "independent"])
@pytest.mark.parametrize("draw", RATE_DRAWS)
def test_the_mean_of_weighted_losses_is_the_bound(draw: str, number: str, tokens: int) -> None:
    """The bound of a row of n tokens is the mean over k = 1 ... n of the mean loss of k masked tokens."""
    rows, config = 40_000, drawn(draw, number)
    predicted = masked_numbers(config, rows, tokens)
    rates = masker_of(config, 1).rates(np.arange(rows), 0)
    weights = weights_of_rows(config, rates, np.full(rows, tokens), predicted).astype(np.float64)
    losses = weights * predicted * curve(predicted, tokens) / tokens
    exact = curve(np.arange(1, tokens + 1), tokens).mean()
    left_out = 0.005 * exact if number == "independent" else 0.0  # at rates of times below 0.001
    assert abs(losses.mean() - exact) < 4.5 * losses.std() / math.sqrt(rows) + left_out + 1e-6


def test_the_weights_of_a_constant_number_of_tokens_have_the_mean_one_exactly() -> None:
    for draw in RATE_DRAWS:
        for tokens in (1, 2, 3, 126, 8190):
            number = np.arange(1, tokens + 1)
            weights = weights_of_rows(drawn(draw), np.full(tokens, 0.5, np.float32), np.full(tokens, tokens), number)
            chances = 1 / (number * weights.astype(np.float64))
            assert abs(chances.sum() - 1) < 1e-5, (draw, tokens)


def test_weights_are_those_of_the_published_code() -> None:
    rng, rows, tokens = np.random.default_rng(0), 200_000, 24
    times = rng.random(rows)
    llada = (1 - 1e-3) * times + 1e-3
    masked = rng.random((rows, tokens)) < llada[:, None]
    theirs = (curve(masked.sum(1), tokens) * masked.sum(1) / llada) / tokens
    config = drawn("uniform", "independent")
    rates = masker_of(config, 1).rates(np.arange(rows), 0)
    number = masked_numbers(config, rows, tokens)
    weights = weights_of_rows(config, rates, np.full(rows, tokens), number)
    some = number > 0
    assert np.array_equal(weights[some], (1 / rates.astype(np.float64)).astype(np.float32)[some])
    ours = weights * curve(number, tokens) * number / tokens
    error = math.hypot(ours.std(), theirs.std()) / math.sqrt(rows)
    assert abs(ours.mean() - theirs.mean()) < 4.5 * error
    assert ours.std() == pytest.approx(theirs.std(), rel=0.05)
    cosine, ids = drawn("cosine", "independent"), np.arange(5000)
    draws = (bits(key(1, "mask rate"), 0, ids) >> np.uint64(32)) / 2**32
    dllm = np.pi / 2 * (1 - (1e-3 + (1 - 1e-3) * draws))  # the angle of its CosineAlphaScheduler
    rates = masker_of(cosine, 1).rates(ids, 0)
    assert np.abs(rates - np.cos(dllm)).max() < 1e-6
    drawn_weights = weights_of_rows(cosine, rates, np.full(5000, 9), np.full(5000, 4))
    assert np.allclose(drawn_weights, np.pi / 2 * np.sin(dllm) / np.cos(dllm), rtol=2e-4, atol=2e-3)


def test_a_row_at_rate_one_has_all_its_tokens_masked_and_a_small_weight() -> None:
    rows: Rows = [([CLS, *range(5, 17), SEP], example) for example in range(50)]
    for number in ("rounded", "independent"):
        config = drawn("0.999999999-1", number)
        masked = mask_rows(rows, config=config)
        assert ((masked.labels.reshape(50, -1) != IGNORE_INDEX).sum(1) == 12).all()
        for draw in (*RATE_DRAWS, "0.2-1"):
            weight = weights_of_rows(drawn(draw, number), np.ones(1, np.float32), np.array([12]), np.array([12]))
            assert 0 <= weight[0] < 9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_predictions_per_seq": 20}, "`max_predictions_per_seq` 20 would cut off the high rates of"),
        ({"mask_in_turn": True}, "`mask_in_turn` masks each position equally often"),
        ({"mask_schedule": ("0=0.3", "1=0.1")}, "`mask_schedule` and `mask_rate_draw` uniform both set the rates"),
        ({"masked_lm_prob": 0.3}, "`masked_lm_prob` 0.3 has no effect with `mask_rate_draw` uniform"),
        ({"mask_unit": "word"}, "`mask_unit` word masks several together"),
        ({"mask_token_prob": 0.8}, "every predicted token is .MASK., and `mask_token_prob` is 0.8"),
        ({"mask_smoothing": 0.5, "mask_number": "independent"}, "`mask_number` independent each by itself"),
        ({"mask_rate_draw": ""}, None),
        ({"mask_rate_draw": "", "mask_number": "independent"}, "no effect without `mask_rate_draw`"),
        ({"mask_rate_draw": "unifrom"}, "`mask_rate_draw` is 'unifrom'; expected uniform, cosine, bell, or two rates"),
        ({"mask_rate_draw": "0.5-0.2"}, "`mask_rate_draw` is '0.5-0.2'"),
        ({"mask_rate_draw": "0-0.2"}, "two rates A-B from 0.001 to 1"),
        ({"mask_rate_draw": "0.5-1.1"}, "two rates A-B from 0.001 to 1"),
        ({"mask_rate_draw": "0.2-nan"}, "two rates A-B from 0.001 to 1"),
        ({"mask_rate_draw": "0.2-0.4", "mask_token_prob": 0.8, "random_token_prob": 0.1}, None),
    ],
)
def test_what_does_not_go_together_is_refused_by_name(settings: dict[str, Any], message: str | None) -> None:
    given_settings = ALL | {"mask_rate_draw": "uniform"} | settings
    if message is None:
        MaskingConfig(**given_settings)
        return
    with pytest.raises(ConfigError, match=message):
        MaskingConfig(**given_settings)


def test_builds_of_before_have_the_same_settings_and_validation_its_own_rate() -> None:
    assert not {"mask_rate_draw", "mask_number"} & set(stored_values(MaskingConfig()))
    config = drawn("cosine", "independent")
    assert config.for_split("validation") == config
    assert (config.mean_rate, config.has_bound) == (2 / math.pi, True)
    own = drawn("bell", "independent", eval_masked_lm_prob=0.15).for_split("validation")
    assert (own.masked_lm_prob, own.mask_rate_draw, own.mask_number, own.has_bound) == (0.15, "", "rounded", False)
    assert not drawn("uniform", mask_smoothing=0.5).has_bound
    assert not drawn("0.2-0.4").has_bound
