"""`ResumableBatchSampler`, the order of a run for a `DataLoader`, and `ResumableLoader`, a `DataLoader` with its state.

The order is that of `bertdata.loader.sampler`. Workers fetch batches ahead of the trainer; the state counts those that
the trainer took. A plain `DataLoader` of the same data set, sampler and collator gives the same batches.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any

import torch.distributed
from torch import Tensor
from torch.utils.data import DataLoader, Sampler

from bertdata.errors import BertDataError, ConfigError
from bertdata.loader.sampler import EpochBatchSampler, Row
from bertdata.torch.data.dataset import PretrainingCollator, ShardDataset

_DEPTH = 8
"""Frames above `__iter__` in which to look for the `DataLoader`; it is in the fourth."""


class ResumableBatchSampler(EpochBatchSampler, Sampler[list[Row]]):
    """Yields batches of (epoch, number) pairs, for the `batch_sampler` of a `DataLoader`.

    Settings and batches are those of `bertdata.loader.EpochBatchSampler`; rank and world size are those of
    torch.distributed where it is initialised, else 0 and 1. Raises ConfigError for settings that cannot be met, such as
    a world size of 0 or no examples.

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

    def __iter__(self) -> Iterator[list[Row]]:
        return self.batches(self._read_ahead())

    def _read_ahead(self) -> int:
        """Return how many batches are asked for before the first is used, by the `DataLoader` that starts to iterate.

        A `DataLoader` does not tell its sampler; its call of `iter` is a few frames above ours. 0 without workers, and
        where something else iterates.
        """
        frame, depth = sys._getframe(2), 0
        while frame is not None and depth < _DEPTH:
            loader = frame.f_locals.get("self")
            if isinstance(loader, DataLoader) and loader.batch_sampler is self:
                return loader.num_workers * (loader.prefetch_factor or 0)
            frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
        return 0


@contextmanager
def explaining_workers(dataset: ShardDataset) -> Iterator[None]:
    """Explain the death of a worker process of a `DataLoader`: a truncated or missing shard, or else torch's reason.

    torch raises its RuntimeError wherever the trainer is when the worker dies, so put the whole training loop inside.
    Raises InputError that names the shard, if one is truncated or missing, else BertDataError.
    """
    try:
        yield
    except RuntimeError as error:
        if "DataLoader worker" not in str(error):
            raise
        for shards in dataset.sets:
            shards.check_sizes()
        raise BertDataError(
            f"a process that prepares batches died ({error}); all shards are intact. Often memory ran out: take fewer "
            "num_workers or a smaller prefetch_factor, or look at the system's log"
        ) from error


def begin_worker(then: Callable[[int], None] | None, number: int) -> None:
    """Prepare a worker process of a loader, then call its `worker_init_fn`.

    When the process that reads its batches is killed, a thread of Python that hands them over prints a traceback; here
    it is left out, for the worker ends by itself.
    """
    parent, hook = os.getppid(), sys.excepthook

    def unless_orphaned(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, OSError | EOFError):
            for _ in range(20):  # files are closed a moment before a process is gone
                if os.getppid() != parent:
                    return
                time.sleep(0.05)
        hook(kind, error, trace)

    sys.excepthook = unless_orphaned
    if then is not None:
        then(number)


class ResumableLoader(DataLoader[Any]):
    """A `DataLoader` of a data set, a sampler and a collator, with `state_dict` and `load_state_dict`.

    Frameworks use these two (Lightning, Accelerate's `register_for_checkpointing`). After an interrupted iteration, the
    next one continues after the last batch that was taken. Further keywords are those of `DataLoader`. Where a worker
    process dies, iteration raises InputError that names the shard, if one is truncated or missing, else BertDataError.
    Raises ConfigError for `in_order=False`, for the order of batches is part of the state.

        loader = ResumableLoader(dataset, ResumableBatchSampler(dataset, 256, epochs=None), num_workers=4)
        for batch in loader:
            ...
            state = loader.state_dict()         # a few integers
    """

    def __init__(
        self,
        dataset: ShardDataset,
        sampler: ResumableBatchSampler,
        collator: PretrainingCollator | None = None,
        **keywords: Any,
    ) -> None:
        if not keywords.get("in_order", True):
            raise ConfigError("in_order is False, and the order of batches is part of the state; leave it out")
        self._order = sampler
        keywords["worker_init_fn"] = partial(begin_worker, keywords.get("worker_init_fn"))
        super().__init__(
            dataset, batch_sampler=sampler, collate_fn=collator or PretrainingCollator(dataset), **keywords
        )

    def __repr__(self) -> str:
        return (
            f"ResumableLoader, {self.num_workers} workers\n  {self.dataset!r}\n  {self._order!r}\n  {self.collate_fn!r}"
        )

    def __iter__(self) -> Any:
        return self._explaining(super().__iter__())

    def _explaining(self, batches: Iterator[dict[str, Tensor]]) -> Iterator[dict[str, Tensor]]:
        assert isinstance(self.dataset, ShardDataset)
        with explaining_workers(self.dataset):
            yield from batches

    def state_dict(self) -> dict[str, int]:
        """Return the state after the last batch taken, as `ResumableBatchSampler.state_dict` does."""
        return self._order.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state at the next iteration; raises ConfigError as the sampler's `load_state_dict` does."""
        self._order.load_state_dict(state)
