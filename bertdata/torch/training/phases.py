"""The phases of a pretraining run: those of a build, in its order (BERT appendix A.2: 128 tokens, then 512)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.loader.examples import common_info
from bertdata.shards import Shards
from bertdata.shards.phases import phase_names
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.tasks import TaskInfo
from bertdata.torch.data.dataset import ShardDataset


@dataclass(frozen=True)
class Phase:
    """The part of a run on the rows of one phase of a build: its name, its examples, the steps first + 1 to last.

    validation: the examples of the validation split, None without one; accumulation_steps: gradient accumulation steps.
    """

    name: str
    dataset: ShardDataset
    validation: ShardDataset | None
    first: int
    last: int
    accumulation_steps: int

    def run_epochs(self, batch_size: int) -> float | None:
        """Return the epochs of the phase in batches of a size, None where the masks do not depend on it."""
        steps = self.last - self.first
        return steps * batch_size / len(self.dataset) if self.dataset.follows_schedule else None


def open_phases(
    shards: str | os.PathLike[str] | Shards, steps: int, last_share: float, batch: int, accumulation_steps: int
) -> list[Phase]:
    """Return the phases of a build; the last one gets `last_share` of the steps.

    `batch` is the rows of a process in a step. It is split into `accumulation_steps` parts for the shortest rows, and
    into more for longer ones, so that no part has more tokens. Raises ConfigError where a phase gets no step, and where
    the phases are not of one corpus.
    """
    datasets = _open(shards)
    for _, dataset in datasets:
        if isinstance(dataset.info, TaskInfo):
            raise ConfigError(
                f"holds shards for {dataset.info.task}; expected those of `bertdata build`, or use bertdata finetune",
                path=dataset.shards.build,
            )
    common_info([dataset.shards for _, dataset in datasets])
    borders = split_steps(steps, len(datasets), last_share)
    shortest = min(dataset.info.max_seq_length for _, dataset in datasets)
    return [
        Phase(
            name,
            dataset,
            validation_split(dataset.shards),
            first,
            last,
            _parts(batch, accumulation_steps, dataset.info.max_seq_length / shortest),
        )
        for (name, dataset), (first, last) in zip(datasets, pairwise(borders), strict=True)
    ]


def longest_info(phases: Sequence[Phase]) -> PretrainingInfo:
    """Return how the shards of all phases were made, with the longest rows of any."""
    info = phases[0].dataset.shards.expect_pretraining()
    return info.with_length(common_info([phase.dataset.shards for phase in phases]).max_seq_length)


def split_steps(steps: int, phases: int, last_share: float) -> list[int]:
    """Return the steps at which phases begin and end: the last gets its share, the others equal parts of the rest.

    >>> split_steps(1000, 2, 0.1), split_steps(7, 1, 0.1)
    ([0, 900, 1000], [0, 7])
    """
    last = round(steps * last_share) if phases > 1 else steps
    before = steps - last
    borders = [before * number // max(phases - 1, 1) for number in range(phases)] + [steps]
    if phases > 1 and any(first == end for first, end in pairwise(borders)):
        raise ConfigError(
            f"{steps} steps cannot be divided among {phases} phases with {last_share:g} for the last; take more "
            "steps, or the folder of one phase"
        )
    return borders


def _parts(batch: int, accumulation_steps: int, longer: float) -> int:
    """Return the smallest divisor of the batch that is at least `accumulation_steps * longer`."""
    least = accumulation_steps * longer
    return next((parts for parts in range(1, batch + 1) if batch % parts == 0 and parts >= least), batch)


def validation_split(shards: Shards) -> ShardDataset | None:
    """Return the validation split beside a train split; None where it has no row, and for shards of another split."""
    entry = shards.manifest["splits"].get("validation")
    if shards.split != "train" or not isinstance(entry, dict) or not entry.get("shards"):
        return None
    found = ShardDataset(Shards(shards.build, "validation", shards.manifest, shards.cache))
    return found if len(found) else None


def _open(shards: str | os.PathLike[str] | Shards) -> list[tuple[str, ShardDataset]]:
    if isinstance(shards, Shards):
        return [("", ShardDataset(shards))]
    place = os.fspath(shards)
    manifest = files.join(place, "manifest.json")
    names = [] if files.is_remote(place) or not files.exists(manifest) else phase_names(files.read_json(manifest))
    if not names:
        return [("", ShardDataset(place))]
    return [(name, ShardDataset(files.join(place, name))) for name in names]
