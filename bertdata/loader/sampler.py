"""`EpochBatchSampler`: the order of a run as a function, so that positions are all its state.

A run has one order of examples (`sample_order`), or one for each length bin (`bins`). Each step takes the next examples
of an order for all ranks (`batch_plan`) and divides them evenly among the ranks. Nothing is buffered, so a run can be
resumed on another world size.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Sized
from itertools import islice
from typing import Any, TypedDict

import numpy as np

from bertdata.counter_rng import text_bits
from bertdata.errors import ConfigError
from bertdata.loader.batch_plan import BatchPlan, Segment
from bertdata.loader.bins import Weights, bins_of
from bertdata.loader.epoch import check_epoch
from bertdata.loader.fingerprint import data_fingerprint
from bertdata.masking.schedule import LEVELS
from bertdata.options.option import require

Row = tuple[int, ...]
"""(epoch, number) of an example, or (epoch, number, level)."""

_STATE = ("version", "position", "examples", "data", "seed", "order")
_VERSION = 3
_AHEAD = 16
"""Steps whose examples are looked up at once, which takes hardly longer than one."""


class Sampling(TypedDict, total=False):
    """The keywords of `EpochBatchSampler`, where they are explained."""

    max_tokens: int | None
    bins: Sequence[int] | None
    weights: Weights | None
    epochs: int | None
    run_epochs: float | None
    seed: int
    rank: int | None
    world_size: int | None
    drop_last: bool


class EpochBatchSampler:
    """Yields the batches of one rank, each a list of (epoch, number) pairs, or (epoch, number, level).

    A data set is anything with a length; `fingerprint`, an int or a str, identifies its data. Without one, a state can
    only be compared by the number of examples, and by `lengths` and `sizes` where there are any. Length bins need its
    `lengths` (N,), and weights its `sizes`, the number of examples of each set, both as `ShardExamples` has them.

    One iteration has `epochs` epochs (None: no end); the next iteration has the epochs after them, in new orders. After
    an interrupted iteration, the next one continues after the last batch that was taken, to the end of the same epochs,
    as it does from a state; so no example is omitted or repeated. `set_epoch` starts at the beginning of an epoch.

    A batch has `batch_size` examples, or as many as fill `max_tokens` when padded to a multiple of 8. `bins` are
    lengths, such as (64, 128, 256, 512): a batch has rows of one bin, the same for all ranks at each step. Bins take
    one byte of memory an example; shards that were built in bins keep these. `weights` mix the sets of a data set of
    several (`ShardExamples`), or by name, as {"wikipedia": 3, "books": 1}, its sources: an epoch then has as many
    examples as there are, drawn by weight, and each set or source has epochs of its own.

    Where the masks of the data set follow a schedule (its `follows_schedule`), or `run_epochs` is given, the examples
    come as (epoch, number, level): how far the run is, in thousandths, 0 to 1000. That is the example's position in
    the order of its bin, by the size of the bin and by `run_epochs`, the length of the run in epochs (`epochs` unless
    given); so it depends neither on the number of ranks nor on the batch size. After the end of `run_epochs` the level
    stays 1000. Without `run_epochs`, another iteration after the end of the run is an error.

    Without weights, each example comes exactly once an epoch over all ranks, for any number of examples, ranks and
    batch size. A batch inside an iteration may span two epochs and is always full. The last steps divide what is left
    evenly, so that every rank takes the same number of steps and has no batch over `batch_size`, with two exceptions:
    with a batch size of 1, the last batch of some ranks has two examples, and where fewer examples than ranks are left
    in total, the other ranks end one step earlier. `drop_last` omits what does not fill a step.

    Raises ConfigError for settings that cannot be met, such as a world size of 0 or no examples.

    >>> sampler = EpochBatchSampler(range(5), 2, seed=1)
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
        run_epochs: float | None = None,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
        drop_last: bool = False,
    ) -> None:
        own_rank, own_world_size = self._process()
        rank = own_rank if rank is None else rank
        world_size = own_world_size if world_size is None else world_size
        require(world_size >= 1, f"world_size is {world_size}; expected at least 1")
        require(0 <= rank < world_size, f"rank is {rank}; expected 0 to {world_size - 1} for world_size {world_size}")
        require(epochs is None or epochs >= 1, f"epochs is {epochs}; expected at least 1, or None for no end")
        found = bins_of(dataset, batch_size=batch_size, max_tokens=max_tokens, widths=bins, weights=weights, seed=seed)
        self.bins, self.epochs, self.seed, self.drop_last = found, epochs, seed, drop_last
        self.rank, self.world_size = rank, world_size
        self.run_epochs = self._run_length(dataset, run_epochs)
        self._run_given = run_epochs is not None
        self._examples = len(dataset)
        self._data = data_fingerprint(dataset)
        self._run = max(1, round(self.run_epochs * self._examples)) if self.run_epochs else 0
        widths = [one.width for one in found]
        self._order = text_bits(json.dumps([widths, weights], sort_keys=True)) >> 1 if len(found) > 1 or weights else 0
        self._plan = BatchPlan(found, world_size, epochs, drop_last)
        self._go_to((0,) * len(found))
        if drop_last and epochs is not None and not max(self._plan.count(self._begin)):
            raise ConfigError(
                f"drop_last leaves no batch: {epochs} x {self._examples} examples do not fill one step of "
                f"{world_size} x {batch_size or f'{max_tokens} tokens'}; take smaller batches, or keep the last"
            )

    def __repr__(self) -> str:
        epochs = "no end" if self.epochs is None else f"{self.epochs} epoch{'' if self.epochs == 1 else 's'}"
        bins = f" in {len(self.bins)} bins" if len(self.bins) > 1 else ""
        sizes = sorted({one.batch for one in self.bins})
        batches = " to ".join(dict.fromkeys(f"{size:,}" for size in (sizes[0], sizes[-1])))
        order = f"seed {self.seed}, rank {self.rank} of {self.world_size}"
        return f"{type(self).__name__}: {self._examples:,} examples{bins}, batches of {batches}, {epochs}, {order}"

    def _run_length(self, dataset: Sized, given: float | None) -> float | None:
        """Return the length of the run in epochs, None where the masks do not depend on it."""
        require(given is None or 0 < given < float("inf"), f"run_epochs is {given}; expected more than 0, as 3.5")
        if given is not None or not getattr(dataset, "follows_schedule", False):
            return given
        require(
            self.epochs is not None,
            "the masks of this data set follow a schedule over the run (--mask-schedule), and epochs=None has no end; "
            "give run_epochs, the length of the run in epochs: steps x batch size / examples",
        )
        return self.epochs

    def _process(self) -> tuple[int, int]:
        """Return the rank and the world size where they are not given."""
        return 0, 1

    def _go_to(self, positions: tuple[int, ...], *, loaded: bool = False) -> None:
        """Begin the next iteration at some positions; a running iteration no longer changes the state."""
        self._begin, self._taken, self._mark = positions, 0, (0, positions)
        self._running: object = object()
        self._loaded = loaded

    @property
    def epoch(self) -> int:
        """The epoch of the next batch."""
        return sum(self._positions_after(self._taken)) // self._examples

    def set_epoch(self, epoch: int) -> None:
        """Begin the next iteration at the beginning of an epoch.

        Where an iteration has several epochs, `epoch` is the number of the iteration, as frameworks that call this
        count. A state that was just loaded is kept if it is in that epoch. Raises ConfigError if it is in another one,
        and for what is not a number of 0 or more.
        """
        whole = (self.epochs or 1) * self._examples
        found = sum(self._begin) // whole
        if self._loaded and check_epoch(epoch) == found:
            return
        require(
            not self._loaded,
            f"the state that was loaded is in epoch {found}, but set_epoch({epoch}) was called before it was used; "
            f"call set_epoch({found}), or do not load the state. Accelerate calls set_epoch with its own count, the "
            f"`iteration` of a loader it prepared: set that to {found}",
        )
        self._go_to(tuple(check_epoch(epoch) * (self.epochs or 1) * one.size for one in self.bins))

    def __len__(self) -> int:
        """Return the number of batches of this rank in an iteration; raises TypeError where it has no end."""
        if self.epochs is None:
            raise TypeError(f"a {type(self).__name__} with epochs=None has no end, so no len")
        return self._plan.count((0,) * len(self.bins))[self.rank]

    def __iter__(self) -> Iterator[list[Row]]:
        return self.batches()

    def batches(self, ahead: int = 0) -> Iterator[list[Row]]:
        """Begin an iteration for a consumer that takes `ahead` batches before it uses the first, then one with each.

        The state then counts the batches that were used: each call of `next` after the first `ahead`, also after the
        last batch, means that one more was used.
        """
        self._go_to(self._positions_after(self._taken))
        require(
            not self._run or self._run_given or sum(self._begin) < self._run,
            f"the run of {self.run_epochs} epochs, over which the masks follow a schedule, has ended; give run_epochs, "
            "the length of the whole run in epochs, or epochs, where an iteration is all of it",
        )
        return _Iteration(self, self._steps(), ahead)

    def _steps(self) -> Iterator[list[Row]]:
        """Yield this rank's part of each step of the iteration, empty ones too."""
        steps = self._plan.steps(self._begin)
        while some := list(islice(steps, _AHEAD)):
            yield from self._shares(some)

    def state_dict(self, batches: int | None = None) -> dict[str, int]:
        """Return the state as a few integers: the same on every rank, for any world size and batch size.

        `batches` is how many batches the trainer has taken in this iteration, by default those that were yielded. Give
        it where something else takes batches ahead, as the loaders that Accelerate prepared do (one). Raises
        ConfigError for more batches than the iteration has.
        """
        positions = self._positions_after(self._taken if batches is None else batches)
        state = (_VERSION, sum(positions), self._examples, self._data, self.seed, self._order)
        single = len(positions) == 1
        bins = {} if single else {f"bin_{number}": position for number, position in enumerate(positions)}
        return dict(zip(_STATE, state, strict=True)) | bins | ({"run": self._run} if self._run else {})

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raises ConfigError for one of another data set or seed, or that is not a state."""
        found = [name for name in _STATE if type(state.get(name)) is int]
        require(
            "version" in found,
            f"this is not a state of {type(self).__name__}; expected the integers {', '.join(_STATE)}, "
            f"found {', '.join(map(str, sorted(state))) or 'nothing'}",
        )
        require(
            state["version"] == _VERSION,
            f"the state has version {state['version']}; this bertdata reads {_VERSION}: continue the run with the "
            "bertdata that began it, or start again",
        )
        missing = [name for name in _STATE if name not in found]
        require(not missing, f"the state has no whole number for {', '.join(missing)}; take another checkpoint")
        require(
            state["examples"] == self._examples and state["data"] == self._data,
            f"the state is of another data set: {state['examples']} examples with the fingerprint {state['data']:016x} "
            f"in the state, {self._examples} with {self._data:016x} here; resume with the shards it was made with",
        )
        require(
            state["seed"] == self.seed, f"the state is of seed {state['seed']}, this run's is {self.seed}; use the same"
        )
        names = ["position"] if len(self.bins) == 1 else [f"bin_{number}" for number in range(len(self.bins))]
        require(
            state["order"] == self._order and all(type(state.get(name)) is int for name in names),
            "the state is of a run with other length bins or weights; use the same",
        )
        require(
            state.get("run", 0) == self._run,
            f"the state is of a run of {self._length_text(state.get('run', 0))}, this one is of "
            f"{self._length_text(self._run)}, and the masks follow a schedule over the run; give the same run_epochs, "
            "or start again",
        )
        positions = tuple(int(state[name]) for name in names)
        require(
            min(positions) >= 0 and sum(positions) == state["position"],
            f"the state has position {state['position']}, its bins {', '.join(map(str, positions))}; "
            "expected numbers of 0 or more that add up: take another checkpoint",
        )
        self._go_to(positions, loaded=True)

    def _length_text(self, run: Any) -> str:
        if not run or type(run) is not int:
            return "no given length"
        return f"{run / self._examples:g} epochs ({run} examples)"

    def _positions_after(self, batches: int) -> tuple[int, ...]:
        """Return the positions after a number of steps of the current iteration."""
        require(batches >= 0, f"{batches} batches were taken; expected 0 or more")
        done, places = self._mark if self._mark[0] <= batches else (0, self._begin)
        if len(self.bins) == 1:
            group = self.world_size * self.bins[0].batch
            jump = batches - done
            if self.epochs is not None:
                jump = max(0, min(jump, (self._ends(places)[0] - places[0]) // group - 1))
            done, places = done + jump, (places[0] + jump * group,)
        steps, reached = self._plan.steps(places), list(places)
        for step in islice(steps, batches - done):
            done += 1
            for number, _, stop in step:
                reached[number] = stop
        require(done == batches, f"{batches} batches were taken, but this iteration has {done}; count from its start")
        if next(steps, None) is None:
            return self._ends(self._begin)
        self._mark = (done, tuple(reached))
        return self._mark[1]

    def _ends(self, positions: Sequence[int]) -> tuple[int, ...]:
        ends = self._plan.ends(positions)
        assert ends is not None
        return tuple(ends)

    def _shares(self, steps: Sequence[Sequence[Segment]]) -> list[list[Row]]:
        """Return this rank's part of some steps."""
        parts = [[self._part(step, number) for number in range(len(self.bins))] for step in steps]
        batches: list[list[Row]] = [[] for _ in steps]
        for number, one in enumerate(self.bins):
            places = [np.arange(*part[number], dtype=np.int64) for part in parts]
            if not (whole := np.concatenate(places)).size:
                continue
            epochs, numbers = one.order.pairs(whole)
            columns = [epochs.tolist(), numbers.tolist()]
            if self._run:
                length = -(-one.size * self._run // self._examples)
                columns.append(np.minimum(whole * LEVELS // length, LEVELS).tolist())
            pairs = zip(*columns, strict=True)
            for batch, place in zip(batches, places, strict=True):
                batch.extend(islice(pairs, len(place)))
        return batches

    def _part(self, step: Sequence[Segment], number: int) -> tuple[int, int]:
        """Return the positions in one bin of this rank's part of a step: its begin and end."""
        each, more = divmod(sum(stop - start for _, start, stop in step), self.world_size)
        first, last = (rank * each + min(rank, more) for rank in (self.rank, self.rank + 1))
        for owner, start, stop in step:
            if owner == number:
                return max(start, start + first), max(min(stop, start + last), start)
            first, last = first - (stop - start), last - (stop - start)
        return 0, 0


class _Iteration(Iterator[list[Row]]):
    """The batches of an iteration; counts in its sampler how many of them were used."""

    def __init__(self, sampler: EpochBatchSampler, steps: Iterator[list[Row]], ahead: int) -> None:
        self._sampler, self._steps, self._ahead, self._running = sampler, steps, ahead, sampler._running
        self._asked = self._passed = self._yielded = 0

    def __next__(self) -> list[Row]:
        self._asked += 1
        batch: list[Row] | None = []
        while batch is not None and not batch:  # a rank may have no part of the last step
            batch = next(self._steps, None)
            self._passed += batch is not None
        self._yielded += batch is not None
        used = max(0, self._asked - self._ahead)
        if self._sampler._running is self._running:
            self._sampler._taken = self._passed if batch is None and used >= self._yielded else used
        if batch is None:
            raise StopIteration
        return batch
