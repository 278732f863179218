"""The phases of a pretraining run: those of a build, in its order (BERT appendix A.2: 128 tokens, then 512)."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

from bertdata.errors import ConfigError
from bertdata.finetune.task_info import TaskInfo
from bertdata.io import files
from bertdata.io.console import counted
from bertdata.loader.opening import common_info
from bertdata.masking.settings import MaskingConfig
from bertdata.options.option import flag_of
from bertdata.shards import Shards
from bertdata.shards.cache import read
from bertdata.shards.phases import phase_names
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.streaming import CacheFolder
from bertdata.shards.streaming.shards import stream_shards
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.training.settings import PretrainSettings, numbers


@dataclass(frozen=True)
class Phase:
    """The part of a run on the rows of one phase of a build: its name, its examples, the steps first + 1 to last.

    validation: the examples of the validation split, None without one; peak: of the learning rate; accumulation_steps:
    gradient accumulation steps; rope_theta: the base of rotary positions, None for that of the config; training: what
    rows are trained for, as `--training` says it, "" for what the shards say.
    """

    name: str
    dataset: ShardDataset
    validation: ShardDataset | None
    first: int
    last: int
    peak: float
    accumulation_steps: int
    rope_theta: float | None = None
    training: str = ""

    def masking(self, dataset: ShardDataset) -> MaskingConfig:
        """Return how rows of the phase, train or validation, are masked, and what they are trained for."""
        masking = dataset.shards.expect_pretraining().masking.for_split(dataset.shards.split)
        return replace(masking, training=self.training) if self.training else masking

    def for_collator(self, dataset: ShardDataset) -> dict[str, Any]:
        """Return what the collator of rows of the phase is given."""
        masking = self.masking(dataset)
        given: dict[str, Any] = {"masking": masking} if self.training else {}
        return given | ({"causal_flags": True} if masking.trained_for.causal_share else {})

    def parts(self, step: int, settings: PretrainSettings) -> int:
        """Return how many of its gradient accumulation steps a step takes, counted from 1: fewer in a batch warm-up."""
        rising = settings.max_steps * settings.batch_warmup_ratio
        return self.accumulation_steps if step > rising else math.ceil(self.accumulation_steps * step / rising)

    def epochs(self, settings: PretrainSettings) -> float:
        """Return how many times the phase goes through its rows."""
        rising = min(self.last, math.floor(settings.max_steps * settings.batch_warmup_ratio))
        parts = sum(self.parts(step, settings) for step in range(self.first + 1, rising + 1))
        parts += self.accumulation_steps * (self.last - max(self.first, rising))
        return parts * rows_a_step(self.dataset, settings) / self.accumulation_steps / len(self.dataset)

    def run_epochs(self, settings: PretrainSettings) -> float | None:
        """Return the epochs of the phase, None where the masks do not depend on it."""
        return self.epochs(settings) if self.dataset.follows_schedule else None


@dataclass(frozen=True)
class PhaseRows:
    """The rows of a phase of a build: its name, its examples, those of the validation split, None without one."""

    name: str
    dataset: ShardDataset
    validation: ShardDataset | None


def open_rows(
    shards: str | os.PathLike[str] | Shards, folder: CacheFolder | None = None, *, by_pieces: bool = False
) -> list[PhaseRows]:
    """Open the rows of each phase of a build, streamed where there is a folder for it.

    by_pieces: whether windows are of pieces of shards. Raises ConfigError where the phases are not of one corpus.
    """
    datasets = _open(shards, folder, by_pieces)
    for _, dataset in datasets:
        if isinstance(dataset.info, TaskInfo):
            raise ConfigError(
                f"holds shards for {dataset.info.task}; expected those of `bertdata build`, or use bertdata finetune",
                path=dataset.shards.build,
            )
    common_info([dataset.shards for _, dataset in datasets], masks=False)
    return [PhaseRows(name, dataset, validation_split(dataset.shards)) for name, dataset in datasets]


def plan_phases(
    rows: Sequence[PhaseRows], settings: PretrainSettings, batch: int, accumulation_steps: int
) -> list[Phase]:
    """Return the phases of a run with their steps: by `phase_shares`, or `last_share` of them for the last one.

    `batch` is the rows of a process in a step. It is split into `accumulation_steps` parts for the shortest rows, and
    into more for longer ones, so that no part has more tokens; an update of so many tokens has as many parts of either.
    Raises ConfigError where a phase gets no step.
    """
    borders = split_steps(settings, len(rows))
    shortest = min(phase.dataset.info.max_seq_length for phase in rows)
    return [
        Phase(
            phase.name,
            phase.dataset,
            phase.validation,
            first,
            last,
            settings.peak(number),
            accumulation_steps
            if settings.batch_tokens
            else parts_of(batch, accumulation_steps * phase.dataset.info.max_seq_length / shortest),
            settings.rope_theta(number),
            settings.phase_training[number] if settings.phase_training else "",
        )
        for number, (phase, (first, last)) in enumerate(zip(rows, pairwise(borders), strict=True))
    ]


def rows_a_step(dataset: ShardDataset, settings: PretrainSettings) -> float:
    """Return the rows of an update over all processes; where it is so many tokens, about how many rows these are."""
    return settings.batch_tokens * len(dataset) / dataset.tokens if settings.batch_tokens else settings.batch_size


def longest_info(phases: Sequence[Phase]) -> PretrainingInfo:
    """Return how the shards of all phases were made, with the longest rows of any."""
    info = phases[0].dataset.shards.expect_pretraining()
    return info.with_length(common_info([phase.dataset.shards for phase in phases], masks=False).max_seq_length)


def split_steps(settings: PretrainSettings, phases: int) -> list[int]:
    """Return the steps at which phases begin and end: by their shares, or the last by its, the others alike.

    Raises ConfigError where there is not a share or a rate for each phase, or a phase would have no step.

    >>> split_steps(PretrainSettings(max_steps=1000), 2), split_steps(PretrainSettings(max_steps=7), 1)
    ([0, 900, 1000], [0, 7])
    >>> split_steps(PretrainSettings(max_steps=1000, phase_shares=("0.7", "0.2", "0.1")), 3)
    [0, 700, 900, 1000]
    """
    steps, shares = settings.max_steps, numbers(settings, "phase_shares")
    for name in ("phase_shares", "phase_learning_rates", "phase_rope_thetas", "phase_training"):
        given = getattr(settings, name)
        if len(given) not in (0, phases):
            raise ConfigError(
                f"{flag_of(name)} {' '.join(given)} is for {counted(len(given), 'phase')}, and these shards have "
                f"{phases}; give one for each"
            )
    if shares:
        borders = [0, *(round(steps * total) for total in accumulate(shares))]
    else:
        last = round(steps * settings.last_share) if phases > 1 else steps
        borders = [(steps - last) * number // max(phases - 1, 1) for number in range(phases)] + [steps]
    if phases > 1 and any(first == end for first, end in pairwise(borders)):
        how = f"shares {' '.join(settings.phase_shares)}" if shares else f"{settings.last_share:g} for the last"
        raise ConfigError(
            f"{steps} steps cannot be divided among {counted(phases, 'phase')} with {how}; take more steps, or the "
            "folder of one phase"
        )
    return borders


def parts_of(batch: int, least: float) -> int:
    """Return the smallest divisor of the rows of a batch that is at least `least`, else as many parts as rows.

    >>> parts_of(256, 4), parts_of(256, 5.1), parts_of(96, 5), parts_of(8, 9)
    (4, 8, 6, 8)
    """
    return next((parts for parts in range(1, batch + 1) if batch % parts == 0 and parts >= least), batch)


def validation_split(shards: Shards, split: str = "validation") -> ShardDataset | None:
    """Return the validation split beside a train split; None where it has no row, and for shards of another split."""
    entry = shards.manifest["splits"].get(split)
    if shards.split != "train" or not isinstance(entry, dict) or not entry.get("shards"):
        return None
    dataset = ShardDataset(shards.beside(split))
    return dataset if len(dataset) else None


def _open(
    shards: str | os.PathLike[str] | Shards, folder: CacheFolder | None, by_pieces: bool
) -> list[tuple[str, ShardDataset]]:
    if isinstance(shards, Shards):
        return [("", ShardDataset(shards, by_pieces=by_pieces))]
    place = files.path_text(shards)
    names = _phases(files.join(place, "manifest.json"))
    places = [(name, files.join(place, name)) for name in names] if names else [("", place)]
    if folder is None:
        return [(name, ShardDataset(path, by_pieces=by_pieces)) for name, path in places]
    streamed = [(name, stream_shards(path, None, folder, by_pieces)) for name, path in places]
    return [(name, ShardDataset(split, by_pieces=by_pieces)) for name, split in streamed]


def _phases(manifest: str) -> list[str]:
    """Return the names of the phases of a build, none where its manifest names none, or cannot be read."""
    if not files.is_remote(manifest):
        return phase_names(files.read_json(manifest)) if files.exists(manifest) else []
    try:
        return phase_names(json.loads(read(manifest) or b"{}"))
    except (ValueError, RecursionError):
        return []
