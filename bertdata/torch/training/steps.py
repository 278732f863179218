"""The training loop of a phase: gradient accumulation, updates, the log, checkpoints.

The loss of a batch is the mean over all its labelled tokens and pairs, however the batch is split over gradient
accumulation steps and processes, and dropout is a function of the row (`dropout`). So splitting changes only rounding,
and on CUDA the dropout of attention probabilities, which torch's fused kernels draw unless `attention_dropout_by_row`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from bertdata.io import files
from bertdata.torch.data.loader import ResumableLoader
from bertdata.torch.models.config import Counts
from bertdata.torch.models.dropout import Draws, attached
from bertdata.torch.models.encoder import Blocks
from bertdata.torch.models.places import LONGEST, places_taken, with_places
from bertdata.torch.models.rotary import set_rope_theta
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training import curves, metrics_log
from bertdata.torch.training.arithmetic import Arithmetic
from bertdata.torch.training.losses import Batch, Sums, add, count, loss_of, sent, validate_phases, with_bound
from bertdata.torch.training.memory import memory_figures, reset_peak
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.optimization import SpikeError, Unread, peak_flops, seed_step, update_unread
from bertdata.torch.training.phases import Phase
from bertdata.torch.training.recomputation import recompute_layers
from bertdata.torch.training.rewind import go_back
from bertdata.torch.training.run import Run, loader_of
from bertdata.torch.training.schedules import learning_rate
from bertdata.torch.training.settings import PretrainSettings

_REDRAW_AFTER = 60.0
"""Seconds after which the curves are drawn again; they are also drawn with each checkpoint."""


@dataclass
class Interval:
    """What happened since the last line of the log."""

    began: float
    waited: float = 0.0
    steps: int = 0
    counts: Counts = field(default_factory=Counts)
    sums: Sums = field(default_factory=Sums)


def train(
    run: Run,
    phase: Phase,
    settings: PretrainSettings,
    reports: Sequence[Callable[[LogRecord], None]],
    on_step: Callable[[int], None] = lambda step: None,
    stop: Callable[[], bool] = lambda: False,
) -> LogRecord:
    """Take the remaining steps of a phase and return the last record; all processes call it together.

    reports: what gets each record, and that of the first step; on_step: gets the steps without one; stop: is asked
    after each step whether the run is to end there. Raises KeyboardInterrupt where it does, after a checkpoint, which a
    run that goes back from spikes leaves out, for it would go back to it; and DivergenceError where the loss is not
    finite, or where the run would go back from a spike once more than `max_rewinds`.
    """
    group, draws = run.group, attached(run.model) if settings.dropout_by == "row" else Draws()
    draws.explicit = settings.attention_dropout_by_row
    if phase.rope_theta is not None:
        set_rope_theta(run.model.final, phase.rope_theta)
    step = first = max(run.first, phase.first)
    loader = loader_of(run, phase, settings, first)
    arithmetic = Arithmetic(settings, group.device, run.optimizer)
    if settings.gradient_checkpointing:
        recompute_layers(run.model, draws, compiled=settings.compile)
    elif settings.compile:
        compile_blocks(run.model, any_length=settings.packing and not settings.batch_tokens)
    parallel = group.parallel(run.model)
    if settings.on_spike == "rewind" and run.last is None and step == 0:
        run.save(0, loader.state_dict(), settings.save_total_limit)
    batches, interval, unread = iter(loader), _begin(run), Unread(group.device)
    masking = phase.dataset.shards.expect_pretraining().masking.for_split(phase.dataset.shards.split)
    record: LogRecord = {}
    drawn = time.monotonic()
    number = next(place for place, other in enumerate(run.phases) if other is phase)
    seen = _words_seen(run, number, loader)
    while step < phase.last:
        step += 1
        asked = time.perf_counter()
        parts: list[Batch] = [next(batches) for _ in range(phase.parts(step, settings))]
        interval.waited += time.perf_counter() - asked
        loss = gradients(run, parallel, draws, parts, interval, phase, settings, step, arithmetic)
        rate = learning_rate(step - 1, settings.max_steps, phase.peak, settings.warmup_ratio, settings.shape)
        try:
            norm = _update(run, loss, rate, settings, step, unread, arithmetic)
        except SpikeError as spike:
            step = first = go_back(run, spike, step, loader.state_dict(), settings.max_rewinds)
            interval = _begin(run)
            continue
        interval.steps += 1
        before, seen = seen, _words_seen(run, number, loader)
        for name in run.word_checkpoints.due(before, seen):
            unread.check()
            run.save_model(name)
        last, stopping = step == phase.last, stop()
        saving = last or step % settings.save_steps == 0 or (stopping and settings.on_spike != "rewind")
        measured = run.phases if last or settings.eval_phases == "all" else [phase]
        due = bool(settings.eval_steps) and (last or (step % settings.eval_steps == 0 and not stopping))
        validating = due and any(of_phase.validation is not None for of_phase in measured)
        logging = saving or validating or step % settings.logging_steps == 0
        if logging or step == first + 1:
            unread.check()
            record = {
                "step": step,
                "epoch": loader.state_dict()["position"] / len(phase.dataset),
                **({"words": round(seen)} if run.word_checkpoints.names else {}),
                "max_seq_length": phase.dataset.info.max_seq_length,
                "learning_rate": rate,
                **({"gradient_norm": float(norm)} if math.isfinite(norm) else {}),  # JSON has no infinity
                **_spikes(run, settings),
                **({"overflows": arithmetic.overflows} if settings.fp16 else {}),
                **with_bound(_means(interval, run, settings), masking),
            }
            if validating:
                record |= validate_phases(run.model, group, measured, phase, len(run.phases) > 1, settings, draws)
            for report in reports:
                report(record)
        else:
            on_step(step)
        if logging:
            if group.first:
                metrics_log.append(files.join(run.output, metrics_log.LOG), record)
                if run.drawn and (saving or time.monotonic() - drawn >= _REDRAW_AFTER):
                    curves.plot(run.output, metrics_log.read(files.join(run.output, metrics_log.LOG)))
                    drawn = time.monotonic()
            interval = _begin(run)
        if saving:
            run.save(step, loader.state_dict(), settings.save_total_limit)
            interval.began = time.perf_counter()
        if stopping and step < settings.max_steps:
            raise KeyboardInterrupt
    return record


def _words_seen(run: Run, phase: int, loader: ResumableLoader) -> float:
    """Return the words seen so far in a run, 0 where nobody asks."""
    if not run.word_checkpoints.names:
        return 0.0
    return run.word_checkpoints.seen(phase, loader.state_dict()["position"], len(run.phases[phase].dataset))


def _begin(run: Run) -> Interval:
    reset_peak(run.group.device)
    return Interval(time.perf_counter())


def gradients(
    run: Run,
    parallel: nn.Module,
    draws: Draws,
    parts: Sequence[Batch],
    interval: Interval,
    phase: Phase,
    settings: PretrainSettings,
    step: int,
    arithmetic: Arithmetic,
) -> Tensor:
    """Put the parts of a batch through the model and back; returns the loss of the batch over all processes.

    parallel: the model with its gradients averaged over the processes. The figures are added to those of the interval.
    Nothing is asked of the device, so that its work is queued while it does that of the step before.
    """
    group, info = run.group, phase.dataset.info
    counts, names = [count(part, info.label, info.pad_token_id) for part in parts], places_taken(run.model)
    of_rank = add(counts)
    whole: Counts | Tensor = of_rank
    if group.world_size > 1:
        whole = group.sum_of(torch.tensor(of_rank, dtype=torch.float64).to(group.device, non_blocking=True))
    seed_step(settings.seed, step, group.rank)
    run.optimizer.zero_grad(set_to_none=True)
    loss = torch.zeros((), device=group.device)
    for number, (part, size) in enumerate(zip(parts, counts, strict=True), 1):
        with_known = with_places(part, info.pad_token_id, names)
        if settings.batch_tokens and LONGEST in with_known and loss.is_cuda:
            with_known[LONGEST] = info.max_seq_length  # an upper bound will do for the kernel, and never changes
        batch = sent(with_known, group.device)
        alone: Any = nullcontext()
        if group.world_size > 1 and number < len(parts):
            alone = parallel.no_sync()  # type: ignore[operator]
        with alone:
            draws.begin(batch, settings.seed, step)
            with arithmetic.autocast():
                terms = parallel(**batch).terms
            share: Tensor = loss_of(terms, size, whole)
            arithmetic.backward(share * group.world_size)
        loss += share.detach()
        interval.sums.add(terms, size)
    interval.counts = add([interval.counts, of_rank])
    return group.sum_of(loss)


def _update(
    run: Run,
    loss: Tensor,
    rate: float,
    settings: PretrainSettings,
    step: int,
    unread: Unread,
    arithmetic: Arithmetic,
) -> float | Tensor:
    """Update the weights and return the norm of the gradient, on CUDA without waiting for it where no spike is sought.

    Raises as `update` does, or leaves it to `unread`.
    """
    if loss.is_cuda and settings.on_spike != "rewind" and not settings.spike_ratio and not settings.fp16:
        return update_unread(run.model, run.optimizer, loss, rate, settings.max_grad_norm, step, unread)
    spikes = (settings.spike_ratio, settings.on_spike)
    return arithmetic.update(run.model, float(loss), rate, settings.max_grad_norm, step, *spikes)


def _spikes(run: Run, settings: PretrainSettings) -> LogRecord:
    """Return how many updates or batches were left out for their spikes."""
    if settings.on_spike == "rewind":
        return {"rewinds": len(run.rewinds), "left_out_batches": sum(begin - end for begin, end in run.rewinds)}
    return {"skipped_updates": run.optimizer.param_groups[0].get("skipped", 0)} if settings.spike_ratio else {}


def compile_blocks(model: PreTrainedModel, *, any_length: bool) -> None:
    """Have the blocks compiled at their first use; not the heads, for the number of labelled tokens varies.

    any_length: whether rows are each of another length, as packed ones are; then blocks are compiled once for any. Else
    they are for the first length, and for any when another comes.
    """
    for module in model.modules():
        if isinstance(module, Blocks):
            module.compile(dynamic=True if any_length else None)


def _means(interval: Interval, run: Run, settings: PretrainSettings) -> LogRecord:
    """Return the means of an interval over all processes, its speed, and the most memory that a process took."""
    means = interval.sums.means(run.group.all_reduce_sum)
    counts = Counts(*run.group.all_reduce_sum(interval.counts))
    seconds = time.perf_counter() - interval.began
    rate = run.model.training_flops(counts) / seconds
    peak = settings.peak_tflops * 1e12 or peak_flops(run.group.device)
    used = {"mfu": rate / (peak * run.group.world_size)} if peak else {}
    memory = memory_figures(run.group.device)
    most = run.group.all_reduce_max([*memory.values()])
    return {
        **means,
        "tokens_per_second": counts.tokens / seconds,
        "seconds_per_step": seconds / interval.steps,
        "data_wait_share": interval.waited / seconds,
        "tflops": rate / 1e12,
        **used,
        **dict(zip(memory, most, strict=True)),
    }
