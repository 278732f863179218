"""The training loop of a phase: gradient accumulation, updates, the log, checkpoints.

The loss of a batch is the mean over all its labelled tokens and pairs, however the batch is split over gradient
accumulation steps and processes, and dropout is a function of the row (`dropout`). So splitting changes only rounding,
and on CUDA the dropout of attention probabilities, which torch's fused kernels draw.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from bertdata.errors import ConfigError, printable
from bertdata.io import files
from bertdata.torch.data.loader import ResumableBatchSampler, ResumableLoader
from bertdata.torch.models.config import Counts
from bertdata.torch.models.dropout import attached
from bertdata.torch.models.encoder import Blocks
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training import checkpoint, curves, metrics_log
from bertdata.torch.training.checkpoint import Checkpoint
from bertdata.torch.training.distributed import Group
from bertdata.torch.training.losses import Batch, Sums, add, count, loss_of, validate
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.optimization import peak_flops, seed_step, update
from bertdata.torch.training.phases import Phase
from bertdata.torch.training.schedules import learning_rate
from bertdata.torch.training.settings import PretrainSettings

_LOG = logging.getLogger("bertdata")
_REDRAW_AFTER = 60.0
"""Seconds after which the curves are drawn again; they are also drawn with each checkpoint."""


@dataclass
class Run:
    """A run: model, optimizer, processes, the checkpoint it is resumed from, its directory and settings.

    `about` goes into `config.json`; parent: the checkpoint of another run that this one branches off, before its first
    step; drawn: whether curves are.
    """

    model: PreTrainedModel
    optimizer: torch.optim.Optimizer
    group: Group
    last: Checkpoint | None
    output: str
    settings: dict[str, Any]
    about: dict[str, Any]
    parent: Checkpoint | None = None
    drawn: bool = True

    @property
    def first(self) -> int:
        """The steps taken before it was resumed."""
        return 0 if self.last is None else self.last.step


@dataclass
class Interval:
    """What happened since the last line of the log."""

    began: float
    waited: float = 0.0
    steps: int = 0
    counts: Counts = field(default_factory=Counts)
    sums: Sums = field(default_factory=Sums)


def train(
    run: Run, phase: Phase, settings: PretrainSettings, reports: Sequence[Callable[[LogRecord], None]]
) -> LogRecord:
    """Take the remaining steps of a phase and return the last record; all processes call it together.

    reports: what gets each record, and that of the first step.
    """
    group, info, draws = run.group, phase.dataset.info, attached(run.model)
    first = max(run.first, phase.first)
    loader = _loader(run, phase, settings, first)
    parallel = group.parallel(_compiled(run.model) if settings.compile else run.model)
    batches, interval = iter(loader), Interval(time.perf_counter())
    record: LogRecord = {}
    drawn = time.monotonic()
    for step in range(first + 1, phase.last + 1):
        asked = time.perf_counter()
        parts: list[Batch] = [next(batches) for _ in range(phase.parts(step, settings))]
        interval.waited += time.perf_counter() - asked
        counts = [count(part, info.label, info.pad_token_id) for part in parts]
        own = add(counts)
        whole = Counts(*group.all_reduce_sum(own))
        seed_step(settings.seed, step, group.rank)
        run.optimizer.zero_grad(set_to_none=True)
        loss = torch.zeros((), device=group.device)
        for number, (part, size) in enumerate(zip(parts, counts, strict=True), 1):
            batch = {name: value.to(group.device, non_blocking=True) for name, value in part.items()}
            alone: Any = nullcontext()
            if group.world_size > 1 and number < len(parts):
                alone = parallel.no_sync()  # type: ignore[operator]
            with alone:
                draws.begin(batch, settings.seed, step)
                with torch.autocast(group.device.type, torch.bfloat16, enabled=settings.bf16):
                    terms = parallel(**batch).terms
                share = loss_of(terms, size, whole)
                (share * group.world_size).backward()  # type: ignore[no-untyped-call]
            loss += share.detach()
            interval.sums.add(terms, size)
        rate = learning_rate(step - 1, settings.max_steps, phase.peak, settings.warmup_ratio, settings.shape)
        norm = update(
            *(run.model, run.optimizer, float(loss), rate, settings.max_grad_norm, step, settings.spike_ratio)
        )
        interval.steps, interval.counts = interval.steps + 1, add([interval.counts, own])
        last = step == phase.last
        saving = last or step % settings.save_steps == 0
        validating = phase.validation is not None and bool(settings.eval_steps)
        validating = validating and (last or step % settings.eval_steps == 0)
        logging = saving or validating or step % settings.logging_steps == 0
        if logging or step == first + 1:
            record = {
                "step": step,
                "epoch": loader.state_dict()["position"] / len(phase.dataset),
                "max_seq_length": info.max_seq_length,
                "learning_rate": rate,
                "gradient_norm": norm,
                **(
                    {"skipped_updates": run.optimizer.param_groups[0].get("skipped", 0)} if settings.spike_ratio else {}
                ),
                **_means(interval, run, settings),
                **(validate(run.model, group, phase, settings, draws) if validating else {}),
            }
            for report in reports:
                report(record)
        if logging:
            if group.first:
                metrics_log.append(files.join(run.output, metrics_log.LOG), record)
                if run.drawn and (saving or time.monotonic() - drawn >= _REDRAW_AFTER):
                    curves.plot(run.output, metrics_log.read(files.join(run.output, metrics_log.LOG)))
                    drawn = time.monotonic()
            interval = Interval(time.perf_counter())
        if saving and group.first:
            root = files.join(run.output, "checkpoints")
            state, keep = loader.state_dict(), settings.save_total_limit
            checkpoint.save(root, step, run.model, run.optimizer, state, run.settings, run.about, keep)
            interval.began = time.perf_counter()
    return record


def _loader(run: Run, phase: Phase, settings: PretrainSettings, first: int) -> ResumableLoader:
    rows = settings.batch_size // run.group.world_size // phase.accumulation_steps
    sampler = ResumableBatchSampler(
        phase.dataset,
        rows,
        epochs=None,
        run_epochs=phase.run_epochs(settings),
        seed=settings.seed,
        rank=run.group.rank,
        world_size=run.group.world_size,
    )
    if run.last is not None and first > phase.first:
        sampler.load_state_dict(run.last.sampler)
    elif run.parent is not None and first == 0:
        try:
            sampler.load_state_dict(run.parent.sampler)
        except ConfigError as error:
            _LOG.warning("the rows of this branch are gone through from the beginning: %s", printable(str(error)))
    tokenizer = phase.dataset.shards.tokenizer()
    return ResumableLoader(
        phase.dataset,
        sampler,
        run.model.collator(phase.dataset, tokenizer=tokenizer, packing=settings.packing),
        num_workers=settings.num_workers,
        pin_memory=run.group.device.type == "cuda",
    )


def _compiled(model: PreTrainedModel) -> PreTrainedModel:
    """Have the blocks compiled at their first use; not the heads, for the number of labelled tokens varies."""
    for module in model.modules():
        if isinstance(module, Blocks):
            module.compile()
    return model


def _means(interval: Interval, run: Run, settings: PretrainSettings) -> LogRecord:
    """Return the means of an interval over all processes, and its speed."""
    means = interval.sums.means(run.group.all_reduce_sum)
    counts = Counts(*run.group.all_reduce_sum(interval.counts))
    seconds = time.perf_counter() - interval.began
    rate = run.model.config.training_flops(counts) / seconds
    peak = settings.peak_tflops * 1e12 or peak_flops(run.group.device)
    used = {"mfu": rate / (peak * run.group.world_size)} if peak else {}
    return {
        **means,
        "tokens_per_second": counts.tokens / seconds,
        "seconds_per_step": seconds / interval.steps,
        "data_wait_share": interval.waited / seconds,
        "tflops": rate / 1e12,
        **used,
    }
