"""`ResumableLoader`: a `DataLoader` of our three parts that has their state, and says why a worker process died.

Workers fetch ahead of the trainer; what counts is what the trainer took. A plain `DataLoader` with the same three parts
gives the same batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor
from torch.utils.data import DataLoader

from bertdata.errors import BertDataError, ConfigError
from bertdata.torch.data.collator import PretrainingCollator
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.data.sampler import ResumableBatchSampler


@contextmanager
def explaining_workers(dataset: ShardDataset) -> Iterator[None]:
    """Say why a worker process of a `DataLoader` died: a shard that is no longer whole, or else what torch knows.

    torch raises its RuntimeError wherever the trainer stands when the worker dies, so a whole training loop belongs
    inside. Raises InputError that names the shard, if one was cut off or is gone, else BertDataError.
    """
    try:
        yield
    except RuntimeError as error:
        if "DataLoader worker" not in str(error):
            raise
        for one in dataset.sets:
            one.check_sizes()
        raise BertDataError(
            f"a process that prepares batches died ({error}); all shards are whole. Often memory ran out: take fewer "
            "num_workers or a smaller prefetch_factor, or look at the system's log"
        ) from error


class ResumableLoader(DataLoader[Any]):
    """A `DataLoader` of a data set, a sampler and a collator, with `state_dict` and `load_state_dict`.

    Frameworks that look for these two find them (Lightning, Accelerate's `register_for_checkpointing`). After an
    iteration that was broken off, the next one goes on after the last batch that was taken. Further keywords are those
    of `DataLoader`. Where a worker process dies, iteration raises InputError that names the shard, if one was cut off
    or is gone, else BertDataError. Raises ConfigError for `in_order=False`, for then no position says what was taken.

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
        super().__init__(
            dataset,
            batch_sampler=sampler,
            collate_fn=collator or PretrainingCollator(dataset),
            **keywords,
        )

    def __iter__(self) -> Any:
        return self._explaining(super().__iter__())

    def _explaining(self, batches: Iterator[dict[str, Tensor]]) -> Iterator[dict[str, Tensor]]:
        assert isinstance(self.dataset, ShardDataset)
        with explaining_workers(self.dataset):
            yield from batches

    def state_dict(self) -> dict[str, int]:
        """Return where the run is after the last batch taken, as `ResumableBatchSampler.state_dict` does."""
        return self._order.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state at the next iteration; raises ConfigError as the sampler's `load_state_dict` does."""
        self._order.load_state_dict(state)
