"""`Run`: what the steps of a run share, and the loader that a phase of it begins or goes on with."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from bertdata.errors import ConfigError, printable
from bertdata.io import files
from bertdata.torch.data.loader import ResumableBatchSampler, ResumableLoader
from bertdata.torch.models.weights import PreTrainedModel, save_with_tokenizer
from bertdata.torch.training import checkpoint
from bertdata.torch.training.checkpoint import Checkpoint
from bertdata.torch.training.distributed import Group
from bertdata.torch.training.phases import Phase
from bertdata.torch.training.settings import PretrainSettings
from bertdata.torch.training.words import WordCheckpoints

_LOG = logging.getLogger("bertdata")


@dataclass
class Run:
    """A run: model, optimizer, processes, phases, the checkpoint it is resumed from, its directory and settings.

    `about` goes into `config.json`; parent: the checkpoint of another run that this one branches off, before its first
    step; weights: as of `RunPlan`; drawn: whether curves are; rewinds: the steps from which and to which the run went
    back; word_checkpoints: the words seen after which the model is saved as well.
    """

    model: PreTrainedModel
    optimizer: torch.optim.Optimizer
    group: Group
    phases: Sequence[Phase]
    last: Checkpoint | None
    output: str
    settings: dict[str, Any]
    about: dict[str, Any]
    parent: Checkpoint | None = None
    weights: str | None = None
    drawn: bool = True
    rewinds: list[tuple[int, int]] = field(default_factory=list)
    word_checkpoints: WordCheckpoints = field(default_factory=WordCheckpoints)

    @property
    def first(self) -> int:
        """The steps taken before it was resumed."""
        return 0 if self.last is None else self.last.step

    def save(self, step: int, sampler: dict[str, int], keep: int) -> None:
        """Write the checkpoint of a step, if this is the process that writes, and delete all but the last `keep`."""
        if self.group.first:
            root, state = files.join(self.output, "checkpoints"), (self.settings, self.about, keep, self.rewinds)
            tokenizer = self.phases[0].dataset.shards.tokenizer()
            checkpoint.save(root, step, self.model, self.optimizer, sampler, *state, tokenizer=tokenizer)

    def save_model(self, name: str) -> None:
        """Write the model alone into a folder of the output, if this is the process that writes."""
        if self.group.first:
            tokenizer = self.phases[0].dataset.shards.tokenizer()
            save_with_tokenizer(self.model.final, files.join(self.output, name), tokenizer, self.about)


def loader_of(run: Run, phase: Phase, settings: PretrainSettings, first: int) -> ResumableLoader:
    """Return the loader of a phase that goes on after the step `first`."""
    parts = run.group.world_size * phase.accumulation_steps
    tokens = settings.batch_tokens // parts or None
    sampler = ResumableBatchSampler(
        phase.dataset,
        None if tokens else settings.batch_size // parts,
        batch_tokens=tokens,
        epochs=None,
        run_epochs=phase.run_epochs(settings),
        seed=settings.seed,
        shuffle_window=settings.shuffle_window or None,
        rank=run.group.rank,
        world_size=run.group.world_size,
    )
    if run.last is not None and run.last.step == first:
        if state := run.last.state_after(within_phase=first > phase.first or first == 0):
            sampler.load_state_dict(state)
    elif run.parent is not None and first == 0:
        try:
            sampler.load_state_dict(run.parent.sampler)
        except ConfigError as error:
            _LOG.warning("the rows of this branch are gone through from the beginning: %s", printable(str(error)))
    tokenizer = phase.dataset.shards.tokenizer()
    filled: dict[str, Any] = {"pad_to_multiple_of": tokens} if tokens else {}
    filled |= phase.for_collator(phase.dataset)
    return ResumableLoader(
        phase.dataset,
        sampler,
        run.model.collator(phase.dataset, tokenizer=tokenizer, packing=settings.packing, **filled),
        num_workers=settings.num_workers,
        pin_memory=run.group.device.type == "cuda",
    )
