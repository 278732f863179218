"""Losses and accuracies of a pretraining run as sums over parts of a batch, over processes and over steps.

So a loss is the mean over all labelled tokens of a batch, however the batch was split. `validate` gives those of the
validation split: of rows spread evenly over it, with the masks of epoch 0, which the processes of a run share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.settings import MaskingConfig
from bertdata.torch.models.config import Counts
from bertdata.torch.models.dropout import Draws
from bertdata.torch.models.mixed_loss import tokens_of
from bertdata.torch.models.outputs import LossTerm
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training.arithmetic import autocast
from bertdata.torch.training.distributed import Group
from bertdata.torch.training.metrics_log import LogRecord, validation_name
from bertdata.torch.training.phases import Phase
from bertdata.torch.training.settings import PretrainSettings

Batch = Mapping[str, Tensor]
Reduce = Callable[[Sequence[float]], Sequence[float]]


def count(batch: Batch, label: str | None, pad_token_id: int) -> Counts:
    """Return the counts of a batch, padded or packed."""
    labelled = int((batch["labels"] != IGNORE_INDEX).sum())
    pairs = 0 if label is None else len(batch[label])
    if "cu_seqlens" in batch:
        lengths = batch["cu_seqlens"].diff().long()
        tokens = int((batch["input_ids"] != pad_token_id).sum())
        squares = int((lengths**2).sum()) - (int(lengths.sum()) - tokens) ** 2
    else:
        lengths = batch["attention_mask"].sum(1)
        tokens, squares = int(lengths.sum()), int((lengths**2).sum())
    maskable = int(batch["maskable"].sum()) if "maskable" in batch else 0
    if (rows := batch.get("causal_rows")) is None:
        return Counts(labelled, pairs, tokens, squares, maskable)
    flags = tokens_of(rows, batch["labels"], batch.get("cu_seqlens"))
    causal = int((batch["labels"] != IGNORE_INDEX)[flags].sum())
    return Counts(labelled, pairs, tokens, squares, maskable, labelled - causal, causal)


def sent(batch: Mapping[str, Any], device: torch.device) -> dict[str, Any]:
    """Return a batch whose tensors are on a device; the host does not wait for it."""
    return {
        name: value.to(device, non_blocking=True) if isinstance(value, Tensor) else value
        for name, value in batch.items()
    }


def add(counts: Sequence[Counts]) -> Counts:
    """Return the sum of counts.

    >>> add([Counts(1, 2, 3, 4), Counts(1, 0, 1, 0)])
    Counts(labelled=2, pairs=2, tokens=4, squares=4, maskable=0, masked=0, causal=0)
    """
    return Counts(*map(sum, zip(*counts, strict=True)))


def loss_of(terms: Sequence[LossTerm], part: Counts, whole: Counts | Tensor) -> Tensor:
    """Return a part's loss, weighted so that those of all parts add up to the loss of the whole batch.

    whole: the counts of the whole batch; where they were summed on a device, float64 (7,) in the order of `Counts`.
    """
    shares = [term.weight * term.value * _share(term, part, whole) for term in terms]
    loss: Tensor = sum(shares[1:], shares[0])
    return loss


def _share(term: LossTerm, part: Counts, whole: Counts | Tensor) -> float | Tensor:
    number = getattr(part, term.per)
    if isinstance(whole, Tensor):
        share: Tensor = number / whole[Counts._fields.index(term.per)].clamp(min=1)
        return share.to(term.value.dtype)
    return float(number / max(getattr(whole, term.per), 1))


@dataclass
class Sums:
    """The sums behind the figures of the log, each of which is the mean of some fractions.

    totals: a numerator (0) or denominator (1), by (figure, number of the fraction, 0 or 1); weights: of each loss.
    """

    totals: dict[tuple[str, int, int], Tensor | float] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)

    def add(self, terms: Sequence[LossTerm], counts: Counts) -> None:
        """Add the terms of the loss of a batch, or of a part of one, that has these counts."""
        for term in terms:
            number = getattr(counts, term.per)
            loss = {f"{term.name}_loss": [(term.value.detach() * number, number)]}
            self.weights |= dict.fromkeys(loss, term.weight)
            for figure, fractions in (loss | dict(term.figures)).items():
                for row, fraction in enumerate(fractions):
                    for side, value in enumerate(fraction):
                        new = value.double() if isinstance(value, Tensor) else value
                        self.totals[figure, row, side] = self.totals.get((figure, row, side), 0.0) + new

    def means(self, reduce: Reduce = list, weight: float = 1.0) -> dict[str, float]:
        """Return the figures over all processes: loss, and those of each term; 0 where there was nothing to count.

        reduce: sums numbers over the processes; weight: 0 where those of this process do not count.

        >>> Sums({("mlm_loss", 0, 0): 8.0, ("mlm_loss", 0, 1): 4}, {"mlm_loss": 1.0}).means()
        {'loss': 2.0, 'mlm_loss': 2.0}
        """
        summed = reduce([weight * float(value) for value in self.totals.values()])
        totals = dict(zip(self.totals, summed, strict=True))
        shares: dict[str, list[float]] = {}
        for figure, row, side in totals:
            if side:
                over, under = totals[figure, row, 0], totals[figure, row, 1]
                shares.setdefault(figure, []).append(over / under if under else 0.0)
        means = {figure: sum(values) / len(values) for figure, values in shares.items()}
        return {"loss": sum(factor * means[name] for name, factor in self.weights.items()), **means}


def with_bound(figures: dict[str, float], masking: MaskingConfig) -> dict[str, float]:
    """Return figures with `nelbo` where the weighted loss is that: a bound of the loss of a token, in nats."""
    bound = masking.has_bound and "weighted_loss" in figures
    return figures | ({"nelbo": figures["weighted_loss"]} if bound else {})


def chosen_rows(total: int, most: int) -> list[int]:
    """Return the numbers of up to `most` rows spread evenly over `total`; all of them where `most` is 0.

    >>> chosen_rows(10, 4), chosen_rows(3, 4), chosen_rows(3, 0)
    ([0, 2, 5, 7], [0, 1, 2], [0, 1, 2])
    """
    count = min(total, most) if most else total
    return [number * total // count for number in range(count)]


def validate_phases(
    model: PreTrainedModel,
    group: Group,
    phases: Sequence[Phase],
    current: Phase,
    named: bool,
    settings: PretrainSettings,
    draws: Draws,
) -> LogRecord:
    """Return the losses and accuracies on the validation splits of phases; all processes call it.

    Those of the current phase are called `validation_loss` and so on; where phases are `named`, those of each
    `validation_128/loss`, with its name.
    """
    record: LogRecord = {}
    for phase in phases:
        if phase.validation is not None:
            figures = validate(model, group, phase, settings, draws)
            names = ([""] if phase is current else []) + ([phase.name] if named else [])
            for name in names:
                record |= {validation_name(figure, name): value for figure, value in figures.items()}
    return record


def validate(model: PreTrainedModel, group: Group, phase: Phase, settings: PretrainSettings, draws: Draws) -> LogRecord:
    """Return the losses and accuracies on the validation split of a phase; all processes call it."""
    dataset = phase.validation
    assert dataset is not None
    rows = chosen_rows(len(dataset), settings.validation_rows)
    share = rows[group.rank :: group.world_size]
    of_rank, weight = (share, 1.0) if share else (rows[:1], 0.0)
    of_phase = phase.for_collator(dataset)
    collator = model.collator(dataset, tokenizer=dataset.shards.tokenizer(), packing=settings.packing, **of_phase)
    at_once = settings.batch_tokens // dataset.info.max_seq_length or settings.batch_size
    size = max(1, at_once // group.world_size // phase.accumulation_steps)
    sums, info = Sums(), dataset.info
    model.eval()
    try:
        with torch.no_grad():
            for start in range(0, len(of_rank), size):
                examples = dataset.__getitems__([(0, number) for number in of_rank[start : start + size]])
                batch = collator(examples)
                counts = count(batch, info.label, info.pad_token_id)
                batch = sent(batch, group.device)
                draws.begin(batch, settings.seed, 0)
                with autocast(settings, group.device):
                    sums.add(model(**batch).terms, counts)
    finally:
        model.train()
    masking = dataset.shards.expect_pretraining().masking.for_split(dataset.shards.split)
    return with_bound(sums.means(group.all_reduce_sum, weight), masking)
