"""`ShardDataset`: the examples of memory-mapped shards, by number, for a plain `DataLoader`.

The reading itself is `bertdata.loader.examples`.
"""

from __future__ import annotations

from torch.utils.data import Dataset

from bertdata.loader.examples import Example, Index, ShardExamples
from bertdata.torch.data.epoch import SharedEpoch

__all__ = ["Example", "Index", "ShardDataset"]


class ShardDataset(ShardExamples, Dataset[Example]):
    """A map-style data set over shards, for the `dataset` of a `DataLoader`.

    It is `bertdata.loader.ShardExamples`, which says what an example holds. It works with any number of workers, forked
    or spawned. Raises InputError where there are no shards or they are damaged, ConfigError where sets of shards do not
    fit together.

        dataset = ShardDataset("shards/train")
        dataset[3]           # {"input_ids": array([2, 87, ...], dtype=uint16), ..., "example_id": 5577...}
        dataset[(1, 3)]      # the same, and "epoch": 1
    """

    _epoch_type = SharedEpoch
