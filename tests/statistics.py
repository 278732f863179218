"""Bounds for tests on draws, with a stated chance of a false alarm and no table to look up.

The draws of a test are fixed by its seed, so a false alarm is met once, when the test is written, or never. What the
chance bounds is how far a right program may lie from its mean, so a bound of one in 10**9 still finds a small bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import Any

import numpy as np

FALSE_ALARM = 1e-9


def hoeffding(draws: int, false_alarm: float = FALSE_ALARM) -> float:
    """How far the mean of independent draws in [0, 1] lies from its expectation, at most (Hoeffding, 1963).

    10,000 draws: 0.033. So a bias of twice that is found with the same certainty.
    """
    return sqrt(log(2 / false_alarm) / (2 * draws))


def bernstein(draws: int, probability: float, false_alarm: float = FALSE_ALARM) -> float:
    """The same for events of a known probability, tighter where that is small (Bernstein, 1924).

    10,000 draws at 0.02: 0.010.
    """
    x = log(2 / false_alarm) / draws
    return sqrt(2 * probability * (1 - probability) * x) + 2 * x / 3


def chi_square(freedom: int, false_alarm: float = FALSE_ALARM) -> float:
    """A value that a chi-square variable exceeds with at most this chance (Laurent and Massart, 2000, lemma 1)."""
    x = log(1 / false_alarm)
    return freedom + 2 * sqrt(freedom * x) + 2 * x


def assert_uniform(counts: Any, scale: float = 1.0, false_alarm: float = FALSE_ALARM) -> None:
    """Check that counts come from equally likely cells; `scale` corrects for cells drawn without replacement."""
    counts = np.asarray(counts, np.float64)
    expected = counts.mean()
    assert expected >= 50, "too few draws for the chi-square approximation"
    statistic = float(((counts - expected) ** 2).sum() / expected) * scale
    assert statistic < chi_square(counts.size - 1, false_alarm), f"chi-square {statistic:.1f}, {counts.size} cells"


def assert_same_distribution(one: Sequence[Any], other: Sequence[Any], false_alarm: float = 1e-6) -> None:
    """Check two samples by the two-sample Kolmogorov-Smirnov bound, which ties only make safer.

    2 x 5,000 values at one in 10**6: the distribution functions may differ by 0.054.
    """
    first, second = np.sort(one), np.sort(other)
    values = np.union1d(first, second)
    shares = [np.searchsorted(sample, values, side="right") / len(sample) for sample in (first, second)]
    distance = float(np.abs(shares[0] - shares[1]).max())
    bound = sqrt(log(2 / false_alarm) / 2 * (1 / len(first) + 1 / len(second)))
    assert distance < bound, f"the distributions lie {distance:.4f} apart, bound {bound:.4f}"
