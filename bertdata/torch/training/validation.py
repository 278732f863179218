"""The losses of a pretraining run on the validation split, with the same masks each time.

Rows are spread evenly over the split and masked as in epoch 0; the processes of a run share them.
"""

from __future__ import annotations

import torch

from bertdata.torch.data.collator import PretrainingCollator
from bertdata.torch.models.dropout import Draws
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training.distributed import Group
from bertdata.torch.training.losses import Sums, count
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.phases import Phase
from bertdata.torch.training.settings import PretrainSettings


def chosen_rows(total: int, most: int) -> list[int]:
    """Return the numbers of up to `most` rows spread evenly over `total`; all of them where `most` is 0.

    >>> chosen_rows(10, 4), chosen_rows(3, 4), chosen_rows(3, 0)
    ([0, 2, 5, 7], [0, 1, 2], [0, 1, 2])
    """
    count = min(total, most) if most else total
    return [number * total // count for number in range(count)]


def validate(model: PreTrainedModel, group: Group, phase: Phase, settings: PretrainSettings, draws: Draws) -> LogRecord:
    """Return the losses and accuracies on the validation split, each named `validation_...`; all processes call it."""
    dataset = phase.validation
    assert dataset is not None
    rows = chosen_rows(len(dataset), settings.validation_rows)
    share = rows[group.rank :: group.world_size]
    own, weight = (share, 1.0) if share else (rows[:1], 0.0)
    collator = PretrainingCollator(dataset, tokenizer=dataset.shards.tokenizer(), packing=settings.packing)
    size = max(1, settings.batch_size // group.world_size // phase.accumulation_steps)
    sums, info = Sums(), dataset.info
    model.eval()
    try:
        with torch.no_grad():
            for start in range(0, len(own), size):
                examples = dataset.__getitems__([(0, number) for number in own[start : start + size]])
                batch = collator(examples)
                counts = count(batch, info.label, info.pad_token_id)
                batch = {name: value.to(group.device) for name, value in batch.items()}
                draws.begin(batch, settings.seed, 0)
                with torch.autocast(group.device.type, torch.bfloat16, enabled=settings.bf16):
                    sums.add(model(**batch).terms, counts)
    finally:
        model.train()
    return {f"validation_{name}": value for name, value in sums.means(group.all_reduce_sum, weight).items()}
