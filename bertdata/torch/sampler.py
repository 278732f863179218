"""`ResumableSampler`: the order of a run as a function, so that a position is all its state.

The run is one line of examples: epoch 0 in an order of its own, then epoch 1 in another, and so on. Each step takes the
next `world_size * batch_size` of the line and deals them to the ranks in equal runs. The order is an index permutation
computed in O(1) memory, so nothing is buffered, and a run resumed on another world size goes on where the line stopped.
What this module does not do: reading examples, masks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import torch.distributed
from torch.utils.data import Sampler

from bertdata.draws import bits, key, permutation
from bertdata.errors import ConfigError

_STATE = ("version", "position", "examples", "data", "seed")
_VERSION = 1


class Sized(Protocol):
    """What is sampled: anything with a length; `fingerprint`, where it has one, tells it from other data."""

    def __len__(self) -> int: ...


class ResumableSampler(Sampler[list[tuple[int, int]]]):
    """Yields batches of (epoch, number) pairs, for the `batch_sampler` of a `DataLoader`.

    One iteration is `epochs` epochs (None: without end); the next iteration goes on with the epochs behind them, in new
    orders. An iteration that is broken off starts again at the same place, as a `DataLoader` restarts an epoch.

    Over all ranks each example comes exactly once an epoch, for any number of examples, ranks and batch size. A batch
    inside an iteration may span two epochs and is always full. The last steps share out what is left evenly, so that
    every rank takes as many steps and has no batch over `batch_size`; two cases cannot be shared so: with a batch size
    of 1, the last batch of some ranks has two examples, and where fewer examples than ranks are left altogether, the
    ranks behind them end a step earlier. `drop_last` leaves out what does not fill a step.

    Rank and world size are those of torch.distributed where it is initialised, else 0 and 1. Raises ConfigError for
    settings that cannot be met, such as a world size of 0 or no examples.

        sampler = ResumableSampler(dataset, batch_size=256, epochs=None, seed=1)
        loader = DataLoader(dataset, batch_sampler=sampler, collate_fn=collator, num_workers=4)
        for step, batch in enumerate(loader, 1):
            ...
            state = sampler.state_dict(step)        # a few integers
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        *,
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
        _require(world_size >= 1, f"world_size is {world_size}; expected at least 1")
        _require(0 <= rank < world_size, f"rank is {rank}; expected 0 to {world_size - 1} for world_size {world_size}")
        _require(batch_size >= 1, f"batch_size is {batch_size}; expected at least 1")
        _require(epochs is None or epochs >= 1, f"epochs is {epochs}; expected at least 1, or None for no end")
        _require(len(dataset) >= 1, "the data set holds no examples; expected at least one")
        self.batch_size, self.epochs, self.seed, self.drop_last = batch_size, epochs, seed, drop_last
        self.rank, self.world_size = rank, world_size
        self._examples = len(dataset)
        self._data = int(getattr(dataset, "fingerprint", 0))
        self._key = key(seed, "sampler epoch")
        self._begin = self._next = self._position = 0
        if drop_last and epochs is not None:
            group = world_size * batch_size
            _require(
                epochs * self._examples >= group,
                f"drop_last leaves no batch: {epochs} x {self._examples} examples do not fill one step of "
                f"{world_size} x {batch_size}; take smaller batches, or keep the last",
            )

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration starts in, or the running one started in."""
        return self._next // self._examples

    def __len__(self) -> int:
        """Return how many batches this rank gets from the next iteration; raises TypeError where it has no end."""
        end = self._end(self._next)
        if end is None:
            raise TypeError("a ResumableSampler with epochs=None has no end, so no len")
        full, tail = self._steps(end - self._next)
        return full + sum(self.rank < size for size in tail)

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        self._begin = self._position = begin = self._next
        end = self._end(begin)
        full, tail = self._steps(end - begin) if end is not None else (0, [])
        batch = 0
        while end is None or batch < full + len(tail):
            start = self._behind(begin, batch)
            size = self.world_size * self.batch_size if end is None or batch < full else tail[batch - full]
            batch += 1
            self._position = self._behind(begin, batch)
            each, more = divmod(size, self.world_size)
            first, last = (start + rank * each + min(rank, more) for rank in (self.rank, self.rank + 1))
            if first < last:
                yield self._pairs(first, last)
        self._next = self._position = end

    def state_dict(self, batches: int | None = None) -> dict[str, int]:
        """Return where the run is, as a few integers: the same on every rank, good for any world size and batch size.

        `batches` is how many the trainer has taken in this iteration. A `DataLoader` with workers fetches ahead, so
        with workers it must be given; without, it may be left out, and what was yielded counts. Raises ConfigError for
        more batches than the iteration has.
        """
        position = self._position if batches is None else self._behind(self._begin, batches)
        return dict(zip(_STATE, (_VERSION, position, self._examples, self._data, self.seed), strict=True))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; raises ConfigError for one of another data set or seed, or that is not one of ours."""
        _require(
            set(_STATE) <= set(state) and all(isinstance(state[name], int) for name in _STATE),
            f"this is not a state of ResumableSampler; expected the integers {', '.join(_STATE)}, "
            f"found {', '.join(map(str, sorted(state))) or 'nothing'}",
        )
        _require(
            state["version"] == _VERSION,
            f"the state has version {state['version']}; this bertdata reads {_VERSION}: start the run again",
        )
        _require(
            state["examples"] == self._examples and state["data"] == self._data,
            f"the state is of another data set ({state['examples']} examples there, {self._examples} here); "
            "resume with the shards it was made with",
        )
        _require(
            state["seed"] == self.seed, f"the state is of seed {state['seed']}, this run's is {self.seed}; use the same"
        )
        _require(state["position"] >= 0, f"the state has position {state['position']}; expected 0 or more")
        self._begin = self._next = self._position = state["position"]

    def _end(self, position: int) -> int | None:
        """Where the iteration that a position lies in ends."""
        if self.epochs is None:
            return None
        period = self.epochs * self._examples
        return (position // period + 1) * period

    def _steps(self, left: int) -> tuple[int, list[int]]:
        """Return the number of full steps, and the sizes of the one or two that share out the rest over all ranks."""
        group = self.world_size * self.batch_size
        full, rest = divmod(left, group)
        if self.drop_last or not rest:
            return full, []
        if not full or rest >= self.world_size:
            return full, [rest]
        both = group + rest
        return full - 1, [both] if self.batch_size == 1 else [both - both // 2, both // 2]

    def _behind(self, begin: int, batches: int) -> int:
        """Return the position behind a number of batches of the iteration that began at `begin`."""
        _require(batches >= 0, f"{batches} batches were taken; expected 0 or more")
        group, end = self.world_size * self.batch_size, self._end(begin)
        if end is None:
            return begin + batches * group
        full, tail = self._steps(end - begin)
        _require(
            batches <= full + len(tail),
            f"{batches} batches were taken, but this iteration has {full + len(tail)}; count from its start",
        )
        if batches == full + len(tail):
            return end
        return begin + min(batches, full) * group + sum(tail[: max(0, batches - full)])

    def _pairs(self, start: int, stop: int) -> list[tuple[int, int]]:
        epochs, places = np.divmod(np.arange(start, stop, dtype=np.int64), self._examples)
        pairs: list[tuple[int, int]] = []
        for epoch in np.unique(epochs).tolist():
            numbers = permutation(places[epochs == epoch], self._examples, int(bits(self._key, epoch)))
            pairs += [(epoch, number) for number in numbers.tolist()]
        return pairs


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigError(message)
