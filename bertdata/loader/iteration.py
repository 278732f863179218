"""An iteration of a sampler, and who says how many of its batches were used.

A reader may ask for batches long before it hands them out. So a batch that was asked for is not one that was used:

- a reader that counts (`ResumableLoader`, `NumpyBatches`) begins the iteration inside `sampler.counting()`, and calls
  `use` for each batch that it hands out, and `finish` after the last;
- a reader that saves the state of the iterator with each request (torchdata's StatefulDataLoader) calls the iterator's
  `state_dict`, the place after the batches asked for until then, and hands it out with the batch;
- a loop over an `EpochBatchSampler` itself uses each batch before it asks for the next;
- of any other reader of a `ResumableBatchSampler` nothing is known but what it asked for.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Protocol

from bertdata.errors import ConfigError
from bertdata.loader.batch_plan import BatchPlan, Walk
from bertdata.loader.run_state import COUNT_THEM, Positions, RunState, Uncounted
from bertdata.options.option import require

Row = tuple[int, ...]
"""(epoch, number) of an example, or (epoch, number, level)."""


GIVE_THE_NUMBER = "give state_dict the number of batches used in this iteration, loader.state_dict(batches)"
_NOT_SAID = f"Nobody said how many were used. To be certain, {COUNT_THEM}"


class Counts(Enum):
    """Who says how many batches of an iteration were used."""

    READER = "the reader, which calls `use`"
    REQUEST = "each request: the batch before was used"
    NOBODY = "nobody"


class PlaceOfRun(Protocol):
    """What an iteration needs of the place of its run, which `progress.Progress` keeps."""

    plan: BatchPlan
    run: RunState
    announced: int | None
    warned: bool
    current: Iteration

    @property
    def batches_from(self) -> Callable[[Positions], Iterator[list[Row]]]:
        """The batches of this rank from some positions to the end of the iteration."""

    def is_announced(self, positions: Positions) -> bool:
        """Tell whether `set_epoch` was called for the iteration that begins at some positions."""


class Iteration(Iterator[list[Row]]):
    """The batches of one rank from some positions to the end of the iteration.

    counts: who says how many batches were used; begun: whether it was given to a reader; restored: whether it began at
    a state of its own; resumed: whether it began at a state of the sampler that is between two iterations; uncounted:
    a state that does not say where to begin; over: whether it has no batches, for it goes on at its end; asked: batches
    that were asked for; used: those that the reader counted; ended: whether the reader was told that there are no more.

    Its own state is the place after the batches asked for, or after those used where the reader counts. A pickled copy
    goes on where it stands.
    """

    def __init__(
        self,
        progress: PlaceOfRun,
        begin: Positions,
        counts: Counts,
        *,
        begun: bool = False,
        resumed: bool = False,
        uncounted: Uncounted | None = None,
        over: bool = False,
    ) -> None:
        self._progress = progress
        self.counts, self.begun, self.resumed, self.uncounted = counts, begun, resumed, uncounted
        self.over = over
        self.restored = self._announced = False
        self.asked = self.used = self._passed = 0
        self.ended = self._finished = False
        self._thread: int | None = None
        self._start(begin)

    def _start(self, begin: Positions) -> None:
        self.walk = Walk(self._progress.plan, begin)
        self._batches: Iterator[list[Row]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_batches": None, "_thread": None}

    def _opened(self) -> Iterator[list[Row]]:
        """Return the batches after those that were passed: all, but in a copy."""
        if self.over:
            return iter(())
        places = self.walk.after(self._passed) if self._passed else self.walk.begin
        if self._passed and self._progress.plan.epochs is not None and places == self.walk.ends():
            return iter(())
        return self._progress.batches_from(places)

    def __next__(self) -> list[Row]:
        if self._batches is None or self._progress.current is not self:
            self._batches = self._join()
        for batch in self._batches:
            self._passed += 1
            if batch:  # a rank may have no part of the last step
                self.asked += 1
                return batch
        self.ended = True
        raise StopIteration

    def use(self) -> None:
        """Say that the next batch was handed out; raises ConfigError where a newer iteration has begun."""
        if self._progress.current is not self:
            self._require_newest()
        self.used += 1
        self._thread = threading.get_ident()

    def finish(self) -> None:
        """Say that all batches were handed out."""
        self._finished = True

    def require_reader(self) -> None:
        """Raise ConfigError where another thread than this takes the batches from a reader that counts.

        After the last batch a thread of another may ask, as that of torchdata's Prefetcher for the next iteration does.
        """
        this = threading.current_thread()
        follows = self._finished and this is not threading.main_thread()
        require(
            self._thread in (None, this.ident) or follows,
            f"another thread took {self.used} batches from this loader, ahead of what uses them, so what it handed out "
            f"was not all used: {GIVE_THE_NUMBER}",
        )

    def positions(self) -> Positions:
        """Return the positions after the batches used where the reader counts, else after those asked for."""
        by_reader = self.counts is Counts.READER
        if self._finished or (self.ended and not by_reader):
            return self.walk.after(self._passed)
        return self.walk.after(self.used if by_reader else self.asked)

    @property
    def unknown(self) -> bool:
        """Whether batches were asked for and nobody says how many of them were used."""
        return self.counts is Counts.NOBODY and bool(self.asked or self.ended)

    @property
    def is_at_state(self) -> bool:
        """Whether it got a state of its own and has not been asked since."""
        return self.restored and not self.asked and not self.ended

    @property
    def is_counted_inside(self) -> bool:
        """Whether its reader has counted batches of it, and not yet the last."""
        return self.counts is Counts.READER and bool(self.used) and not self._finished

    def state_dict(self) -> dict[str, int]:
        """Return the state at `positions`, for a reader that saves it with each request."""
        if self.uncounted is not None:
            return dict(self.uncounted.state)
        return self._progress.run.at(self.positions())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Begin at a state; raises ConfigError after the first batch, and as the sampler's `load_state_dict` does."""
        require(
            not self.asked and not self.ended,
            f"a state was loaded into an iterator that has given {self.asked} batches; load it before the first",
        )
        positions = self._progress.run.positions(state)
        self._announced = self._progress.is_announced(positions)
        self._start(positions)
        self.restored, self.uncounted = True, Uncounted.of(state)
        self._progress.current = self

    def next(self) -> tuple[Positions, Uncounted | None]:
        """Return where the iteration after this one begins, and what is not known of it."""
        if not self.unknown:
            if self.counts is Counts.READER and self.used == 1 and not self._finished:
                # next(iter(loader)), or a framework that skips batches itself, rather than a run with a break
                self._warn(
                    "the one before was left after its first batch, and it goes on with the second. To begin the epoch "
                    "again after a look at a batch, call sampler.set_epoch(epoch); a framework that skips batches by "
                    "itself goes on wrongly: give it the state of the loader instead"
                )
            return self.positions(), self.uncounted
        if self.ended:
            self._warn(f"the next epochs begin, and batches that were asked for and not used are left out. {_NOT_SAID}")
            return self.walk.ends(), None
        begin = self.walk.begin
        if self.restored and self._progress.plan.begins_iteration(begin):
            # torchdata's StatefulDataLoader begins twice from the state of an epoch that had ended
            if not self._announced:
                self._warn(f"the iteration begins again where the state that was loaded is. {_NOT_SAID}")
            return begin, None
        return begin, Uncounted(self._progress.run.asked(begin, self.asked, self._progress.plan), left=True)

    def _require_newest(self) -> None:
        require(
            not self._progress.current.begun,
            f"another iteration of this sampler began after {self.asked} batches of this one had been asked for, so "
            "rows would come twice, and no state is of both; give each of two iterations at a time a sampler and a "
            "loader of its own",
        )

    def _join(self) -> Iterator[list[Row]]:
        """Begin, or follow the sampler, which `set_epoch` or `load_state_dict` has moved since; return the batches."""
        place = self._progress.current
        if place is not self:
            self._require_newest()
            if not self.asked and not self.ended:
                self._start(place.walk.begin)
                self.uncounted, self.over = place.uncounted, place.over
            elif place.walk.begin != self.walk.begin:
                raise ConfigError(
                    f"set_epoch or load_state_dict moved the sampler after {self.asked} batches of this iteration had "
                    "been asked for, so the next ones would be of another place in the run; call it before the "
                    "iterator of the loader is made, and make a new one: iter(loader)"
                )
            self._progress.current = self
        if self.uncounted is not None:
            raise ConfigError(self.uncounted.refusal())
        self._progress.announced = None
        return self._batches or self._opened()

    def _warn(self, what: str) -> None:
        if not self._progress.warned:
            self._progress.warned = True
            warnings.warn(
                f"a new iteration of this sampler begins: {what}.",
                UserWarning,
                stacklevel=4,
            )
