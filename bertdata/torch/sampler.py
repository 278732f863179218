"""`ResumableSampler`: the order of a run for a `DataLoader`; rank and world size are those of torch.distributed.

The order itself is `bertdata.loader.sampler`. What this module does not do: reading examples, masks.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch.distributed
from torch.utils.data import Sampler

from bertdata.loader.bins import Weights
from bertdata.loader.sampler import BatchSampler, Sized


class ResumableSampler(BatchSampler, Sampler[list[tuple[int, int]]]):
    """Yields batches of (epoch, number) pairs, for the `batch_sampler` of a `DataLoader`.

    It is `bertdata.loader.BatchSampler`, which says what the settings mean and what holds for the batches, with the
    rank and world size of torch.distributed where it is initialised, else 0 and 1. Raises ConfigError for settings that
    cannot be met, such as a world size of 0 or no examples.

        sampler = ResumableSampler(dataset, batch_size=256, epochs=None, seed=1)
        loader = DataLoader(dataset, batch_sampler=sampler, collate_fn=collator, num_workers=4)
        for step, batch in enumerate(loader, 1):
            ...
            state = sampler.state_dict(step)        # a few integers
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int | None = None,
        *,
        max_tokens: int | None = None,
        bins: Sequence[int] | None = None,
        weights: Weights | None = None,
        epochs: int | None = 1,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
        drop_last: bool = False,
    ) -> None:
        distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
        if world_size is None:
            world_size = torch.distributed.get_world_size() if distributed else 1
        if rank is None:
            rank = torch.distributed.get_rank() if distributed else 0
        super().__init__(
            dataset,
            batch_size,
            max_tokens=max_tokens,
            bins=bins,
            weights=weights,
            epochs=epochs,
            seed=seed,
            rank=rank,
            world_size=world_size,
            drop_last=drop_last,
        )
