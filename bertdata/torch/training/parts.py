"""The parts that an update goes through the model in: as few as fit into a GPU, where the settings do not say how many.

Before the first step some rows of each phase go through the model and back, then twice as many. The most memory that
each takes says what a token takes, and what is there for any number of tokens. The weights stay as they are, and the
draws of the steps depend on nothing before them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from bertdata.errors import ConfigError
from bertdata.io.console import counted
from bertdata.torch.data.loader import ResumableBatchSampler
from bertdata.torch.models.dropout import Draws, attached
from bertdata.torch.training.arithmetic import Arithmetic
from bertdata.torch.training.distributed import Group
from bertdata.torch.training.losses import Batch
from bertdata.torch.training.phases import Phase, parts_of
from bertdata.torch.training.recomputation import keep_layers, recompute_layers
from bertdata.torch.training.run import Run
from bertdata.torch.training.settings import PretrainSettings
from bertdata.torch.training.steps import Interval, gradients

_LOG = logging.getLogger("bertdata")
_SHARE = 0.9
"""The share of a device's memory that is filled; torch's allocator and the libraries of CUDA need some of the rest."""
_TOKENS = 2048
"""Those of the smaller of the two batches, or more where a row has more."""
_LONGER = 1.25
"""Tokens of a packed part beside those of as many rows of the mean length."""
_MOMENTS = 8
"""Bytes of the two moments of AdamW, of a weight."""
_GIB = 1 << 30


@dataclass(frozen=True)
class Need:
    """The bytes that training takes: fixed for weights, gradients and the optimizer, and those of a token at once."""

    fixed: float
    token: float

    def tokens(self, memory: float) -> float:
        """Return the tokens at once that some memory is enough for.

        >>> Need(fixed=2e9, token=4e5).tokens(10e9)
        20000.0
        """
        return max(0.0, memory - self.fixed) / self.token


def device_memory(device: torch.device) -> int:
    """Return the bytes of memory of a GPU, 0 for a CPU, whose memory is not for this process alone."""
    return torch.cuda.get_device_properties(device).total_memory if device.type == "cuda" else 0


def most_memory(device: torch.device, work: Callable[[], None]) -> int:
    """Return the most bytes that tensors took on a GPU while some work was done."""
    torch.cuda.reset_peak_memory_stats(device)
    work()
    return torch.cuda.max_memory_allocated(device)


def phases_that_fit(run: Run, phases: Sequence[Phase], settings: PretrainSettings, rows: int) -> list[Phase]:
    """Return phases whose updates have as few parts as fit into the memory of the device; on a CPU, as they are.

    rows: of an update of one process. All processes call it together, and take the parts of the one that needs most.
    """
    memory = _SHARE * device_memory(run.group.device)
    if not memory:
        return list(phases)
    fitting = []
    for phase in phases:
        row = tokens_of_a_row(phase, settings)
        with explaining_memory(phase, settings):
            need = need_of(run, phase, settings)
        most = need.tokens(memory) / row
        [parts] = map(int, run.group.all_reduce_max([parts_of(rows, rows / most if most >= 1 else rows)]))
        if most < 1:
            _LOG.warning(
                "a row of %s tokens takes about %.1f GiB beside %.1f GiB for weights, gradients and the optimizer, and "
                "the device has %.1f GiB; take --gradient-checkpointing, --bf16 or a smaller model if memory runs out",
                f"{row:,.0f}",
                row * need.token / _GIB,
                need.fixed / _GIB,
                memory / _SHARE / _GIB,
            )
        elif parts > 1:
            _LOG.info("an update of %s goes through the model in %d parts", counted(rows, "row"), parts)
        fitting.append(replace(phase, accumulation_steps=parts))
    return fitting


@contextmanager
def explaining_memory(phase: Phase, settings: PretrainSettings) -> Iterator[None]:
    """Raise ConfigError, which says what takes less, where the memory of a GPU is not enough for a step of a phase."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        parts = counted(phase.accumulation_steps, "part")
        less = [
            *(["--bf16"] if not (settings.bf16 or settings.fp16) else []),
            *(["--gradient-checkpointing"] if not settings.gradient_checkpointing else []),
            f"more --gradient-accumulation-steps (an update has {parts} now)",
        ]
        raise ConfigError(
            f"the memory of the device is not enough for a step on rows of up to {phase.dataset.info.max_seq_length} "
            f"tokens; take {' or '.join(less)}; the last checkpoint is kept"
        ) from error


def tokens_of_a_row(phase: Phase, settings: PretrainSettings) -> float:
    """Return the tokens, with padding, that a row of a phase adds to a batch at most, of packed rows on average."""
    length = int(phase.dataset.info.max_seq_length)
    return min(length, _LONGER * phase.dataset.tokens / len(phase.dataset)) if settings.packing else length


def need_of(run: Run, phase: Phase, settings: PretrainSettings) -> Need:
    """Return the memory that the steps of a phase take on the device of a run, by two batches that are not learned."""
    draws = attached(run.model) if settings.dropout_by == "row" else Draws()
    draws.explicit = settings.attention_dropout_by_row
    alone = replace(run, group=Group(0, 1, run.group.device))
    if settings.gradient_checkpointing:
        recompute_layers(run.model, draws)
    rows = max(1, _TOKENS // int(phase.dataset.info.max_seq_length))
    batches = [batch_of(alone, phase, settings, number) for number in (rows, 2 * rows)]
    tokens = [batch["input_ids"].numel() for batch in batches]

    def work(batch: Batch) -> None:
        arithmetic = Arithmetic(settings, run.group.device, run.optimizer)
        gradients(alone, run.model, draws, [batch], Interval(0.0), phase, settings, 1, arithmetic)

    try:
        work(batches[0])  # so that what libraries take once is there
        small = most_memory(run.group.device, partial(work, batches[0]))
        try:
            large = most_memory(run.group.device, partial(work, batches[1]))
        except torch.OutOfMemoryError:  # the smaller batch fits, and one of twice its rows does not
            return Need(0.0, _SHARE * device_memory(run.group.device) / tokens[0])
    finally:
        run.optimizer.zero_grad(set_to_none=True)
        keep_layers(run.model)
    token = max(1.0, (large - small) / max(1, tokens[1] - tokens[0]))
    return Need(small - token * tokens[0] + coming(run), token)


def batch_of(run: Run, phase: Phase, settings: PretrainSettings, rows: int) -> Batch:
    """Return the first rows of a phase as a batch, padded to the longest row that there can be, or packed."""
    dataset = phase.dataset
    sampler = ResumableBatchSampler(
        dataset,
        rows,
        epochs=None,
        run_epochs=phase.run_epochs(settings),
        seed=settings.seed,
        shuffle_window=settings.shuffle_window or None,
    )
    filled: dict[str, Any] = {} if settings.packing else {"pad_to_multiple_of": int(dataset.info.max_seq_length)}
    filled |= phase.for_collator(dataset)
    collator = run.model.collator(dataset, tokenizer=dataset.shards.tokenizer(), packing=settings.packing, **filled)
    return collator(dataset.__getitems__(next(iter(sampler))))


def coming(run: Run) -> int:
    """Return the bytes that the first step adds: moments of the optimizer, and what processes exchange gradients in."""
    trained = [weight for group in run.optimizer.param_groups for weight in group["params"]]
    moments = sum(_MOMENTS * weight.numel() for weight in trained if not run.optimizer.state.get(weight))
    exchanged = sum(weight.nbytes for weight in trained) if run.group.world_size > 1 else 0
    return int(moments + exchanged)
