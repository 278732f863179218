"""`ShardDataset`: the examples of memory-mapped shards, by number, for a plain `DataLoader`.

Examples are read by `bertdata.loader.examples`. `SharedEpoch` is an epoch that reaches persistent worker processes.
"""

from __future__ import annotations

import torch
from torch.utils.data import Dataset

from bertdata.loader.epoch import Epoch, check_epoch
from bertdata.loader.examples import Example, Index, ShardExamples

__all__ = ["Example", "Index", "ShardDataset", "SharedEpoch"]


class SharedEpoch(Epoch):
    """A number of 0 or more, None until it is set, in memory that a `DataLoader` shares with its workers.

    Pickled for anything but a worker, it is a copy.
    """

    def __init__(self) -> None:
        self._shared = torch.full((), -1, dtype=torch.int64).share_memory_()  # type: ignore[no-untyped-call]

    def get(self) -> int | None:
        """Return the epoch, or None where none was set."""
        epoch = int(self._shared)
        return None if epoch < 0 else epoch

    def set(self, epoch: int) -> None:
        """Set the epoch; raises ConfigError for what is not a number of 0 or more."""
        self._shared.fill_(check_epoch(epoch))


class ShardDataset(ShardExamples, Dataset[Example]):
    """A map-style data set over shards, for the `dataset` of a `DataLoader`.

    The contents of an example are those of `bertdata.loader.ShardExamples`. It works with any number of workers, forked
    or spawned. Raises InputError where there are no shards or they are damaged, ConfigError where sets of shards do not
    fit together.

        dataset = ShardDataset("shards/train")
        dataset[3]           # {"input_ids": array([2, 87, ...], dtype=uint16), ..., "example_id": 5577...}
        dataset[(1, 3)]      # the same, and "epoch": 1
    """

    _epoch_type = SharedEpoch
