"""`SharedEpoch`: an epoch in memory that worker processes share, so that setting it reaches those that persist."""

from __future__ import annotations

import torch

from bertdata.loader.epoch import Epoch, checked


class SharedEpoch(Epoch):
    """A number of 0 or more, None until it is set, that a `DataLoader`'s workers read from the memory of their parent.

    Pickled otherwise than for a worker, it is a copy.
    """

    def __init__(self) -> None:
        self._shared = torch.full((), -1, dtype=torch.int64).share_memory_()  # type: ignore[no-untyped-call]

    def get(self) -> int | None:
        """Return the epoch, or None where none was set."""
        epoch = int(self._shared)
        return None if epoch < 0 else epoch

    def set(self, epoch: int) -> None:
        """Set the epoch; raises ConfigError for what is not a number of 0 or more."""
        self._shared.fill_(checked(epoch))
