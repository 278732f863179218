"""Mask rates by the position in a run: points of a schedule, and the shares between them.

Encoders lower the rate of predicted tokens while they train: GPT-BERT (Charpentier and Samuel 2024) and Chinese
ModernBERT linearly from 0.30 to 0.15, mmBERT in steps of 0.30, 0.15 and 0.05. Rates change in thousandths of the run,
its levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from bertdata.errors import ConfigError

LEVELS = 1000
"""The level of the end of a run; its beginning is level 0."""


class Point(NamedTuple):
    """A point of a schedule: a share of the run, and the shares of predicted, [MASK] and random tokens there."""

    at: float
    predicted: float
    mask: float
    random: float


def parse_points(texts: Sequence[str], mask: float, random: float) -> tuple[Point, ...]:
    """Read points, each AT=RATE or AT=RATE,MASK,RANDOM; `mask` and `random` are the shares of the first form.

    Raises ConfigError for what is not such a point, for shares out of bounds, and where the points do not ascend from
    0.

    >>> parse_points(["0=0.3", "0.5=0.15,1,0"], 0.8, 0.1)
    (Point(at=0.0, predicted=0.3, mask=0.8, random=0.1), Point(at=0.5, predicted=0.15, mask=1.0, random=0.0))
    """
    points = tuple(_point(text, mask, random) for text in texts)
    places = [point.at for point in points]
    if places and (places[0] != 0 or any(later <= earlier for earlier, later in pairwise(places))):
        raise ConfigError(
            f"--mask-schedule {' '.join(texts)} has points at {', '.join(f'{place:g}' for place in places)}; "
            "expected the first at 0 and each later than the one before, as 0=0.30 1=0.15"
        )
    return points


def _point(text: str, mask: float, random: float) -> Point:
    form = "expected AT=RATE or AT=RATE,MASK,RANDOM, as 0=0.30 or 0.9=0.15,1,0"
    place, _, shares = text.partition("=")
    try:
        point = Point(float(place), *map(float, shares.split(","))) if "," in shares else None
        point = point or Point(float(place), float(shares), mask, random)
    except (TypeError, ValueError):
        raise ConfigError(f"--mask-schedule has the point {text!r}; {form}") from None
    for what, wrong, expected in (
        (f"AT {point.at:g}", not 0 <= point.at <= 1, "a share of the run from 0 to 1"),
        (f"the rate {point.predicted:g}", not 0 < point.predicted < 1, "more than 0 and less than 1"),
        (f"MASK {point.mask:g}", not 0 <= point.mask <= 1, "a share from 0 to 1"),
        (f"RANDOM {point.random:g}", not 0 <= point.random <= 1, "a share from 0 to 1"),
        (f"MASK + RANDOM {point.mask + point.random:g}", point.mask + point.random > 1 + 1e-9, "at most 1"),
    ):
        if wrong:
            raise ConfigError(f"--mask-schedule has the point {text!r} with {what}; expected {expected}")
    return point


def shares_at(points: Sequence[Point], shape: str, level: int) -> tuple[float, float, float]:
    """Return the shares of predicted, [MASK] and random tokens at a level, 0 to 1000.

    shape: linear, between the points, as the last one after it; step, those of the last point that is reached.

    >>> points = parse_points(["0=0.3", "0.5=0.1"], 0.8, 0.1)
    >>> [round(shares_at(points, "linear", level)[0], 3) for level in (0, 250, 500, 1000)]
    [0.3, 0.2, 0.1, 0.1]
    >>> [shares_at(points, "step", level)[0] for level in (0, 499, 500)]
    [0.3, 0.3, 0.1]
    """
    place = level / LEVELS
    reached = max(number for number, point in enumerate(points) if point.at <= place)
    before = points[reached]
    if shape == "step" or reached == len(points) - 1:
        return before.predicted, before.mask, before.random
    after = points[reached + 1]
    part = (place - before.at) / (after.at - before.at)
    predicted, mask, random = (a + (b - a) * part for a, b in zip(before[1:], after[1:], strict=True))
    return predicted, mask, random
