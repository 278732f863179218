"""Where a run is: the iteration that runs, where the next one begins, and the state that is saved.

`iter(sampler)` begins an iteration where the last one ended, or where `set_epoch` or `load_state_dict` went since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bertdata.errors import ConfigError
from bertdata.loader.batch_plan import BatchPlan
from bertdata.loader.epoch import check_epoch
from bertdata.loader.iteration import Counts, Iteration, Row
from bertdata.loader.run_state import Positions, RunState, Uncounted
from bertdata.options.option import require


class Progress:
    """The place of a run.

    counts: who says what was used where the reader does not; batches_from: the batches of this rank from some positions
    to the end of the iteration; current: the iteration that runs, or that begins next; announced: the epoch that
    `set_epoch` said and no iteration has begun to read; warned: whether a warning was given.
    """

    def __init__(
        self,
        plan: BatchPlan,
        run: RunState,
        counts: Counts,
        batches_from: Callable[[Positions], Iterator[list[Row]]],
    ) -> None:
        self.plan, self.run, self.batches_from = plan, run, batches_from
        self.announced: int | None = None
        self.warned = self._loaded = False
        self._went_on: Iteration | None = None
        self._counts = counts
        self.current = Iteration(self, (0,) * len(plan.bins), counts)

    @property
    def epoch(self) -> int:
        """The epoch after the batches used, or after those asked for where nobody says what was used."""
        return sum(self.current.positions()) // self.plan.examples

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Let the iteration that begins inside be counted by its reader, which calls its `use` and `finish`."""
        counts, self._counts = self._counts, Counts.READER
        try:
            yield
        finally:
            self._counts = counts

    @property
    def is_counted(self) -> bool:
        """Whether the reader of the next iteration counts what it hands out."""
        return self._counts is Counts.READER

    @property
    def goes_on_uncounted(self) -> bool:
        """Whether a state within an iteration was loaded, and the reader of the next one would not count."""
        begin = sum(self.current.walk.begin)
        within = bool(begin % (self.plan.epochs * self.plan.examples) if self.plan.epochs else begin)
        return self._loaded and within and self._counts is Counts.NOBODY and self.current.uncounted is None

    def begin(self, check: Callable[[Positions], None]) -> Iteration:
        """Begin an iteration where the last one ended; where that is not known, its first batch is an error.

        `check` gets the positions, and raises where no iteration may begin at them.
        """
        positions, uncounted = self.current.next()
        check(positions)
        resumed = self._loaded and any(positions) and self.plan.begins_iteration(positions)
        over = self.is_over
        self.current = Iteration(
            self, positions, self._counts, begun=True, resumed=resumed and not over, uncounted=uncounted, over=over
        )
        self._went_on = self.current if self._loaded else self._went_on
        self._loaded = False
        return self.current

    def _move(self, positions: Positions, uncounted: Uncounted | None = None) -> None:
        self.current = Iteration(self, positions, self._counts, uncounted=uncounted)

    def has_read(self, epoch: int) -> bool:
        """Tell whether the iteration that runs is of an epoch, and its last batch was asked for."""
        return self.current.begun and self.current.ended and epoch in self.plan.iterations_of(self.current.walk.begin)

    def set_epoch(self, epoch: int) -> None:
        """Begin the next iteration at the beginning of iteration `epoch`; keep a loaded state that is in it.

        Raises ConfigError where it would be read again, after a run that went on from its beginning read it to its end.
        """
        begin = self.plan.begin_of(check_epoch(epoch))
        require(
            not (self.current.resumed and self.has_read(epoch)),
            f"this run went on from a state and has read epoch {epoch} to its end, and set_epoch({epoch}) would have "
            f"it read once more: call set_epoch({epoch + 1}), or do not call it, and call it before the iterator of a "
            "loader is made, whose workers read ahead. torchdata's SamplerWrapper counts one too few after a state of "
            "the end of an epoch: take IterableWrapper. To read the epoch again, load a state of it",
        )
        uncounted = self.current.uncounted
        if uncounted is not None and not uncounted.left:
            raise ConfigError(uncounted.refusal())
        if self._loaded or self.current.is_at_state:
            self._check_epoch(epoch, self.current.walk.begin)
        else:
            self._move(begin)
        self.announced = epoch

    @property
    def is_loaded(self) -> bool:
        """Whether a state was loaded, and no iteration has begun since."""
        return self._loaded

    @property
    def is_over(self) -> bool:
        """Whether the iteration that begins next has no batches, after `end_epoch`."""
        return self.current.over and not self.current.begun

    @property
    def where(self) -> tuple[int, bool]:
        """The number of the iteration that the place is in, and whether it is at its beginning."""
        begin = self.current.walk.begin
        iteration = self.plan.iterations_of(begin)[-1]
        return iteration, begin == self.plan.begin_of(iteration)

    def end_epoch(self) -> None:
        """Let the iteration that begins next have no batches."""
        self.current.over = True

    def drop_state(self) -> None:
        """Let `set_epoch` move the place, though a state was loaded."""
        self._loaded = self.current.over = False

    def goes_back(self, epoch: int) -> bool:
        """Tell whether iteration `epoch` begins before the state from which the run went on, and it has read since."""
        first = self._went_on
        if first is None or (first is self.current and not first.asked and not first.ended):
            return False
        return sum(self.plan.begin_of(check_epoch(epoch))) < sum(first.walk.begin)

    def is_announced(self, positions: Positions) -> bool:
        """Tell whether `set_epoch` was called for an iteration; raises ConfigError where it said another."""
        if self.announced is None:
            return False
        self._check_epoch(self.announced, positions)
        return True

    def _check_epoch(self, epoch: int, positions: Positions) -> None:
        """Raise ConfigError unless positions are in the iteration, or for a run without end the epoch, of a number."""
        there = self.plan.iterations_of(positions)
        require(
            epoch in there or self.plan.epochs is not None,
            f"the state that was loaded is in epoch {there[-1]} of a run without an end (epochs=None), and "
            f"set_epoch({epoch}) was called before it was used. The Trainer of transformers calls it where a "
            "checkpoint has all of max_steps behind it: give it more max_steps, or train no further. Else do not call "
            "set_epoch, or do not load the state",
        )
        require(
            epoch in there,
            f"the state that was loaded is in epoch {there[-1]}, but set_epoch({epoch}) was called before it was used; "
            f"call set_epoch({there[-1]}), or do not load the state. Some loaders call set_epoch with a count of their "
            f"own: set that to {there[-1]}, which is `iteration` of a loader that Accelerate prepared and "
            "`_num_iter_calls` of one that Fabric set up. The Trainer of transformers counts by its steps: give it the "
            "batch size, gradient_accumulation_steps and number of processes of the run that was stopped; and if that "
            "run had itself gone on within an epoch, whose last gradients it then accumulates without a step, take a "
            "checkpoint from inside an epoch. Lightning counts batches: resume with the sizes and processes of before",
        )

    def state_dict(self, batches: int | None) -> dict[str, int]:
        """Return the state after the batches used, or after so many of the iteration that runs."""
        place = self.current
        if batches is not None:
            if place.uncounted is not None:
                place.uncounted.check(batches, self.plan)
            return self.run.at(place.walk.after(batches))
        if place.uncounted is not None:
            return dict(place.uncounted.state)
        if place.unknown:
            return self.run.asked(place.walk.begin, place.asked, self.plan)
        place.require_reader()
        return self.run.at(place.positions())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go to a state; raises ConfigError for one of another run, or that is not a state."""
        positions = self.run.positions(state)
        self._move(positions, Uncounted.of(state))
        self._went_on = None
        self._loaded = True
