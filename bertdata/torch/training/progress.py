"""The progress of a run: a bar on a terminal, plain lines elsewhere, as in the log of a batch system."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TextIO

from bertdata.torch.training.metrics_log import LogRecord, line

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds between two plain lines, doubled each time, up to the longest."""


class PlainLines:
    """Writes a line for the first record, the last, each with a validation loss, and others at growing intervals."""

    def __init__(self, steps: int | None, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.steps, self.stream, self.clock = steps, stream, clock
        self._due, self._wait = float("-inf"), FIRST_WAIT
        self._first: tuple[int, float] | None = None

    def __call__(self, record: LogRecord) -> None:
        now, step, steps = self.clock(), int(record["step"]), self.steps or int(record["steps"])
        first, began = self._first = self._first or (step, now)
        if now < self._due and step < steps and "validation_loss" not in record:
            return
        if now >= self._due:
            self._due, self._wait = now + self._wait, min(2 * self._wait, LONGEST_WAIT)
        shown = ", ".join(f"{name} {value}" for name, value in line(record).items())
        left = ""
        if first < step < steps:
            left = f", {timedelta(seconds=round((now - began) / (step - first) * (steps - step)))} left"
        print(f"step {step:,} of {steps:,}: {shown}{left}", file=self.stream, flush=True)


@contextmanager
def shown(steps: int | None = None) -> Iterator[Callable[[LogRecord], None]]:
    """Yield a function that shows records on stderr; `steps` is those of the run, None where each record has them."""
    if not sys.stderr.isatty():
        yield PlainLines(steps, sys.stderr)
        return
    from tqdm import tqdm

    with tqdm(total=steps, unit="step") as bar:
        started = False

        def report(record: LogRecord) -> None:
            nonlocal started
            if not started:
                bar.total = steps or int(record["steps"])
                started, bar.initial, bar.n = True, int(record["step"]) - 1, int(record["step"]) - 1
            bar.update(int(record["step"]) - bar.n)
            bar.set_postfix(line(record), refresh=False)

        yield report
