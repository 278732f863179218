"""The progress of a run on stderr: a bar on a terminal, lines with the time of day in a log, or events."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TextIO

from bertdata.io import log
from bertdata.torch.training.metrics_log import LogRecord, parsed_name

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
    shown = {"loss": f"{record['loss']:.3f}"}
    for name, value in record.items():
        if name.endswith("_accuracy") and parsed_name(name)[0] is None:
            shown[name.replace("_", " ")] = f"{value:.1%}"
    if loss := validation_loss(record):
        shown["validation loss"] = loss
    if "tokens_per_second" in record:
        shown["tokens/s"] = f"{record['tokens_per_second']:,.0f}"
    return shown


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
    shown = line(record)
    parts = [f"loss {shown['loss']}"]
    parts += [f"{shown['tokens/s']} tokens/s"] if "tokens/s" in shown else []
    accuracies = {name: value for name, value in shown.items() if name.endswith(" accuracy")}
    parts += [f"{name.removesuffix(' accuracy')} {value}" for name, value in accuracies.items()]
    while len(parts) > 1 and len(", ".join(parts)) > room:
        parts.pop()
    return ", ".join(parts)


class PlainLines:
    """Writes a line for the first record, the last, each with a validation loss, and others at growing intervals."""

    def __init__(
        self, steps: int | None, stream: TextIO | log.TimedStream, clock: Callable[[], float] = time.monotonic
    ) -> None:
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
    """Yield a function that shows records on stderr; `steps` is those of the run, None where each record has them.

    A bar is one line of the terminal, and above it validation losses and warnings stay.
    """
    if log.is_json():
        yield lambda record: log.event("step", **{"steps": steps, **record})
        return
    if not sys.stderr.isatty():
        yield PlainLines(steps, log.TimedStream(sys.stderr))
        return
    from tqdm import tqdm
    from tqdm.contrib.logging import logging_redirect_tqdm

    with (
        logging_redirect_tqdm(),
        tqdm(total=steps, unit="step", bar_format=_BAR, dynamic_ncols=True, miniters=1) as bar,
    ):
        started = False

        def report(record: LogRecord) -> None:
            nonlocal started
            step = int(record["step"])
            if not started:
                bar.total = steps or int(record["steps"])
                started, bar.initial, bar.n = True, step - 1, step - 1
            room = _columns() - _BAR_WITHOUT_TEXT - 2 * len(f" {bar.total}")
            bar.set_postfix_str(short(record, room), refresh=False)
            bar.update(step - bar.n)
            if loss := validation_loss(record):
                bar.write(f"step {step:,}: validation loss {loss}", file=sys.stderr)

        yield report


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
    except (OSError, ValueError):
        return _COLUMNS
