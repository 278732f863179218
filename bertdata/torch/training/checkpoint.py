"""Checkpoints of a training run: model, optimizer and sampler.

A checkpoint is a directory `step-N` that `from_pretrained` opens, with the optimizer beside the weights. Its
`state.json` is written last, with the SHA-256 of every other file; a directory without it is not a checkpoint. Older
checkpoints are deleted after a newer one is complete, so a full disk or a kill leaves the last complete one. A damaged
checkpoint is an error that names the file; a run is never resumed from it.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from bertdata.engine.fingerprints import is_sealed, sealed
from bertdata.errors import ConfigError, InputError, printable
from bertdata.io import files, listing
from bertdata.io.digests import damaged
from bertdata.tokenizers.base import Tokenizer
from bertdata.torch.models.weights import PreTrainedModel, save_with_tokenizer

_LOG = logging.getLogger("bertdata")
_STATE, _OPTIMIZER = "state.json", "optimizer.pt"
_NAME = re.compile(r"step-(\d+)")


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint: its directory, the number of steps taken, the sampler's state, the settings of the run.

    digest: the SHA-256 of its state, in which are those of its files; rewinds: the steps from which and to which the
    run went back; rewound: the sampler's state after a spike, where the run went back to this checkpoint.
    """

    directory: str
    step: int
    sampler: dict[str, int]
    settings: dict[str, Any]
    digest: str
    rewinds: Sequence[tuple[int, int]] = ()
    rewound: dict[str, int] | None = None

    def state_after(self, *, within_phase: bool) -> dict[str, int] | None:
        """Return the state of the sampler for the next step; None where that is the first of another phase."""
        return self.rewound or (self.sampler if within_phase else None)


def save(
    root: str,
    step: int,
    model: PreTrainedModel,
    optimizer: torch.optim.Optimizer,
    sampler: dict[str, int],
    settings: dict[str, Any],
    about: dict[str, Any] | None = None,
    keep: int = 1,
    rewinds: Sequence[tuple[int, int]] = (),
    *,
    tokenizer: Tokenizer,
) -> None:
    """Write the checkpoint of a step below `root`, then delete all but the last `keep` (0: none is deleted).

    The tokenizer is beside each model, for those who open a checkpoint as a model; a run is resumed without it.
    rewinds: the steps from which and to which the run went back so far. Raises OutputError, the others kept.
    """
    name = f"step-{step:09d}"
    directory = files.join(root, name)
    files.remove(files.join(directory, _STATE))
    save_with_tokenizer(model, directory, tokenizer, about)
    buffer = io.BytesIO()
    torch.save(optimizer.state_dict(), buffer)
    files.write_bytes(files.join(directory, _OPTIMIZER), buffer.getvalue())
    state = {"step": step, "sampler": sampler, "settings": settings} | ({"rewinds": [*rewinds]} if rewinds else {})
    digests = {path: files.sha256(files.join(directory, path)) for path in _files_below(directory)}
    files.write_json(files.join(directory, _STATE), sealed(state | {"files": digests}))
    others = sorted(other for other in listing.names(root) if other != name and _NAME.fullmatch(other))
    for other in others[: max(len(others) - keep + 1, 0)] if keep else ():
        files.remove(files.join(root, other))


def continue_from(checkpoint: Checkpoint, sampler: dict[str, int], rewinds: Sequence[tuple[int, int]]) -> None:
    """Write into a checkpoint that the run goes on from it with the rows at a state of the sampler.

    rewinds: the steps from which and to which the run went back so far. Raises OutputError.
    """
    path = files.join(checkpoint.directory, _STATE)
    files.write_json(path, sealed(files.read_json(path) | {"rewound": sampler, "rewinds": [*rewinds]}))


def newest(root: str) -> Checkpoint | None:
    """Return the complete checkpoint of the most steps below `root`, None where there is none.

    Raises InputError, which names the file, where a file of that checkpoint is missing or damaged. A directory that a
    kill left without `state.json` is skipped with a warning.
    """
    names = [name for name in listing.names(root) if _NAME.fullmatch(name)]
    for name in sorted(names, reverse=True):
        directory = files.join(root, name)
        if files.exists(files.join(directory, _STATE)):
            return _read(directory)
        _LOG.warning("%s has no %s, so it was not written completely: it is skipped", printable(directory), _STATE)
    return None


def of_branch(place: str) -> Checkpoint:
    """Return a checkpoint by its directory, or the last one of a run by its output; raises ConfigError for another."""
    if files.exists(files.join(place, _STATE)):
        return _read(place)
    if last := newest(files.join(place, "checkpoints")):
        return last
    raise ConfigError(
        f"holds no checkpoint; expected a folder as checkpoints/step-000001000 with {_STATE}, or the output of a run",
        path=place,
    )


def digest_of_branch(place: str, last: Checkpoint) -> str:
    """Return the digest of the checkpoint that a run branched off, by its last one, or of another that `place` names.

    The output of a run names no certain checkpoint, for that run may have gone on since; a warning says where it has.
    For a run that branched off none, the place itself is returned.
    """
    digest = str(last.settings.get("branch") or place)
    if files.exists(files.join(place, _STATE)):
        return _read(place).digest
    names = [name for name in listing.names(files.join(place, "checkpoints")) if _NAME.fullmatch(name)]
    states = [files.join(place, "checkpoints", name, _STATE) for name in names]
    if states and digest not in (files.sha256(path) for path in states if files.exists(path)):
        _LOG.warning(
            "the run goes on from %s: the checkpoint that it branched off is no longer in %s, or --branch was another",
            printable(last.directory),
            printable(place),
        )
    return digest


def _read(directory: str) -> Checkpoint:
    path = files.join(directory, _STATE)
    remedy = (
        "delete this checkpoint's folder and run again: the run resumes from an older checkpoint where there is one, "
        "else it starts from the beginning"
    )
    try:
        state = files.read_json(path)
    except InputError as error:
        raise InputError(f"this checkpoint is damaged: its state cannot be read; {remedy}", path=path) from error
    if not is_sealed(state):
        raise InputError(f"this checkpoint is damaged: its state was changed after it was written; {remedy}", path=path)
    if other := [name for name in state["files"] if not files.is_below(name)]:
        raise InputError(f"names the file {other[0]!r}, which is not a path below its folder; {remedy}", path=path)
    expected = [(files.join(directory, name), digest) for name, digest in state["files"].items()]
    for damaged_path, problem in damaged(expected, "check checkpoint"):
        raise InputError(f"this checkpoint is damaged: {problem}; {remedy}", path=damaged_path)
    rewinds = tuple((begin, end) for begin, end in state.get("rewinds", ()))
    digest = files.sha256(path)
    return Checkpoint(
        directory, state["step"], state["sampler"], state["settings"], digest, rewinds, state.get("rewound")
    )


def _files_below(directory: str) -> Iterator[str]:
    """Yield the paths of the files in a directory and the folders in it, such as that of ELECTRA's generator."""
    for name in listing.names(directory):
        if os.path.isdir(folder := files.join(directory, name)):
            yield from (files.join(name, below) for below in _files_below(folder))
        elif not name.startswith(files.TEMPORARY):
            yield name


_BEFORE = {"precision": "reference"}
"""What settings were that a checkpoint does not name."""


def check_settings(checkpoint: Checkpoint, settings: dict[str, Any]) -> None:
    """Raise ConfigError, which names them, where settings differ from those of the run that is to be resumed."""
    settings = json.loads(json.dumps(settings))  # with lists for tuples, as in the checkpoint
    written = _BEFORE | checkpoint.settings
    changed = [
        f"{name} was {written.get(name)!r} and is {settings.get(name, _BEFORE.get(name))!r}"
        for name in sorted({*written, *settings})
        if written.get(name) != settings.get(name, _BEFORE.get(name))
    ]
    if changed:
        raise ConfigError(
            f"this checkpoint is of another run: {'; '.join(changed)}; use the same settings to resume it, another "
            f"output, or --restart to start again{_longer(checkpoint, settings.get('max_steps', 0))}",
            path=checkpoint.directory,
        )


def _longer(checkpoint: Checkpoint, steps: int) -> str:
    """Return how a run goes on to more steps than it was to have, for the end of a message; "" for no more."""
    if steps <= max(checkpoint.settings.get("max_steps", steps), checkpoint.step):
        return ""
    return (
        f". To train longer, begin another run from this one: with --branch {printable(checkpoint.directory)} (its "
        "weights, its optimizer, its place in the rows), or with the same as --config (its weights alone), another "
        f"--output, and as --max-steps those to add, {steps - checkpoint.step}; steps and learning rate begin anew"
    )


_OF_DEVICE = ("fused", "foreach", "capturable")
"""What an optimizer's groups say of the device that it computes on, and a state from another one must not change."""


def for_device_of(optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> dict[str, Any]:
    """Return a saved state for the device that an optimizer computes on, whichever wrote it."""
    parts = getattr(optimizer, "parts", None)
    if parts is not None:
        return {"parts": [for_device_of(part, saved) for part, saved in zip(parts, state["parts"], strict=True)]}
    for present, saved in zip(optimizer.param_groups, state["param_groups"], strict=True):
        saved |= {name: present[name] for name in _OF_DEVICE if name in present}
    return state


def load_optimizer(checkpoint: Checkpoint, optimizer: torch.optim.Optimizer) -> None:
    """Load the saved state of an optimizer; raises InputError where the file is damaged."""
    path = files.join(checkpoint.directory, _OPTIMIZER)
    with files.open_raw(path) as file:
        data = io.BytesIO(file.read())
    try:
        optimizer.load_state_dict(for_device_of(optimizer, torch.load(data, map_location="cpu", weights_only=True)))
    except Exception as error:
        reason = re.split(r"\.\s|\n", str(error))[0]
        raise InputError(
            f"is not an optimizer state of this model ({reason}); delete this checkpoint and run again", path=path
        ) from error
