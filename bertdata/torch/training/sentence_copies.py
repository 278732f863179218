"""Texts that occur more than once in a batch of sentence embeddings: as negatives they are masked.

Two texts are the same where their ids are, so where they differ only in what is cut off, too. Batches in which none
occurs twice are made by the sampler (`distinct`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def numbers_of_texts(texts: Sequence[Tensor], padding: float = 0) -> list[Tensor]:
    """Return a number for each text of each example, int64 (N,) of each: the same for the same text.

    texts: their ids (N, L), padded, or vectors of them.

    >>> numbers_of_texts([torch.tensor([[7, 8], [7, 0]]), torch.tensor([[9], [7]])])
    [tensor([1, 0]), tensor([2, 0])]
    """
    width = max(rows.shape[1] for rows in texts)
    same = [torch.nn.functional.pad(rows, (0, width - rows.shape[1]), value=padding) for rows in texts]
    _, numbers = torch.unique(torch.cat(same), dim=0, return_inverse=True)
    return list(numbers.split([len(rows) for rows in texts]))


def copies_among(numbers: Sequence[Tensor]) -> Tensor:
    """Return which candidates are no negatives of a row though they are not its own second text, bool (N, C).

    numbers: those of the texts, as `numbers_of_texts` gives them; the candidates are all second texts, then all third
    ones. No negatives are copies of the row's first or second text, and second texts of the same first text.

    >>> copies_among([torch.tensor([1, 1, 2]), torch.tensor([5, 6, 5])])
    tensor([[False,  True,  True],
            [ True, False, False],
            [ True, False, False]])
    """
    anchors, positives, *_ = numbers
    candidates = torch.cat(list(numbers[1:]))
    copies = (positives[:, None] == candidates) | (anchors[:, None] == candidates)
    copies[:, : len(anchors)] |= anchors[:, None] == anchors
    copies[:, : len(anchors)].fill_diagonal_(False)
    return copies
