"""Where the log of a run goes besides `log.jsonl`: TensorBoard, Trackio or Weights & Biases (`--report-to`)."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from bertdata.errors import MissingExtraError
from bertdata.io import files
from bertdata.torch.training import TRACKERS
from bertdata.torch.training.metrics_log import LogRecord, parsed_name

_EXTRA = "tracking"


class Tracker(Protocol):
    """What takes the records of a run's log."""

    def log(self, record: LogRecord) -> None:
        """Take one record."""

    def close(self) -> None:
        """End the run; everything taken is then on disk, or sent."""


@dataclass(frozen=True)
class TrackerKind:
    """A service or format for logs.

    open: returns a tracker for the output of a run, its settings, and the steps that it took before it was resumed.
    Raises MissingExtraError where its package is not installed.
    """

    help: str
    open: Callable[[str, Mapping[str, Any], int], Tracker]


@contextmanager
def opened(
    names: Sequence[str], output: str, settings: Mapping[str, Any], first: int
) -> Iterator[Callable[[LogRecord], None]]:
    """Yield a function that gives a record to trackers; they are closed after the block, also when it fails."""
    with ExitStack() as stack:
        trackers = [TRACKERS[name].open(output, settings, first) for name in names]
        for tracker in trackers:
            stack.callback(tracker.close)

        def report(record: LogRecord) -> None:
            for tracker in trackers:
                tracker.log(record)

        yield report


def tagged(record: LogRecord) -> dict[str, float]:
    """Return the figures of a record by the names that they have in panels.

    >>> tagged({"step": 3, "mlm_loss": 7.5, "validation_loss": 7.0, "validation_128/loss": 7.0})
    {'train/mlm_loss': 7.5, 'validation/loss': 7.0, 'validation_128/loss': 7.0}
    """
    tags = {}
    for name, value in record.items():
        phase, figure = parsed_name(name)
        panel = "train" if phase is None else f"validation_{phase}" if phase else "validation"
        tags[f"{panel}/{figure}"] = value
    del tags["train/step"]
    return tags


class TensorBoard:
    """Event files in the folder `tensorboard` of the output.

    Those after the step that a run is resumed from, or goes back to, are hidden.
    """

    def __init__(self, output: str, settings: Mapping[str, Any], first: int) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ModuleNotFoundError as error:
            raise MissingExtraError("tensorboard", _EXTRA) from error
        self._open = partial(SummaryWriter, files.join(output, "tensorboard"))
        self._writer = self._open(**({"purge_step": first + 1} if first else {}))
        self._last = first
        if not first:
            text = "\n".join(f"    {name} = {value!r}" for name, value in settings.items())
            self._writer.add_text("settings", text)

    def log(self, record: LogRecord) -> None:
        """Write each figure as a scalar."""
        step = int(record["step"])
        if step < self._last:
            self._writer.close()
            self._writer = self._open(purge_step=step)
        self._last = step
        for name, value in tagged(record).items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()


def run_id(output: str, name: str, first: int) -> str:
    """Return the id of a run for a tracker, kept in a file of the output; a run that begins anew gets a new one."""
    path = files.join(output, name)
    number = files.read_json(path)["id"] if first and files.exists(path) else uuid.uuid4().hex[:12]
    files.write_json(path, {"id": number})
    return str(number)


class Trackio:
    """A run of Trackio, which a resumed run continues; `trackio.json` in the output has its id, the end of its name.

    It is kept on this machine where trackio keeps all (TRACKIO_DIR), in the project of TRACKIO_PROJECT, else bertdata;
    TRACKIO_SPACE_ID or TRACKIO_SERVER_URL sends it elsewhere, as trackio says.
    """

    def __init__(self, output: str, settings: Mapping[str, Any], first: int) -> None:
        try:
            import trackio
        except ModuleNotFoundError as error:
            raise MissingExtraError("trackio", _EXTRA) from error
        name = f"{files.name(output)}-{run_id(output, 'trackio.json', first)}"
        project = os.environ.get("TRACKIO_PROJECT") or "bertdata"
        with redirect_stdout(sys.stderr):
            self._run = trackio.init(project=project, name=name, config=dict(settings), resume="allow", embed=False)

    def log(self, record: LogRecord) -> None:
        """Send the figures of a step."""
        self._run.log(tagged(record), step=int(record["step"]))

    def close(self) -> None:
        """Finish the run."""
        with redirect_stdout(sys.stderr):
            self._run.finish()


class WeightsAndBiases:
    """A run of Weights & Biases, which a resumed run continues; `wandb.json` in the output has its id.

    Project and account are those that wandb finds: WANDB_PROJECT, else bertdata; WANDB_MODE=offline sends nothing.
    """

    def __init__(self, output: str, settings: Mapping[str, Any], first: int) -> None:
        try:
            import wandb
        except ModuleNotFoundError as error:
            raise MissingExtraError("wandb", _EXTRA) from error
        place = {
            "dir": output,
            "id": run_id(output, "wandb.json", first),
            "name": files.name(output),
            "resume": "allow",
        }
        self._run = wandb.init(project=wandb.Settings().project or "bertdata", config=dict(settings), **place)

    def log(self, record: LogRecord) -> None:
        """Send the figures of a step."""
        self._run.log(tagged(record), step=int(record["step"]))

    def close(self) -> None:
        """Finish the run."""
        self._run.finish()


TENSORBOARD = TrackerKind("event files in OUTPUT/tensorboard", TensorBoard)
TRACKIO = TrackerKind("a run of Trackio, on this machine", Trackio)
WANDB = TrackerKind("a run of Weights & Biases", WeightsAndBiases)
