"""The batches of a split for a model that is measured or predicts, in the order of its rows."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from bertdata.torch.data.dataset import PretrainingCollator, ShardDataset


def batches_of(dataset: ShardDataset, batch_size: int) -> Iterator[dict[str, Tensor]]:
    """Yield the batches of a split in the order of its rows."""
    collator = PretrainingCollator(dataset)
    for start in range(0, len(dataset), batch_size):
        yield collator(dataset.__getitems__(range(start, min(start + batch_size, len(dataset)))))


def moved(batch: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    """Return a batch on a device."""
    return {name: value.to(device) for name, value in batch.items()}
