"""The log of a run: `log.jsonl`, one JSON object a line; `curves.svg` plots its losses and accuracies.

A resumed run first removes the lines after its checkpoint. `shown` shows the progress: a bar on a terminal, plain lines
elsewhere, as in the log of a batch system.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TextIO

from bertdata.errors import InputError, OutputError
from bertdata.io import compression, files
from bertdata.io.charts import line_chart, markup, smoothed

LogRecord = dict[str, float]
LOG, PLOT = "log.jsonl", "curves.svg"
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds between two plain lines, doubled each time, up to the longest."""
_MOST_POINTS = 1000
"""Points of a curve; longer logs are plotted as means of neighbouring lines."""


def read(path: str | os.PathLike[str]) -> list[LogRecord]:
    """Return the lines of a log, without a last one that was not written completely.

    Raises InputError, with its number, for a line that is not one of a log.
    """
    records: list[LogRecord] = []
    with compression.open_decompressed(os.fspath(path)) as file:
        for number, line in enumerate(file, 1):
            if line.endswith(b"\n"):
                records.append(_record(line, number, os.fspath(path)))
    return records


def keep(path: str, step: int) -> LogRecord:
    """Remove the lines after a step, and a line that was not written completely; returns the last one left."""
    found = read(path) if step and files.exists(path) and files.size(path) else []
    kept = [record for record in found if record["step"] <= step]
    files.write_bytes(path, "".join(json.dumps(record) + "\n" for record in kept).encode())
    return kept[-1] if kept else {}


def _record(line: bytes, number: int, path: str) -> LogRecord:
    try:
        record: LogRecord = json.loads(line)
        if type(record["step"]) is int:
            return record
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"line {number} is not a line of a log; move the file away to start a new one", path=path)


def append(path: str, record: LogRecord) -> None:
    """Add a line; raises OutputError."""
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    except OSError as error:
        raise OutputError(
            f"cannot be written ({error.strerror}); make room and run again: the run is resumed", path=path
        ) from error


def plot(directory: str, records: Sequence[LogRecord]) -> None:
    """Draw `curves.svg` beside a log: a panel for each loss and accuracy, in training and on the validation split."""
    panels = {}
    names = list(dict.fromkeys(name for record in records for name in record if name.endswith(("_loss", "_accuracy"))))
    training = [name for name in names if not name.startswith("validation_")]
    for name in sorted(training, key=lambda name: name.endswith("_accuracy")):
        found = {
            label: [(record["step"], record[key]) for record in records if key in record]
            for label, key in (("training", name), ("validation", f"validation_{name}"))
        }
        window = -(-len(found["training"]) // _MOST_POINTS)
        found["training"] = smoothed(found["training"], max(window, 1))
        if found["training"]:
            panels[name] = {label: points for label, points in found.items() if points}
    files.write_bytes(files.join(directory, PLOT), markup(line_chart(panels, x_label="step")).encode())


def line(record: LogRecord) -> dict[str, str]:
    """Return what the progress line shows of a record.

    >>> line({"step": 10, "loss": 7.25, "mlm_accuracy": 0.125, "pair_accuracy": 0.5, "tokens_per_second": 4321.0})
    {'loss': '7.250', 'mlm accuracy': '12.5%', 'pair accuracy': '50.0%', 'tokens/s': '4,321'}
    """
    shown = {"loss": f"{record['loss']:.3f}"}
    for name, value in record.items():
        if name.endswith("_accuracy") and not name.startswith("validation_"):
            shown[name.replace("_", " ")] = f"{value:.1%}"
    if "validation_loss" in record:
        shown["validation loss"] = f"{record['validation_loss']:.3f}"
    if "tokens_per_second" in record:
        shown["tokens/s"] = f"{record['tokens_per_second']:,.0f}"
    return shown


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
