"""`EpochBatchSampler`: the order of a run as a function, so that positions are all its state.

A run has one order of examples (`sample_order`), or one for each length bin (`bins`). Each step takes the next examples
of an order for all ranks (`batch_plan`) and divides them evenly among the ranks. Nothing is buffered, so a run can be
resumed on another world size.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from itertools import islice
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.counter_rng import text_bits
from bertdata.errors import ConfigError
from bertdata.io.console import counted
from bertdata.loader.batch_plan import BatchPlan, Segment
from bertdata.loader.bins import Bin, Weights, bins_of, windows_of_step
from bertdata.loader.distinct_order import DistinctOrder, DistinctPlan, distinct_bins
from bertdata.loader.fingerprint import data_fingerprint
from bertdata.loader.iteration import Counts, Iteration, Row
from bertdata.loader.processes import check_process
from bertdata.loader.progress import Progress
from bertdata.loader.read_ahead import fetch_nothing
from bertdata.loader.run_state import Positions, RunState
from bertdata.loader.token_plan import TokenPlan, check_batch_tokens
from bertdata.masking.schedule import LEVELS
from bertdata.options.option import require

_AHEAD = 16
"""Steps whose examples are looked up at once, which takes hardly longer than one."""


class EpochBatchSampler:
    """Yields the batches of one rank, each a list of (epoch, number) pairs, or (epoch, number, level).

    A data set is anything with a length; `fingerprint`, an int or a str, identifies its data. Without one, a state can
    only be compared by the number of examples, and by `lengths` and `sizes` where there are any. Length bins need its
    `lengths` (N,), and weights its `sizes`, the number of examples of each set, both as `ShardExamples` has them.

    One iteration has `epochs` epochs (None: no end); the next iteration has the epochs after them, in new orders. After
    an interrupted iteration, the next one continues after the last batch that was used, to the end of the same epochs,
    as it does from a state; so no example is omitted or repeated. `set_epoch` starts at the beginning of an epoch.

    A batch counts as used when it was asked for, or where its reader counts when it says so (`counting`). What asks for
    batches before it uses them has to count. Where the data set has a true `read_ahead`, as `ShardDataset`, which a
    `DataLoader` reads, and nobody counts, no run goes on from the state, and no iteration after an interrupted one.

    A batch has `batch_size` examples, or as many as fill `max_tokens` when padded to a multiple of 8, or, of one order
    without bins, the next ones that fit in `batch_tokens` side by side, as packed rows have them. `bins` are
    lengths, such as (64, 128, 256, 512): a batch has rows of one bin, the same for all ranks at each step. Bins take
    one byte of memory an example; shards that were built in bins keep these. `weights` mix the sets of a data set of
    several (`ShardExamples`), or by name, as {"wikipedia": 3, "books": 1}, its sources: an epoch then has as many
    examples as there are, drawn by weight, and each set or source has epochs of its own.

    `shuffle_window` is for shards that are streamed through a cache (`ShardDataset(url, cache=...)`): rows are mixed
    over so many shards at a time, in an order of the shards that is new in each epoch, and each rank takes those rows
    of a step that lie in its part of the window. Without it, they are mixed over all shards. It needs the `shard_rows`
    of a data set, as `ShardExamples` has them. The order is the same whether and where the shards are streamed.

    Where the masks of the data set follow a schedule (its `follows_schedule`), or `run_epochs` is given, the examples
    come as (epoch, number, level): how far the run is, in thousandths, 0 to 1000. That is the example's position in
    the order of its bin, by the size of the bin and by `run_epochs`, the length of the run in epochs (`epochs` unless
    given); so it depends neither on the number of ranks nor on the batch size. After the end of `run_epochs` the level
    stays 1000. Without `run_epochs`, another iteration after the end of the run is an error.

    `distinct` keeps texts apart: the numbers of the texts of each row, integers (N, K), as `text_numbers` returns them.
    Then no text is twice in a step, over all ranks. A row waits for the first batch without its texts, so the last
    batches of an epoch are short, and none spans two epochs. A UserWarning says where a text is in so many rows that
    there are over 1.25 times as many batches as the rows would fill. Short steps take rows of the largest ones until
    each rank has one; where that cannot be, it is a ConfigError. `drop_last` omits the short ones.

    `with_epochs=False` yields numbers in place of pairs, for data sets that take nothing else, as those of `datasets`.

    Without weights, each example comes exactly once an epoch over all ranks, for any number of examples, ranks and
    batch size. A batch inside an iteration may span two epochs and is always full. The last steps divide what is left
    evenly, so that every rank takes the same number of steps and has no batch over `batch_size`, with two exceptions:
    with a batch size of 1, the last batch of some ranks has two examples, and where fewer examples than ranks are left
    in total, the other ranks end one step earlier. `drop_last` omits what does not fill a step.

    Raises ConfigError for settings that cannot be met, such as a world size of 0 or no examples.

    >>> batches = list(EpochBatchSampler(range(5), 2, seed=1))
    >>> [len(batch) for batch in batches], sorted(number for epoch, number in sum(batches, []))
    ([2, 2, 1], [0, 1, 2, 3, 4])
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int | None = None,
        *,
        max_tokens: int | None = None,
        batch_tokens: int | None = None,
        bins: Sequence[int] | None = None,
        weights: Weights | None = None,
        shuffle_window: int | None = None,
        epochs: int | None = 1,
        run_epochs: float | None = None,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
        drop_last: bool = False,
        distinct: NDArray[np.integer] | None = None,
        with_epochs: bool = True,
    ) -> None:
        own_rank, own_world_size = self._process()
        self._rank_given_in = os.getpid() if rank is not None and world_size is not None else None
        rank = own_rank if rank is None else rank
        world_size = own_world_size if world_size is None else world_size
        require(world_size >= 1, f"world_size is {world_size}; expected at least 1")
        require(0 <= rank < world_size, f"rank is {rank}; expected 0 to {world_size - 1} for world_size {world_size}")
        require(epochs is None or epochs >= 1, f"epochs is {epochs}; expected at least 1, or None for no end")
        others: dict[str, object] = {"max_tokens": max_tokens, "bins": bins, "shuffle_window": shuffle_window}
        rows = batch_size
        if batch_tokens is not None:
            check_batch_tokens(batch_tokens, dataset, {"batch_size": batch_size, **others})
            rows = max(1, batch_tokens * len(dataset) // int(dataset.lengths.sum(dtype=np.int64)))  # type: ignore[attr-defined]
        if distinct is None:
            length_bins = bins_of(
                dataset,
                batch_size=rows,
                max_tokens=max_tokens,
                widths=bins,
                weights=weights,
                seed=seed,
                window=shuffle_window,
            )
        else:
            others |= {"weights": weights, "batch_tokens": batch_tokens}
            length_bins = distinct_bins(
                len(dataset), distinct, batch_size, world_size, seed, drop_last=drop_last, others=others
            )
        if (check := getattr(dataset, "require_window", None)) is not None:
            check(shuffle_window, world_size, windows_of_step(length_bins, world_size))
        self.bins, self.epochs, self.seed, self.drop_last = length_bins, epochs, seed, drop_last
        self.rank, self.world_size, self.shuffle_window = rank, world_size, shuffle_window
        self.with_epochs = with_epochs
        self.run_epochs = self._run_length(dataset, run_epochs)
        require(
            with_epochs or not self.run_epochs,
            "with_epochs is False, and the masks follow a schedule over the run, so they need (epoch, number, level)",
        )
        self._run_given = run_epochs is not None
        self._examples = len(dataset)
        self._follow: Callable[[Iterator[tuple[int, Ints]]], Any] = getattr(dataset, "follow", fetch_nothing)
        mean = self._examples / max(1, sum(map(len, getattr(dataset, "shard_rows", ()))))
        self._window_rows = int(mean * (shuffle_window or 0))
        self._fetched_rows = getattr(dataset, "fetched_rows", mean)
        self._run = max(1, round(self.run_epochs * self._examples)) if self.run_epochs else 0
        widths = [length_bin.width for length_bin in length_bins]
        parts: list[Any] = [widths, weights] if len(length_bins) > 1 or weights else []
        pieces = {"by_pieces": True} if getattr(dataset, "by_pieces", False) else {}
        parts += [{"shuffle_window": shuffle_window} | pieces] if shuffle_window else []
        parts += [length_bins[0].order.identity()] if isinstance(length_bins[0].order, DistinctOrder) else []
        order = text_bits(json.dumps(parts, sort_keys=True)) >> 1 if parts else 0
        data = data_fingerprint(dataset)
        state = RunState(self._examples, data, seed, order, self._run, len(length_bins), type(self).__name__)
        self._plan = (BatchPlan if distinct is None else DistinctPlan)(length_bins, world_size, epochs, drop_last)
        if batch_tokens is not None:
            self._plan = TokenPlan(length_bins, world_size, epochs, drop_last, batch_tokens, dataset.lengths)  # type: ignore[attr-defined]
        self._progress = Progress(self._plan, state, self._counts(dataset), self._batches_from)
        if drop_last and epochs is not None and not max(self._plan.count((0,) * len(length_bins))):
            raise ConfigError(
                f"drop_last leaves no batch: {epochs} x {self._examples} examples do not fill one step of "
                f"{world_size} x {batch_size or f'{max_tokens} tokens'}; take smaller batches, or keep the last"
            )

    def __repr__(self) -> str:
        epochs = "no end" if self.epochs is None else counted(self.epochs, "epoch")
        bins = f" in {counted(len(self.bins), 'bin')}" if len(self.bins) > 1 else ""
        sizes = sorted({length_bin.batch for length_bin in self.bins})
        batches = " to ".join(dict.fromkeys(f"{size:,}" for size in (sizes[0], sizes[-1])))
        order = "texts kept apart, " if isinstance(self._plan, DistinctPlan) else ""
        order += f"seed {self.seed}, rank {self.rank} of {self.world_size}"
        examples = counted(self._examples, "example")
        return f"{type(self).__name__}: {examples}{bins}, batches of {batches}, {epochs}, {order}"

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

    def _counts(self, dataset: Any) -> Counts:
        """Return who says how many batches were used, where the reader of an iteration does not count."""
        return Counts.NOBODY if getattr(dataset, "read_ahead", False) else Counts.REQUEST

    @property
    def epoch(self) -> int:
        """The epoch of the next batch; where nobody says how many were used, of the next one asked for."""
        return self._progress.epoch

    def set_epoch(self, epoch: int) -> None:
        """Begin the next iteration at the beginning of an epoch.

        Where an iteration has several epochs, `epoch` is the number of the iteration, as frameworks that call this
        count. A state that was just loaded is kept if it is in that iteration. Raises ConfigError if it is in another
        one, and for what is not a number of 0 or more.
        """
        self._progress.set_epoch(epoch)

    def __len__(self) -> int:
        """Return the number of batches of this rank in an iteration; raises TypeError where it has no end."""
        if self.epochs is None:
            raise TypeError(f"a {type(self).__name__} with epochs=None has no end, so no len; epochs=10**6 has one")
        return self._plan.count((0,) * len(self.bins))[self.rank]

    def __iter__(self) -> Iteration:
        """Begin an iteration; its first batch is a ConfigError where nobody counted the one before, which was left.

        Raises ConfigError as `check_process` does, where rows would come to several ranks or workers, or to none.
        """
        check_process(self._rank_given_in, (self.rank, self.world_size), self._process())
        return self._progress.begin(self._check_run)

    def _check_run(self, positions: Positions) -> None:
        require(
            not self._run or self._run_given or sum(positions) < self._run,
            f"the run of {self.run_epochs} epochs, over which the masks follow a schedule, has ended; give run_epochs, "
            "the length of the whole run in epochs, or epochs, where an iteration is all of it",
        )

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Have the iteration that begins inside counted by its reader.

        The reader calls `use` of the iterator when it hands out a batch, and `finish` after the last one. Then the
        state is the place after the batches used, and the next iteration goes on there.

            with sampler.counting():
                batches = iter(sampler)
        """
        with self._progress.counting():
            yield

    @property
    def announced_epoch(self) -> int | None:
        """The epoch that `set_epoch` said, until the first batch after it is asked for."""
        return self._progress.announced

    @property
    def iteration(self) -> Iteration:
        """The iteration that began last."""
        return self._progress.current

    def _batches_from(self, positions: Positions) -> Iterator[list[Row]]:
        """Yield this rank's part of each step of an iteration from some positions, empty ones too."""
        steps = self._plan.steps(positions)
        reading = self._follow(self._coming(positions))
        while some := list(islice(steps, _AHEAD)):
            yield from self._shares(some)
            if reading:
                reading.advance(len(some))

    def _coming(self, positions: Positions) -> Iterator[tuple[int, Ints]]:
        """Yield the numbers of rows of this rank from some positions on, and for how many steps they stand.

        They are those of one step in so many that a window has 64, and eight rows of each piece in it, without an end.
        """
        plan = BatchPlan(self.bins, self.world_size, None, drop_last=False)
        rows = self._examples if not self.shuffle_window else self._window_rows
        step_rows = self.world_size * max(length_bin.batch for length_bin in self.bins)
        stride = max(1, rows // (max(64, int(8 * rows / max(self._fetched_rows, 1)) // step_rows) * step_rows))
        steps = plan.steps(positions)
        while some := list(islice(steps, stride)):
            yield stride, np.array([row[1] for row in self._shares(some[:1])[0]], np.int64)

    def state_dict(self, batches: int | None = None) -> dict[str, int]:
        """Return the state as a few integers: the same on every rank, for any world size and batch size.

        It is the place after the batches used of the iteration that runs. `batches` is how many these are. It may be
        left out where the reader counts (`ResumableLoader`, `numpy_batches`). Where it is left out and nobody counts,
        the state says how many were asked for, and no run goes on from it. Raises ConfigError for more batches than
        the iteration has.
        """
        return self._progress.state_dict(batches)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raises ConfigError for one of another data set or seed, or that is not a state.

        A state that does not say how many batches were used is an error at the next batch.
        """
        self._progress.load_state_dict(state)

    def check_data(self, dataset: Sized) -> None:
        """Raise ConfigError where rows of a data set would be read in the order of another one."""
        run, data = self._progress.run, data_fingerprint(dataset)
        require(
            len(dataset) == run.examples and (not run.data or data == run.data),
            f"the sampler was made for another data set: it has {run.examples} examples with the fingerprint "
            f"{run.data:016x}, this one {len(dataset)} with {data:016x}; make the sampler of the data set that the "
            "loader reads",
        )

    def _shares(self, steps: Sequence[Sequence[Segment]]) -> list[list[Row]]:
        """Return this rank's part of some steps."""
        if self.shuffle_window and self.world_size > 1:
            return [self._nearby(step) for step in steps]
        parts = [[self._plan.part(step, number, self.rank) for number in range(len(self.bins))] for step in steps]
        batches: list[list[Row]] = [[] for _ in steps]
        for number, length_bin in enumerate(self.bins):
            places = [np.arange(*part[number], dtype=np.int64) for part in parts]
            if not (whole := np.concatenate(places)).size:
                continue
            epochs, numbers = length_bin.order.pairs(whole)
            pairs = iter(self._rows(length_bin, whole, epochs, numbers))
            for batch, place in zip(batches, places, strict=True):
                batch.extend(islice(pairs, len(place)))
        return batches

    def _rows(self, length_bin: Bin, positions: Ints, epochs: Ints, numbers: Ints) -> list[Row]:
        if not self.with_epochs:
            return cast("list[Row]", numbers.tolist())  # numbers alone, as was asked for
        columns = [epochs.tolist(), numbers.tolist()]
        if self._run:
            length = -(-length_bin.size * self._run // self._examples)
            columns.append(np.minimum(positions * LEVELS // length, LEVELS).tolist())
        return list(zip(*columns, strict=True))

    def _nearby(self, step: Sequence[Segment]) -> list[Row]:
        """Return those rows of a step that lie in this rank's part of the windows of shards, in the step's order."""
        rows: list[Row] = []
        places = []
        for number, start, stop in step:
            length_bin, positions = self.bins[number], np.arange(start, stop, dtype=np.int64)
            epochs, numbers, within = length_bin.order.located(positions)
            rows += self._rows(length_bin, positions, epochs, numbers)
            places.append(within)
        each, more = divmod(len(rows), self.world_size)
        first, last = (rank * each + min(rank, more) for rank in (self.rank, self.rank + 1))
        chosen = np.argsort(np.concatenate(places), kind="stable")[first:last]
        return [rows[place] for place in np.sort(chosen).tolist()]
