"""The log of a run: `log.jsonl`, one JSON object a line; a resumed run first removes the lines after its checkpoint."""

from __future__ import annotations

import json
import os

from bertdata.errors import InputError, OutputError
from bertdata.io import compression, files

LogRecord = dict[str, float]
LOG = "log.jsonl"
_VALIDATION = "validation_"


def validation_name(figure: str, phase: str = "") -> str:
    """Return the name in the log of a figure on the validation split of a phase; "": that of the phase at the time.

    >>> validation_name("mlm_loss"), validation_name("mlm_loss", "128")
    ('validation_mlm_loss', 'validation_128/mlm_loss')
    """
    return f"{_VALIDATION}{phase}/{figure}" if phase else f"{_VALIDATION}{figure}"


def parsed_name(name: str) -> tuple[str | None, str]:
    """Return the phase and the figure that a name in the log stands for; None: a figure of training.

    >>> parsed_name("mlm_loss"), parsed_name("validation_mlm_loss"), parsed_name("validation_128/mlm_loss")
    ((None, 'mlm_loss'), ('', 'mlm_loss'), ('128', 'mlm_loss'))
    """
    if not name.startswith(_VALIDATION):
        return None, name
    phase, _, figure = name.removeprefix(_VALIDATION).rpartition("/")
    return phase, figure


def read(path: str | os.PathLike[str]) -> list[LogRecord]:
    """Return the lines of a log, without a last one that was not written completely.

    Raises InputError, with its number, for a line that is not one of a log.
    """
    records: list[LogRecord] = []
    with compression.open_decompressed(files.path_text(path)) as file:
        for number, line in enumerate(file, 1):
            if line.endswith(b"\n"):
                records.append(_record(line, number, files.path_text(path)))
    return records


def keep(path: str, step: int) -> LogRecord:
    """Remove the lines after a step, and a line that was not written completely; returns the last one left."""
    records = read(path) if step and files.exists(path) and files.size(path) else []
    earlier = [record for record in records if record["step"] <= step]
    files.write_bytes(path, "".join(json.dumps(record) + "\n" for record in earlier).encode())
    return earlier[-1] if earlier else {}


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
