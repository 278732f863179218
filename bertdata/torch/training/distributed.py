"""Data-parallel processes: one, or those that torchrun started, each with the whole model and a part of every batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn

from bertdata.errors import ConfigError
from bertdata.torch.training.optimization import choose_device


@dataclass(frozen=True)
class Group:
    """This process among those of the run."""

    rank: int
    world_size: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this is the process of rank 0, which writes and reports."""
        return self.rank == 0

    def barrier(self) -> None:
        """Wait for all processes."""
        if self.world_size > 1:
            distributed.barrier()

    def all_reduce_sum(self, values: Sequence[float]) -> list[float]:
        """Return the sums of values over all processes."""
        if self.world_size == 1:
            return list(values)
        sums = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(sums)
        return [float(value) for value in sums.tolist()]

    def sum_of(self, value: Tensor) -> Tensor:
        """Return the sum of a tensor over all processes, on its device, which nobody waits for."""
        if self.world_size > 1:
            distributed.all_reduce(value)
        return value

    def all_reduce_max(self, values: Sequence[float]) -> list[float]:
        """Return the largest of each value over all processes."""
        if self.world_size == 1:
            return list(values)
        largest = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(largest, op=distributed.ReduceOp.MAX)
        return [float(value) for value in largest.tolist()]

    def parallel(self, model: nn.Module) -> nn.Module:
        """Return the model with its gradients averaged over all processes."""
        if self.world_size == 1:
            return model
        ids = [self.device] if self.device.type == "cuda" else None
        unused = getattr(model, "has_unused", False)
        return nn.parallel.DistributedDataParallel(
            model, device_ids=ids, broadcast_buffers=False, find_unused_parameters=unused
        )


@contextmanager
def init_distributed(device: str) -> Iterator[Group]:
    """Join the process group where torchrun started this process; `cuda` is then the device of its local rank.

    Raises ConfigError for a device that does not exist.
    """
    chosen, given = choose_device(device), os.environ.get("WORLD_SIZE", "1")
    if not (given.isascii() and given.isdigit() and int(given)):
        raise ConfigError(f"WORLD_SIZE is {given!r}; expected the number of processes, as torchrun sets it, or none")
    size = int(given)
    if size == 1:
        yield Group(0, 1, chosen)
        return
    if chosen.type == "cuda":
        chosen = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(chosen)
    begun = not distributed.is_initialized()
    if begun:
        distributed.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield Group(distributed.get_rank(), size, chosen)
    finally:
        if begun:
            distributed.destroy_process_group()
