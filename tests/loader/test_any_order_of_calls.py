"""The calls of a sampler and its iterators in any order, against a model that is a list of positions."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from bertdata.errors import ConfigError
from bertdata.loader import EpochBatchSampler
from bertdata.loader.iteration import Iteration
from tests.generated import examples

READERS = ("each request", "the reader", "nobody")
"""Who says what was used."""


class Rows(Sequence[int]):
    """A data set of some rows, which a `DataLoader` would read ahead or not."""

    def __init__(self, number: int, read_ahead: bool) -> None:
        self._numbers, self.read_ahead = range(number), read_ahead

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        return self._numbers[index]


@dataclass
class Place:
    """An iteration as the model has it: the positions of its batches, and how many were asked for and used."""

    batches: list[list[int]]
    begin: int
    end: int
    begun: bool = False
    asked: int = 0
    used: int = 0
    ended: bool = False
    refused: bool = False
    left: bool = False
    restored: bool = False
    resumed: bool = False
    after: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        ends = [batch[-1] + 1 for batch in self.batches]
        self.after = dict(enumerate([self.begin, *ends])) if ends else {0: self.end}


class Calls(RuleBasedStateMachine):
    """One sampler and its newest iterator, and states that were saved; (position, whether it says what was used)."""

    @initialize(
        number=st.integers(1, 9),
        size=st.integers(1, 4),
        epochs=st.integers(1, 2),
        reader=st.sampled_from(READERS),
    )
    def make(self, number: int, size: int, epochs: int, reader: str) -> None:
        self.number, self.size, self.epochs, self.reader = number, size, epochs, reader
        self.sampler = self.fresh()
        self.order: list[tuple[int, ...]] = []
        direct = EpochBatchSampler(range(number), size, epochs=epochs)
        while len(self.order) < 40 * number:
            self.order += [row for batch in direct for row in batch]
        self.place = self.at(0)
        self.iterator: Iteration | None = None
        self.moved = self.loaded = False
        self.saved: list[tuple[dict[str, int], int, int | None]] = []

    def fresh(self) -> EpochBatchSampler:
        return EpochBatchSampler(Rows(self.number, self.reader == "nobody"), self.size, epochs=self.epochs)

    def at(self, begin: int) -> Place:
        whole = self.number * self.epochs
        end = (begin // whole + 1) * whole
        places = list(range(begin, end))
        return Place([places[i : i + self.size] for i in range(0, len(places), self.size)], begin, end)

    @property
    def uncertain(self) -> bool:
        return self.reader == "nobody" and bool(self.place.asked or self.place.ended)

    def position(self) -> int:
        place = self.place
        return place.after[place.used if self.reader == "the reader" else place.asked]

    @precondition(lambda self: self.position() < 30 * self.number)
    @rule()
    def begin(self) -> None:
        old = self.place
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.reader == "the reader":
                with self.sampler.counting():
                    self.iterator = iter(self.sampler)
            else:
                self.iterator = iter(self.sampler)
        if not self.uncertain:
            self.place = self.at(self.position())
            self.place.refused, self.place.left = old.refused, old.left
            if old.refused:
                self.place.after = old.after
        elif old.ended:
            self.place = self.at(old.end)
        elif old.restored and old.begin and not old.begin % (self.number * self.epochs):
            self.place = self.at(old.begin)
        else:
            self.place = self.at(old.begin)
            self.place.refused = self.place.left = True
        self.place.resumed = self.loaded and old.begin > 0 and not old.begin % (self.number * self.epochs)
        self.place.begun, self.moved, self.loaded = True, False, False

    @precondition(lambda self: self.iterator is not None and not self.moved)
    @rule()
    def ask(self) -> None:
        assert self.iterator is not None
        place = self.place
        if place.refused:
            with pytest.raises(ConfigError, match=r"how many (of them )?were used|not tell the sampler how many"):
                next(self.iterator)
            return
        batch = next(self.iterator, None)
        if place.asked < len(place.batches):
            assert batch == [self.order[position] for position in place.batches[place.asked]]
            place.asked += 1
        else:
            assert batch is None
            place.ended = True

    @precondition(lambda self: self.reader == "the reader" and not self.moved and self.place.used < self.place.asked)
    @rule()
    def use(self) -> None:
        assert self.iterator is not None
        self.iterator.use()
        self.place.used += 1

    @rule(epoch=st.integers(0, 5))
    def set_epoch(self, epoch: int) -> None:
        if self.place.refused and not self.place.left:
            with pytest.raises(ConfigError, match="nobody had told the sampler"):
                self.sampler.set_epoch(epoch)
            return
        begin = epoch * self.number * self.epochs
        place = self.place
        if self.loaded or (place.restored and not place.asked and not place.ended):
            if begin // (self.number * self.epochs) != self.place.begin // (self.number * self.epochs):
                with pytest.raises(ConfigError, match="the state that was loaded is in epoch"):
                    self.sampler.set_epoch(epoch)
            else:
                self.sampler.set_epoch(epoch)
            return
        if place.resumed and place.ended and begin == place.begin:
            with pytest.raises(ConfigError, match="went on from a state and has read epoch"):
                self.sampler.set_epoch(epoch)
            return
        self.sampler.set_epoch(epoch)
        if self.iterator is not None and not self.moved and not self.place.refused:
            self.continued(begin)
        self.place, self.iterator, self.moved = self.at(begin), None, True

    def continued(self, begin: int) -> None:
        """An iterator that was not asked follows `set_epoch`; one that was goes on where it began, or is refused."""
        place, iterator = self.place, self.iterator
        assert iterator is not None
        if place.asked and begin != place.begin:
            with pytest.raises(ConfigError, match="moved the sampler after"):
                next(iterator)
            return

    @rule()
    def save(self) -> None:
        state = self.sampler.state_dict()
        if self.uncertain or self.place.refused:
            assert "asked" in state
            assert state["position"] == self.place.begin
            asked = self.place.asked if self.uncertain else state["asked"]
            assert state["asked"] == asked
            self.saved.append((state, self.place.begin, asked))
        else:
            assert "asked" not in state
            assert state["position"] == self.position()
            self.saved.append((state, self.position(), None))

    @precondition(lambda self: not self.place.refused)
    @rule(data=st.data())
    def save_counted(self, data: Any) -> None:
        batches = data.draw(st.integers(0, len(self.place.batches)))
        state = self.sampler.state_dict(batches)
        assert state["position"] == self.place.after[batches]
        self.saved.append((state, state["position"], None))

    @precondition(lambda self: self.iterator is not None and not self.moved and not self.place.refused)
    @rule()
    def save_iterator(self) -> None:
        assert self.iterator is not None
        state = self.iterator.state_dict()
        assert state["position"] == self.position()
        self.saved.append((state, self.position(), None))

    @rule()
    def length(self) -> None:
        assert len(self.sampler) == len(self.at(0).batches)

    @rule(copied=st.sampled_from([copy.deepcopy, lambda both: pickle.loads(pickle.dumps(both))]))
    def go_on_with_a_copy(self, copied: Any) -> None:
        """Of the sampler and its iterator together, as a loader that is copied or pickled has them."""
        old = self.sampler
        self.sampler, self.iterator = copied((self.sampler, self.iterator))
        assert self.sampler is not old

    @precondition(lambda self: self.saved)
    @rule(data=st.data(), anew=st.booleans())
    def load(self, data: Any, anew: bool) -> None:
        state, position, asked = data.draw(st.sampled_from(self.saved))
        if anew:
            self.sampler = self.fresh()
        self.sampler.load_state_dict(state)
        self.place, self.iterator, self.moved, self.loaded = self.at(position), None, True, True
        self.place.refused = asked is not None

    @precondition(lambda self: any(asked is None for _, _, asked in self.saved))
    @rule(data=st.data())
    def restore(self, data: Any) -> None:
        """As StatefulDataLoader does: a new iterator, then its state."""
        state, position, _ = data.draw(st.sampled_from([save for save in self.saved if save[2] is None]))
        self.sampler = self.fresh()
        self.iterator = iter(self.sampler)
        self.iterator.load_state_dict(state)
        if self.reader == "the reader":  # this one does not count
            self.sampler = self.fresh()
            self.sampler.load_state_dict(state)
            self.iterator = None
        self.place, self.moved, self.loaded = self.at(position), self.iterator is None, self.iterator is None
        self.place.begun = self.place.restored = True


Calls.TestCase.settings = settings(max_examples=examples(150), stateful_step_count=25, deadline=None)
TestCalls = Calls.TestCase
