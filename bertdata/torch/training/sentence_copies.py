"""Texts that occur more than once in a batch of sentence embeddings: as negatives they are masked, or kept apart.

Two texts are the same where their ids are, so where they differ only in what is cut off, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertdata.torch.data.dataset import ShardDataset

Row = tuple[int, int]
_AT_ONCE = 4096


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


def distinct_batches(rows: Iterable[Row], texts: NDArray[np.int64], batch_size: int) -> list[list[Row]]:
    """Return batches of (epoch, number) in which no text occurs twice, each row once and in its epoch.

    texts: the numbers of the texts of each row, (N, texts of a row). A row whose texts a batch has waits for the next
    one, as in NO_DUPLICATES of sentence-transformers, so the last batches of an epoch may be smaller.

    >>> distinct_batches([(0, 0), (0, 1), (0, 2)], np.array([[1, 2], [1, 3], [4, 5]]), 2)
    [[(0, 0), (0, 2)], [(0, 1)]]
    """
    by_epoch: dict[int, list[Row]] = {}
    for row in rows:
        by_epoch.setdefault(row[0], []).append(row)
    of_row = [frozenset(numbers) for numbers in texts.tolist()]
    batches = []
    for waiting in by_epoch.values():
        left = waiting
        while left:
            batch: list[Row] = []
            taken: set[int] = set()
            later = []
            for place, row in enumerate(left):
                if len(batch) == batch_size:
                    later += left[place:]
                    break
                if taken.isdisjoint(of_row[row[1]]):
                    batch.append(row)
                    taken |= of_row[row[1]]
                else:
                    later.append(row)
            batches.append(batch)
            left = later
    return batches


def texts_of(dataset: ShardDataset, texts: int) -> NDArray[np.int64]:
    """Return the numbers of the texts of each row of a data set, (N, texts): the same for the same ids."""
    names = ["input_ids", *(f"input_ids_{place}" for place in range(2, texts + 1))]
    number_of: dict[bytes, int] = {}
    numbers = np.empty((len(dataset), texts), np.int64)
    for start in range(0, len(dataset), _AT_ONCE):
        rows = dataset.__getitems__(range(start, min(start + _AT_ONCE, len(dataset))))
        for place, row in enumerate(rows, start):
            for column, name in enumerate(names):
                ids = np.asarray(row[name], np.int64).tobytes()
                numbers[place, column] = number_of.setdefault(ids, len(number_of))
    return numbers
