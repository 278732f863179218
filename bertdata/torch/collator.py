"""`PretrainingCollator`: examples to a padded or packed batch of tensors, masks drawn here or read from the shards.

The batch itself is made by `bertdata.loader.collator`; tensors share its memory. What this module does not do: choosing
which examples share a batch (`sampler`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from bertdata.loader.collator import BatchCollator


class PretrainingCollator(BatchCollator):
    """Makes a batch of (N, L) int64 tensors of examples from `ShardDataset`, for the `collate_fn` of a `DataLoader`.

    It is `bertdata.loader.BatchCollator`, which says what a batch holds, padded and packed, and what is refused:
    `model(**batch)` works with a padded one.

        collator = PretrainingCollator(dataset)
        batch = collator([dataset[(0, 1)], dataset[(0, 2)]])
    """

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """Return the batch of some examples; raises ConfigError for none, or for one without the shards' columns."""
        return {name: torch.from_numpy(array) for name, array in self.arrays(examples).items()}
