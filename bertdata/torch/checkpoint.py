"""Checkpoints of a training run: model, optimizer and sampler, each a whole one or none.

A checkpoint is a directory `step-N` that `from_pretrained` opens, with the optimizer beside the weights. Its
`state.json` is written last: without it there is no checkpoint. Older ones go when a newer one is whole, so a full
disk or a kill leaves the last good one. What this module does not do: deciding when.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any

import torch

from bertdata import files
from bertdata.errors import ConfigError, InputError
from bertdata.torch.architectures import PretrainingModel

_STATE, _OPTIMIZER = "state.json", "optimizer.pt"
_NAME = re.compile(r"step-(\d+)")


@dataclass(frozen=True)
class Checkpoint:
    """A whole checkpoint: its directory, how many steps were taken, the sampler's state, the settings of the run."""

    directory: str
    step: int
    sampler: dict[str, int]
    settings: dict[str, Any]


def save(
    root: str,
    step: int,
    model: PretrainingModel,
    optimizer: torch.optim.Optimizer,
    sampler: dict[str, int],
    settings: dict[str, Any],
    about: dict[str, Any] | None = None,
) -> None:
    """Write the checkpoint of a step below `root`, then delete the others; raises OutputError, the others kept."""
    name = f"step-{step:09d}"
    directory = files.join(root, name)
    files.remove(files.join(directory, _STATE))
    model.save_pretrained(directory, about)
    buffer = io.BytesIO()
    torch.save(optimizer.state_dict(), buffer)
    files.write_bytes(files.join(directory, _OPTIMIZER), buffer.getvalue())
    files.write_json(files.join(directory, _STATE), {"step": step, "sampler": sampler, "settings": settings})
    for other in files.names(root):
        if other != name and _NAME.fullmatch(other):
            files.remove(files.join(root, other))


def newest(root: str) -> Checkpoint | None:
    """Return the whole checkpoint of the most steps below `root`, None where there is none."""
    found = [name for name in files.names(root) if _NAME.fullmatch(name)]
    for name in sorted(found, reverse=True):
        directory = files.join(root, name)
        if files.exists(files.join(directory, _STATE)):
            state = files.read_json(files.join(directory, _STATE))
            return Checkpoint(directory, state["step"], state["sampler"], state["settings"])
    return None


def check_settings(checkpoint: Checkpoint, settings: dict[str, Any]) -> None:
    """Raise ConfigError, naming them, where settings differ from those of the run that is to be resumed."""
    changed = [
        f"{name} was {checkpoint.settings.get(name)!r} and is {settings.get(name)!r}"
        for name in sorted({*checkpoint.settings, *settings})
        if checkpoint.settings.get(name) != settings.get(name)
    ]
    if changed:
        raise ConfigError(
            f"this checkpoint is of another run: {'; '.join(changed)}; use the same settings to go on, another output, "
            "or --restart to begin anew",
            path=checkpoint.directory,
        )


def load_optimizer(checkpoint: Checkpoint, optimizer: torch.optim.Optimizer, device: torch.device) -> None:
    """Put the saved moments into an optimizer; raises InputError where the file is damaged."""
    path = files.join(checkpoint.directory, _OPTIMIZER)
    with files.open_raw(path) as file:
        data = io.BytesIO(file.read())
    try:
        optimizer.load_state_dict(torch.load(data, map_location=device, weights_only=True))
    except Exception as error:
        raise InputError(
            f"is no optimizer state of this model ({error}); delete this checkpoint and run again", path=path
        ) from error
