"""`BatchSampler`: the order of a run as a function, so that positions are all its state.

The run is one line of examples (`lines`), or one for each length bin (`bins`). Each step takes the next of a line for
all ranks (`schedule`) and deals them to the ranks in equal runs. Nothing is buffered, and a run resumed on another
world size goes on where the lines stopped. What this module does not do: reading examples, masks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np

from bertdata.draws import text_bits
from bertdata.errors import ConfigError
from bertdata.loader.bins import Weights, bins_of
from bertdata.loader.schedule import Schedule, Segment

_STATE = ("version", "position", "examples", "data", "seed", "order")
_VERSION = 2
_AHEAD = 16
"""Steps whose examples are looked up at once; many places cost hardly more than one."""


class Sized(Protocol):
    """What is sampled: anything with a length; `fingerprint`, where it has one, tells it from other data.

    Length bins need `lengths` (N,), and weights `sizes`, the number of examples of each set, both as `ShardExamples`
    has them.
    """

    def __len__(self) -> int: ...


class BatchSampler:
    """Yields the batches of one rank, each a list of (epoch, number) pairs.

    One iteration is `epochs` epochs (None: without end); the next iteration goes on with the epochs behind them, in new
    orders. An iteration that is broken off starts again at the same place, as a `DataLoader` restarts an epoch.

    A batch has `batch_size` examples, or as many as fill `max_tokens` when padded to a multiple of 8. `bins` are
    lengths, such as (64, 128, 256, 512): a batch has rows of one bin, the same for all ranks at each step; they cost a
    byte of memory an example, the plain order none; shards built in bins are read in theirs. `weights` mix the sets of
    a data set of several (`ShardExamples`), or by name, as {"wikipedia": 3, "books": 1}, its sources: an epoch then is
    as many examples as there are, dealt by weight, and each set or source is gone through in its own epochs.

    Without weights, each example comes exactly once an epoch over all ranks, for any number of examples, ranks and
    batch size. A batch inside an iteration may span two epochs and is always full. The last steps share out what is
    left evenly, so that every rank takes as many steps and has no batch over `batch_size`; two cases cannot be shared
    so: with a batch size of 1, the last batch of some ranks has two examples, and where fewer examples than ranks are
    left altogether, the ranks behind them end a step earlier. `drop_last` leaves out what does not fill a step.

    Raises ConfigError for settings that cannot be met, such as a world size of 0 or no examples.

    >>> sampler = BatchSampler(range(5), 2, seed=1)
    >>> [len(batch) for batch in sampler], sorted(number for epoch, number in sum(sampler, []))
    ([2, 2, 1], [0, 1, 2, 3, 4])
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
        rank: int = 0,
        world_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        _require(world_size >= 1, f"world_size is {world_size}; expected at least 1")
        _require(0 <= rank < world_size, f"rank is {rank}; expected 0 to {world_size - 1} for world_size {world_size}")
        _require(epochs is None or epochs >= 1, f"epochs is {epochs}; expected at least 1, or None for no end")
        found = bins_of(dataset, batch_size=batch_size, max_tokens=max_tokens, widths=bins, weights=weights, seed=seed)
        self.bins, self.epochs, self.seed, self.drop_last = found, epochs, seed, drop_last
        self.rank, self.world_size = rank, world_size
        self._examples = len(dataset)
        self._data = int(getattr(dataset, "fingerprint", 0))
        widths = [one.width for one in found]
        self._order = text_bits(json.dumps([widths, weights], sort_keys=True)) >> 1 if len(found) > 1 or weights else 0
        self._schedule = Schedule(found, world_size, epochs, drop_last)
        self._begin = self._next = (0,) * len(found)
        self._taken, self._mark = 0, (0, self._begin)
        if drop_last and epochs is not None and not max(self._schedule.count(self._begin)):
            raise ConfigError(
                f"drop_last leaves no batch: {epochs} x {self._examples} examples do not fill one step of "
                f"{world_size} x {batch_size or f'{max_tokens} tokens'}; take smaller batches, or keep the last"
            )

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration starts in, or the running one started in."""
        return sum(self._next) // self._examples

    def __len__(self) -> int:
        """Return how many batches this rank gets from the next iteration; raises TypeError where it has no end."""
        if self.epochs is None:
            raise TypeError(f"a {type(self).__name__} with epochs=None has no end, so no len")
        return self._schedule.count(self._next)[self.rank]

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        self._begin, self._taken, self._mark = self._next, 0, (0, self._next)
        steps = self._schedule.steps(self._begin)
        while ahead := list(islice(steps, _AHEAD)):
            for batch in self._shares(ahead):
                self._taken += 1
                if batch:
                    yield batch
        self._next = self._ends(self._begin)

    def state_dict(self, batches: int | None = None) -> dict[str, int]:
        """Return where the run is, as a few integers: the same on every rank, good for any world size and batch size.

        `batches` is how many the trainer has taken in this iteration. A `DataLoader` with workers fetches ahead, so
        with workers it must be given; without, it may be left out, and what was yielded counts. Raises ConfigError for
        more batches than the iteration has.
        """
        positions = self._behind(self._taken if batches is None else batches)
        state = (_VERSION, sum(positions), self._examples, self._data, self.seed, self._order)
        single = len(positions) == 1
        return dict(zip(_STATE, state, strict=True)) | (
            {} if single else {f"bin_{number}": position for number, position in enumerate(positions)}
        )

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; raises ConfigError for one of another data set or seed, or that is not one of ours."""
        found = [name for name in _STATE if type(state.get(name)) is int]
        _require(
            "version" in found,
            f"this is not a state of {type(self).__name__}; expected the integers {', '.join(_STATE)}, "
            f"found {', '.join(map(str, sorted(state))) or 'nothing'}",
        )
        _require(
            state["version"] == _VERSION,
            f"the state has version {state['version']}; this bertdata reads {_VERSION}: start the run again",
        )
        missing = [name for name in _STATE if name not in found]
        _require(not missing, f"the state has no whole number for {', '.join(missing)}; take another checkpoint")
        _require(
            state["examples"] == self._examples and state["data"] == self._data,
            f"the state is of another data set ({state['examples']} examples there, {self._examples} here); "
            "resume with the shards it was made with",
        )
        _require(
            state["seed"] == self.seed, f"the state is of seed {state['seed']}, this run's is {self.seed}; use the same"
        )
        names = ["position"] if len(self.bins) == 1 else [f"bin_{number}" for number in range(len(self.bins))]
        _require(
            state["order"] == self._order and all(type(state.get(name)) is int for name in names),
            "the state is of a run with other length bins or weights; use the same",
        )
        positions = tuple(int(state[name]) for name in names)
        _require(
            min(positions) >= 0 and sum(positions) == state["position"],
            f"the state has position {state['position']}, its bins {', '.join(map(str, positions))}; "
            "expected numbers of 0 or more that add up: take another checkpoint",
        )
        self._begin = self._next = positions
        self._taken, self._mark = 0, (0, positions)

    def _behind(self, batches: int) -> tuple[int, ...]:
        """Return the positions behind a number of steps of the running iteration."""
        _require(batches >= 0, f"{batches} batches were taken; expected 0 or more")
        done, places = self._mark if self._mark[0] <= batches else (0, self._begin)
        if len(self.bins) == 1:
            group = self.world_size * self.bins[0].batch
            jump = batches - done
            if self.epochs is not None:
                jump = max(0, min(jump, (self._ends(places)[0] - places[0]) // group - 1))
            done, places = done + jump, (places[0] + jump * group,)
        steps, reached = self._schedule.steps(places), list(places)
        for step in islice(steps, batches - done):
            done += 1
            for number, _, stop in step:
                reached[number] = stop
        _require(done == batches, f"{batches} batches were taken, but this iteration has {done}; count from its start")
        if next(steps, None) is None:
            return self._ends(self._begin)
        self._mark = (done, tuple(reached))
        return self._mark[1]

    def _ends(self, positions: Sequence[int]) -> tuple[int, ...]:
        ends = self._schedule.ends(positions)
        assert ends is not None
        return tuple(ends)

    def _shares(self, steps: Sequence[Sequence[Segment]]) -> list[list[tuple[int, int]]]:
        """Return this rank's part of some steps."""
        parts = [[self._part(step, number) for number in range(len(self.bins))] for step in steps]
        batches: list[list[tuple[int, int]]] = [[] for _ in steps]
        for number, one in enumerate(self.bins):
            places = [np.arange(*part[number], dtype=np.int64) for part in parts]
            if not (whole := np.concatenate(places)).size:
                continue
            epochs, numbers = one.line.pairs(whole)
            pairs = zip(epochs.tolist(), numbers.tolist(), strict=True)
            for batch, place in zip(batches, places, strict=True):
                batch.extend(islice(pairs, len(place)))
        return batches

    def _part(self, step: Sequence[Segment], number: int) -> tuple[int, int]:
        """Return where this rank's part of one bin's run in a step begins and ends."""
        each, more = divmod(sum(stop - start for _, start, stop in step), self.world_size)
        first, last = (rank * each + min(rank, more) for rank in (self.rank, self.rank + 1))
        for owner, start, stop in step:
            if owner == number:
                return max(start, start + first), max(min(stop, start + last), start)
            first, last = first - (stop - start), last - (stop - start)
        return 0, 0


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigError(message)
