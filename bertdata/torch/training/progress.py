"""The progress of a run on stderr: a bar on a terminal, lines with the time of day in a log, or events.

`display` chooses between them, and has that of a notebook.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TextIO

from bertdata.io import log
from bertdata.torch.training.metrics_log import LogRecord, parsed_name
from bertdata.torch.training.plan import RunPlan

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds between two plain lines, doubled each time, up to the longest."""
_BAR = "|{bar}| {n_fmt}/{total_fmt}, {remaining} left{postfix}"
_BAR_WITHOUT_TEXT = len("|####| /, 99:59:59 left")
_COLUMNS = 80
"""Of a terminal that does not say how many it has."""


def line(record: LogRecord) -> dict[str, str]:
    """Return what a plain line shows of a record.

    >>> line({"step": 10, "loss": 7.25, "mlm_accuracy": 0.125, "pair_accuracy": 0.5, "tokens_per_second": 4321.0})
    {'loss': '7.250', 'mlm accuracy': '12.5%', 'pair accuracy': '50.0%', 'tokens/s': '4,321'}
    """
    figures = {"loss": f"{record['loss']:.3f}"}
    for name, value in record.items():
        if name.endswith("_accuracy") and parsed_name(name)[0] is None:
            figures[name.replace("_", " ")] = f"{value:.1%}"
    if loss := validation_loss(record):
        figures["validation loss"] = loss
    if "tokens_per_second" in record:
        figures["tokens/s"] = f"{record['tokens_per_second']:,.0f}"
    return figures


def validation_loss(record: LogRecord) -> str:
    """Return the validation loss of a record, and in brackets those of several phases; "" where it has none.

    >>> validation_loss({"validation_loss": 6.5, "validation_128/loss": 6.5, "validation_512/loss": 7.75})
    '6.500 (128: 6.500, 512: 7.750)'
    """
    parsed = [(*parsed_name(name), value) for name, value in record.items()]
    losses = {phase: value for phase, figure, value in parsed if figure == "loss"}
    if "" not in losses:
        return ""
    phases = [f"{phase}: {value:.3f}" for phase, value in losses.items() if phase]
    return f"{losses['']:.3f}" + (f" ({', '.join(phases)})" if len(phases) > 1 else "")


def short(record: LogRecord, room: int) -> str:
    """Return what fits of a record beside a bar into `room` characters: the loss, the speed, the accuracies.

    >>> record = {"loss": 7.25, "mlm_accuracy": 0.125, "pair_accuracy": 0.5, "tokens_per_second": 43210.0}
    >>> short(record, 60), short(record, 40)
    ('loss 7.250, 43,210 tokens/s, mlm 12.5%, pair 50.0%', 'loss 7.250, 43,210 tokens/s, mlm 12.5%')
    """
    figures = line(record)
    parts = [f"loss {figures['loss']}"]
    parts += [f"{figures['tokens/s']} tokens/s"] if "tokens/s" in figures else []
    accuracies = {name: value for name, value in figures.items() if name.endswith(" accuracy")}
    parts += [f"{name.removesuffix(' accuracy')} {value}" for name, value in accuracies.items()]
    while len(parts) > 1 and len(", ".join(parts)) > room:
        parts.pop()
    return ", ".join(parts)


class Progress:
    """What shows a run: `begin` its plan, then each step, and each record of the log. This one shows nothing."""

    def begin(self, plan: RunPlan) -> None:
        """Show what the run will do."""

    def step(self, step: int) -> None:
        """Show that a step was taken."""

    def __call__(self, record: LogRecord) -> None:
        """Show a record."""


class PlainLines(Progress):
    """Writes the plan, and a line for the first record, the last, each with a validation loss, and others now and then.

    The intervals grow up to a minute. Where no record came for a minute, the next step has a line.
    """

    def __init__(self, stream: TextIO | log.TimedStream, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream, self.clock = stream, clock
        self._plan: RunPlan | None = None
        self._due, self._wait = float("-inf"), FIRST_WAIT
        self._written = float("-inf")
        self._from: tuple[int, float] | None = None
        self._measured = False

    def begin(self, plan: RunPlan) -> None:
        self._plan, self._from = plan, (plan.first, self.clock())
        self._print(*plan.lines())

    def step(self, step: int) -> None:
        now = self.clock()
        if self._plan is not None and now - self._written >= LONGEST_WAIT:
            self._print(f"step {step:,} of {self._plan.steps:,}{self._left(step, self._plan.steps, now)}")

    def __call__(self, record: LogRecord) -> None:
        now, step = self.clock(), int(record["step"])
        steps = self._plan.steps if self._plan else int(record["steps"])
        self._from = self._from or (step, now)
        if now < self._due and step < steps and "validation_loss" not in record:
            return
        if now >= self._due:
            self._due, self._wait = now + self._wait, min(2 * self._wait, LONGEST_WAIT)
        figures = ", ".join(f"{name} {value}" for name, value in line(record).items())
        self._print(f"step {step:,} of {steps:,}: {figures}{self._left(step, steps, now)}")
        if not self._measured:
            self._measured, self._from = True, (step, now)

    def _left(self, step: int, steps: int, now: float) -> str:
        """Return the time left as the end of a line, by that of the steps so far.

        The first step has compiling and loading in it, so what is left is not known by it, unless it took a minute.
        """
        first, began = self._from or (step, now)
        if not first < step < steps or (not self._measured and now - began < LONGEST_WAIT):
            return ""
        return f", {timedelta(seconds=round((now - began) / (step - first) * (steps - step)))} left"

    def _print(self, *lines: str) -> None:
        self._written = self.clock()
        print(*lines, sep="\n", file=self.stream, flush=True)


class Events(Progress):
    """Logs the plan, and each record, as an event."""

    def __init__(self) -> None:
        self._steps: dict[str, int] = {}

    def begin(self, plan: RunPlan) -> None:
        self._steps = {"steps": plan.steps}
        log.event("plan", plan=plan.summary())

    def __call__(self, record: LogRecord) -> None:
        log.event("step", **(self._steps | record))


class Bar(Progress):
    """Writes the plan, and a bar in one line of a terminal; above it validation losses and warnings stay."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._steps = 0

    def begin(self, plan: RunPlan) -> None:
        print(*plan.lines(), sep="\n", file=sys.stderr, flush=True)
        self._steps = plan.steps
        if not plan.finished:
            from tqdm import tqdm

            shape: dict[str, Any] = {"bar_format": _BAR, "dynamic_ncols": True, "miniters": 1}
            self._bar = tqdm(total=plan.steps, initial=plan.first, unit="step", **shape)

    def step(self, step: int) -> None:
        self._bar.update(step - self._bar.n)

    def __call__(self, record: LogRecord) -> None:
        step = int(record["step"])
        room = _columns() - _BAR_WITHOUT_TEXT - 2 * len(f" {self._steps}")
        self._bar.set_postfix_str(short(record, room), refresh=False)
        self._bar.update(step - self._bar.n)
        if loss := validation_loss(record):
            self._bar.write(f"step {step:,}: validation loss {loss}", file=sys.stderr)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
    except (OSError, ValueError):
        return _COLUMNS
