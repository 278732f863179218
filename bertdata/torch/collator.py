"""`PretrainingCollator`: examples to a padded or packed batch of tensors, masks drawn here or read from the shards.

The batch itself is made by `bertdata.loader.collator`; tensors share its memory. What this module does not do: choosing
which examples share a batch (`sampler`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertdata.loader.collator import BatchCollator, Ints

COMPILED_FROM = 1 << 19
"""Tokens after which a collator masks with the compiled kernel: loading it takes longer than masking these in torch."""


class PretrainingCollator(BatchCollator):
    """Makes a batch of (N, L) int64 tensors of examples from `ShardDataset`, for the `collate_fn` of a `DataLoader`.

    It is `bertdata.loader.BatchCollator`, which says what a batch holds, padded and packed, and what is refused:
    `model(**batch)` works with a padded one.

        collator = PretrainingCollator(dataset)
        batch = collator([dataset[(0, 1)], dataset[(0, 2)]])
    """

    _tokens = 0

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """Return the batch of some examples; raises ConfigError for none, or for one without the shards' columns."""
        return {name: torch.from_numpy(array) for name, array in self.arrays(examples).items()}

    def _drawn(
        self, input_ids: NDArray[np.integer], offsets: Ints, special: NDArray[np.bool_], ids: Ints, epoch: int
    ) -> tuple[Ints, Ints]:
        self._tokens += len(input_ids)
        width = int(offsets[1] - offsets[0])
        if self._tokens > COMPILED_FROM or self.masking.mask_unit != "token" or not (np.diff(offsets) == width).all():
            return super()._drawn(input_ids, offsets, special, ids, epoch)
        from bertdata.torch.device import mask_tokens

        masked, labels = mask_tokens(
            torch.from_numpy(input_ids.reshape(-1, width).astype(np.int64)),
            torch.from_numpy(special.reshape(-1, width)),
            torch.from_numpy(ids),
            torch.full((len(ids),), epoch),
            config=self.masking,
            seed=self.seed,
            mask_token_id=self.info.mask_token_id,
            replacement_ids=torch.from_numpy(self.choices()),
        )
        return masked.numpy().ravel(), labels.numpy().ravel()
