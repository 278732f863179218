"""The log of a run: `log.jsonl`, one JSON object a line, cut back to the checkpoint that a run goes on from.

Beside it `curves.svg` shows its losses. What this module does not do: measuring (`measures`), drawing (`curves`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from bertdata import decompression, files
from bertdata.errors import InputError, OutputError
from bertdata.torch.curves import Curve, draw

LogRecord = dict[str, float]
LOG, PLOT = "log.jsonl", "curves.svg"


def read(path: str | os.PathLike[str]) -> list[LogRecord]:
    """Return the lines of a log; raises InputError where one is no JSON object."""
    with decompression.open_decompressed(os.fspath(path)) as file:
        lines = file.read().decode().splitlines()
    try:
        return [json.loads(line) for line in lines]
    except ValueError as error:
        raise InputError(f"is not a log of JSON lines ({error})", path=os.fspath(path)) from error


def keep(path: str, step: int) -> LogRecord:
    """Cut a log back to the lines up to a step, and return the last of them; a line cut off by a kill goes too."""
    lines: list[LogRecord] = []
    if step and files.exists(path) and files.size(path):
        with decompression.open_decompressed(path) as file:
            for line in file:
                if line.endswith(b"\n") and (record := json.loads(line))["step"] <= step:
                    lines.append(record)
    files.write_bytes(path, "".join(json.dumps(record) + "\n" for record in lines).encode())
    return lines[-1] if lines else {}


def append(path: str, record: LogRecord) -> None:
    """Add a line; raises OutputError."""
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    except OSError as error:
        raise OutputError(
            f"cannot be written ({error.strerror}); make room and run again: the run goes on", path=path
        ) from error


def plot(directory: str, records: Sequence[LogRecord]) -> None:
    """Draw the losses of a log as `curves.svg` beside it."""
    names = [name for name in ("mlm_loss", "pair_loss", "replaced_loss") if records and name in records[-1]]
    curves = [Curve(name, [(one["step"], one[name]) for one in records if name in one]) for name in names]
    picture = draw(curves, x_label="step", y_label="loss")
    files.write_bytes(files.join(directory, PLOT), picture.encode())


def line(record: LogRecord) -> dict[str, str]:
    """Return what a live line shows of a record.

    >>> line({"step": 10, "loss": 7.25, "mlm_accuracy": 0.125, "pair_accuracy": 0.5, "tokens_per_second": 4321.0})
    {'loss': '7.250', 'MLM': '12.5%', 'pairs': '50.0%', 'tokens/s': '4,321'}
    """
    shown = {"loss": f"{record['loss']:.3f}", "MLM": f"{record['mlm_accuracy']:.1%}"}
    for name, label in (("pair_accuracy", "pairs"), ("replaced_accuracy", "replaced")):
        if name in record:
            shown[label] = f"{record[name]:.1%}"
    return shown | {"tokens/s": f"{record['tokens_per_second']:,.0f}"}
