"""`PermutationLMCollator`: the batches of `bertdata.loader.PermutationCollator` as tensors."""

from __future__ import annotations

from bertdata.loader.permutation import PermutationCollator
from bertdata.torch.data.dataset import PretrainingCollator


class PermutationLMCollator(PermutationCollator, PretrainingCollator):
    """Makes batches of tensors for `XLNetLMHeadModel` of transformers, for the `collate_fn` of a `DataLoader`.

    Settings and contents are those of `bertdata.loader.PermutationCollator`; examples without an epoch have that of
    `PretrainingCollator`.

        collator = PermutationLMCollator(dataset)
        loss = model(**collator([dataset[(0, 1)], dataset[(0, 2)]])).loss
    """
