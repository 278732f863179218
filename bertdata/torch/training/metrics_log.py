"""The log of a run: `log.jsonl`, one JSON object a line; `curves.svg` plots its losses and accuracies.

A resumed run first removes the lines after its checkpoint.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from bertdata.errors import InputError, OutputError
from bertdata.io import compression, files
from bertdata.io.charts import line_chart, markup, smoothed

LogRecord = dict[str, float]
LOG, PLOT = "log.jsonl", "curves.svg"
_MOST_POINTS = 1000
"""Points of a curve; longer logs are plotted as means of neighbouring lines."""


def read(path: str | os.PathLike[str]) -> list[LogRecord]:
    """Return the lines of a log; raises InputError where one is not a JSON object."""
    with compression.open_decompressed(os.fspath(path)) as file:
        lines = file.read().decode().splitlines()
    try:
        return [json.loads(line) for line in lines]
    except ValueError as error:
        raise InputError(f"is not a log of JSON lines ({error})", path=os.fspath(path)) from error


def keep(path: str, step: int) -> LogRecord:
    """Remove the lines after a step, and a line that was not written completely; returns the last one left."""
    lines: list[LogRecord] = []
    if step and files.exists(path) and files.size(path):
        with compression.open_decompressed(path) as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n") and (record := _record(line, number, path))["step"] <= step:
                    lines.append(record)
    files.write_bytes(path, "".join(json.dumps(record) + "\n" for record in lines).encode())
    return lines[-1] if lines else {}


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
            label: [(one["step"], one[key]) for one in records if key in one]
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
