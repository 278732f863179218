"""The learning rate over a run: linear warm-up to its peak, then one of `SCHEDULES`, named as in transformers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from bertdata.torch.training import SCHEDULES

DECAYS: dict[str, Callable[[float], float]] = {
    "linear": lambda remaining: remaining,
    "cosine": lambda remaining: (1 - math.cos(math.pi * remaining)) / 2,
    "1-sqrt": lambda remaining: 1 - math.sqrt(1 - remaining),
}
"""How the rate falls from 1 to 0, as functions of the share of the decay that is left, 1 at its beginning."""


@dataclass(frozen=True)
class Schedule:
    """A shape of the learning rate: from which step on it falls, and how.

    begin: of (steps, steps of warm-up, decay_ratio), the step from which on it falls. decay: a name of `DECAYS`; "" for
    that of the settings.
    """

    help: str
    begin: Callable[[int, int, float], int]
    decay: str = ""


LINEAR = Schedule("falls linearly to the end", lambda steps, rising, share: rising, "linear")
COSINE = Schedule("falls by half a cosine to the end", lambda steps, rising, share: rising, "cosine")
CONSTANT = Schedule("stays", lambda steps, rising, share: steps, "linear")
WARMUP_STABLE_DECAY = Schedule(
    "stays, and falls in the last decay_ratio of the steps by decay_type (a trapezoid; ModernBERT: 1-sqrt)",
    lambda steps, rising, share: max(rising, steps - round(steps * share)),
)


@dataclass(frozen=True)
class Shape:
    """A schedule with its numbers: the name, the share of the steps that it falls in, how, and the least rate.

    min_lr_ratio: the rate that it falls to, as a share of the peak.
    """

    name: str = "linear"
    decay_ratio: float = 0.1
    decay_type: str = "1-sqrt"
    min_lr_ratio: float = 0.0


def learning_rate(step: int, steps: int, peak: float, warmup_ratio: float, shape: Shape | None = None) -> float:
    """Return the learning rate of a step, counted from 0: linear warm-up over `warmup_ratio` of `steps`, then `shape`.

    >>> [round(learning_rate(step, 6, 1.0, 0.34), 2) for step in range(6)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    >>> trapezoid = Shape("warmup_stable_decay", decay_ratio=0.5, decay_type="linear")
    >>> [round(learning_rate(step, 8, 1.0, 0.25, trapezoid), 2) for step in range(8)]
    [0.5, 1.0, 1.0, 1.0, 1.0, 0.75, 0.5, 0.25]
    """
    shape = shape or Shape()
    schedule: Schedule = SCHEDULES[shape.name]
    rising = int(round(steps * warmup_ratio, 6))
    if step < rising:
        return peak * (step + 1) / rising
    begin = schedule.begin(steps, rising, shape.decay_ratio)
    if step < begin:
        return peak
    if not shape.min_lr_ratio and (schedule.decay or shape.decay_type) == "linear":
        return peak * (steps - step) / (steps - begin)
    factor = DECAYS[schedule.decay or shape.decay_type]((steps - step) / (steps - begin))
    return peak * (shape.min_lr_ratio + (1 - shape.min_lr_ratio) * factor)
