"""`ResumableBatchSampler`: the order of a run for a `DataLoader`; rank and world size are those of torch.distributed.

The order itself is `bertdata.loader.sampler`. What is added is how many batches a `DataLoader` asks for before it hands
out the first, so that those count as taken that the trainer has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import torch.distributed
from torch.utils.data import DataLoader, Sampler

from bertdata.loader.sampler import EpochBatchSampler


class ResumableBatchSampler(EpochBatchSampler, Sampler[list[tuple[int, int]]]):
    """Yields batches of (epoch, number) pairs, for the `batch_sampler` of a `DataLoader`.

    It is `bertdata.loader.EpochBatchSampler`, which says what the settings mean and what holds for the batches, with
    the rank and world size of torch.distributed where it is initialised, else 0 and 1. Raises ConfigError for settings
    that cannot be met, such as a world size of 0 or no examples.

        sampler = ResumableBatchSampler(dataset, batch_size=256, epochs=None, seed=1)
        loader = DataLoader(dataset, batch_sampler=sampler, collate_fn=collator, num_workers=4)
        for batch in loader:
            ...
            state = sampler.state_dict()            # a few integers
    """

    def _process(self) -> tuple[int, int]:
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return torch.distributed.get_rank(), torch.distributed.get_world_size()
        return super()._process()

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        return self.batches(self._read_ahead())

    def _read_ahead(self) -> int:
        """Return how many batches are asked for before the first is used, by the `DataLoader` that starts to iterate.

        A `DataLoader` does not tell its sampler; its call of `iter` stands a few frames above ours. 0 without workers,
        and where something else iterates.
        """
        frame, depth = sys._getframe(2), 0
        while frame is not None and depth < _DEPTH:
            loader = frame.f_locals.get("self")
            if isinstance(loader, DataLoader) and loader.batch_sampler is self:
                return loader.num_workers * (loader.prefetch_factor or 0)
            frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
        return 0


_DEPTH = 8
"""Frames from our `__iter__` up in which to look for the `DataLoader`; it stands in the fourth."""
