"""Mask rates that are drawn for each row and epoch, as masked diffusion draws them, and the weights of its loss.

MDLM (Sahoo et al. 2024) and LLaDA (Nie et al. 2025) draw a time t for each row, uniform from 0 to 1, and mask each of
its tokens with the probability 1 - alpha(t), the rate. The loss of a masked token is weighted by alpha'(t) /
(1 - alpha(t)); divided by the tokens that can be masked, its mean is an upper bound of the negative log-likelihood of a
token (NELBO). Here the rate is a function `rate(t)`, so the weight is its slope over the rate: 1 / (rate * density of
the rate).

t is a draw of 32 bits, by the hash that masks are drawn by, with a key of its own. `rate(t)` is read from a table of
4,096 pieces and interpolated in whole numbers, so that every device has the same rates; it is less than 0.000002 from
the function. A table is computed with 24 digits, so every machine has the same one.

How many tokens of a row are masked at its rate r is `mask_number`:

- rounded: n r, rounded up or down by a draw, of the n tokens that can be masked, and at least one. The weight is
  1 / (k P(k)), where P(k) is the probability of k masked tokens, whatever the rate: this is the mean of the published
  weight over the rates that give k. The bound is the mean over k = 1 ... n of the mean loss of k masked tokens, so it
  is met exactly: the at least one token of rows with a rate below 1 / n, and the n that half as many rates give as
  other numbers, are in P(k).
- independent: each token by itself with the probability r, so a row may have none. t begins at 0.001, as in LLaDA's and
  dLLM's code, since weights grow without end towards 0: the bound is of rates from there on.

Rates A to B cover a part of the bound only. Their weight is 1 / r, or n / k for rounded numbers: the loss is then the
mean over rates of the mean loss of a masked token.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Floats, Ints
from bertdata.counter_rng import bits, key
from bertdata.errors import ConfigError

PURPOSE = "mask rate"
PIECES, PART_BITS = 1 << 12, 20
"""The pieces of a table, and the bits of a draw that say where in a piece it is."""
FIRST = 4294967
"""The time at which independent masks begin, 0.001 in units of 2**-32."""
LEAST = 0.001
"""The lowest A of rates from A to B."""
MEAN, DEVIATION = Decimal("0.5"), Decimal("0.25")
"""Of the normal distribution of `bell`, cut off at 0 and 1."""
_BELL = NormalDist(float(MEAN), float(DEVIATION))
_DIGITS = 24
_EPSILON = Decimal(10) ** -22


@dataclass(frozen=True)
class RateDraw:
    """A way to draw rates.

    rate: the rate at a time from 0 to 1, to 20 digits. slope: that of the rate over time where it has some rates,
    float64 (E,). below: the integral of the probability of a rate below x, from 0 to some x, float64 (E,); None where
    the rates are not 0 to 1, so that there is no bound. mean: of the rates. help: for messages and docs.
    """

    rate: Callable[[Decimal], Decimal]
    slope: Callable[[Floats], Floats]
    below: Callable[[Floats], Floats] | None
    mean: float
    help: str


def _sine(turn: Decimal) -> Decimal:
    """Return the sine of a share of a right angle, from 0 to 1."""
    angle = turn * Decimal("1.57079632679489661923132169164")
    term = total = angle
    place = 1
    while abs(term) > _EPSILON:
        term *= -angle * angle / ((place + 1) * (place + 2))
        total, place = total + term, place + 2
    return total


def _normal(deviations: Decimal) -> tuple[Decimal, Decimal]:
    """Return the density of the standard normal distribution, and its probability between 0 and a number."""
    square = deviations * deviations
    density = (-square / 2).exp() / Decimal("2.50662827463100050241576528481")
    term = total = deviations
    place = 1
    while abs(term) > _EPSILON:
        term *= square / (place + 2)
        total, place = total + term, place + 2
    return density, density * total


def _bell(time: Decimal) -> Decimal:
    """Return the rate of `bell` below which a share `time` of its rates is, by Newton's method from a near number."""
    if time in (0, 1):
        return time
    wanted = (2 * time - 1) * _normal_half()
    place = Decimal(NormalDist().inv_cdf(0.5 + float(wanted)))
    density, share = _normal(place)
    return MEAN + DEVIATION * (place - (share - wanted) / density)


@lru_cache(maxsize=1)
def _normal_half() -> Decimal:
    """Return the probability of the normal distribution of `bell` between 0.5 and 1."""
    return _normal(MEAN / DEVIATION)[1]


def _bell_slope(rates: Floats) -> Floats:
    deviations = (rates - _BELL.mean) / _BELL.stdev
    density = np.exp(-(deviations**2) / 2) / (_BELL.stdev * math.sqrt(2 * math.pi))
    slope: Floats = (_BELL.cdf(1) - _BELL.cdf(0)) / density
    return slope


def _bell_below(rates: Floats) -> Floats:
    def antiderivative(x: Any) -> Any:
        deviations = (x - _BELL.mean) / _BELL.stdev
        share = 0.5 * (1 + _erf(deviations / math.sqrt(2)).astype(np.float64))
        return _BELL.stdev * (deviations * share + np.exp(-(deviations**2) / 2) / math.sqrt(2 * math.pi))

    start = np.zeros(1)
    below: Floats = (antiderivative(rates) - antiderivative(start) - _BELL.cdf(0) * rates) / (
        _BELL.cdf(1) - _BELL.cdf(0)
    )
    return below


_erf = np.frompyfunc(math.erf, 1, 1)
UNIFORM = RateDraw(
    lambda time: time, np.ones_like, lambda rates: rates**2 / 2, 0.5, "from 0 to 1, each equally often (LLaDA)"
)
COSINE = RateDraw(
    _sine,
    lambda rates: math.pi / 2 * np.sqrt(np.maximum(1 - rates**2, 0)),
    lambda rates: 2 / math.pi * (rates * np.arcsin(rates) + np.sqrt(np.maximum(1 - rates**2, 0)) - 1),
    2 / math.pi,
    "cos(pi / 2 (1 - t)) of a uniform t, more often high ones (MDLM, dLLM)",
)
BELL = RateDraw(_bell, _bell_slope, _bell_below, 0.5, "normal around 0.5, deviation 0.25, cut off at 0 and 1")
RATE_DRAWS = {"uniform": UNIFORM, "cosine": COSINE, "bell": BELL}
"""What `--mask-rate-draw` names; A-B is rates from A to B."""


@lru_cache(maxsize=64)
def find_draw(text: str) -> RateDraw:
    """Return the draw that a setting names; raises ConfigError for another text.

    >>> find_draw("cosine").mean, find_draw("0.1-0.5").mean
    (0.6366197723675814, 0.3)
    """
    if text in RATE_DRAWS:
        return RATE_DRAWS[text]
    low, _, high = text.partition("-")
    try:
        first, last = Decimal(low), Decimal(high)
        right = Decimal(str(LEAST)) <= first < last <= 1
    except ArithmeticError:
        right = False
    if not right:
        raise ConfigError(
            f"--mask-rate-draw is {text!r}; expected {', '.join(RATE_DRAWS)}, or two rates A-B from {LEAST} to 1, as "
            "0.15-0.45"
        )
    return RateDraw(lambda time: first + (last - first) * time, np.ones_like, None, float(first + last) / 2, text)


@lru_cache(maxsize=16)
def table_of(text: str) -> Ints:
    """Return the rates of a draw at 4,097 times from 0 to 1, in units of 2**-32, int64 (4097,).

    >>> (table_of("uniform")[[0, 2048, 4096]] / 2**32).tolist()
    [0.0, 0.5, 1.0]
    """
    draw = find_draw(text)
    with localcontext(prec=_DIGITS):
        rates = [draw.rate(Decimal(piece) / PIECES) for piece in range(PIECES + 1)]
        return np.array([int((rate * 2**32).to_integral_value()) for rate in rates], np.int64)


def row_shares(draw: str, seed: int, example_ids: Ints, epochs: int | Ints, *, independent: bool = False) -> Ints:
    """Return the rate of each row in units of 2**-32, int64 (E,), by the ids of the examples and their epochs.

    independent: whether each token is masked by itself.
    """
    times = bits(key(seed, PURPOSE), epochs, example_ids) >> np.uint64(32)
    if independent and covers_all(draw):
        times = FIRST + ((times * np.uint64((1 << 32) - FIRST)) >> np.uint64(32))
    table, times = table_of(draw), times.astype(np.int64)
    piece, part = times >> PART_BITS, times & ((1 << PART_BITS) - 1)
    shares: Ints = table[piece] + ((table[piece + 1] - table[piece]) * part >> PART_BITS)
    return shares


def rates_of(shares: Ints) -> NDArray[np.float32]:
    """Return rates in units of 2**-32 as a batch and a column have them, float32."""
    return (shares / 2**32).astype(np.float32)


def covers_all(draw: str) -> bool:
    """Tell whether rates are drawn from 0 to 1, so that the weighted loss is a bound of the likelihood."""
    return bool(draw) and find_draw(draw).below is not None


def loss_weights(
    draw: str, rates: NDArray[np.float32], maskable: Ints, predicted: Ints, *, independent: bool = False
) -> NDArray[np.float32]:
    """Return the weight of the loss of each masked token of some rows, float32 (E,), 0 for a row without any.

    draw: what `--mask-rate-draw` names; rates: of the rows, float32 (E,); maskable: their tokens that are not special,
    predicted: those that are masked, int64 (E,); independent: whether each token is masked by itself. The sum of
    weighted losses over many rows, divided by that of `maskable`, is the bound, or for rates A to B the mean loss of a
    masked token.

    >>> rates, four = np.array([0.1, 0.5, 1], np.float32), np.array([4, 4, 4])
    >>> loss_weights("uniform", rates, four, np.array([1, 2, 4])).tolist()
    [2.6666667461395264, 2.0, 2.0]
    """
    law, some = find_draw(draw), predicted > 0
    if independent:
        exact = np.maximum(rates.astype(np.float64), 2.0**-32)
        weights = law.slope(exact) / exact
    else:
        number = np.maximum(predicted, 1)
        chances = _chances(law, np.maximum(maskable, 1), number) if law.below else 1 / np.maximum(maskable, 1)
        weights = 1 / (number * chances)
    return np.where(some, weights, 0).astype(np.float32)


def _chances(draw: RateDraw, maskable: Ints, predicted: Ints) -> Floats:
    """Return the chance of `predicted` tokens in a row of `maskable`, where the number is rounded, float64 (E,).

    A number k is that of the rates between (k - 1) / n and (k + 1) / n, with a chance that falls evenly on both sides
    of k / n; 0 becomes 1.
    """
    assert draw.below is not None
    step = 1 / maskable
    before, at = draw.below((predicted - 1) * step), draw.below(predicted * step)
    after = draw.below(np.minimum(predicted + 1, maskable) * step)
    last = predicted == maskable
    chances = np.where(last, step - (at - before), after - 2 * at + before) * maskable
    return np.where(predicted == 1, chances + maskable * draw.below(step), chances)
