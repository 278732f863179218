"""Makes the parts of a local run in this process and, where there are some, in worker processes beside it.

Places take tasks: this process is one, each worker process another. The first steps of all stages are done together,
then the second ones, and so on. A place gets its next tasks when it has taken the last, the heaviest first, so that all
end at about the same time. A worker that is not ready yet is not waited for.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from bertdata.engine.messages import BEGIN, END, ENDED, FAILED, GIVE, READY, TOOK, Run
from bertdata.engine.part_maker import PartMaker
from bertdata.engine.parts import PartMetadata, PartResult, Task
from bertdata.engine.processes import Event, Worker, Workers
from bertdata.engine.stages import Step
from bertdata.errors import error_of


class Unit(NamedTuple):
    """Tasks of a step, by its number, that one place does."""

    step: int
    tasks: Sequence[Task]

    @property
    def weight(self) -> int:
        """The bytes that are read."""
        return sum(task.weight for task in self.tasks)


class Here:
    """This process as a place: a thread of it does what it is given."""

    def __init__(self, steps: Sequence[Step], events: queue.SimpleQueue[Event], stop: threading.Event) -> None:
        self._steps, self._events, self._stop = steps, events, stop
        self._makers: dict[int, PartMaker] = {}
        self._todo: queue.SimpleQueue[Unit | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="bertdata-parts", daemon=True).start()

    def give(self, unit: Unit) -> None:
        """Begin a unit."""
        self._todo.put(unit)

    def end(self, step: int) -> None:
        """Do all that was begun of a step."""
        self._todo.put(Unit(step, ()))

    def close(self) -> None:
        """Let the thread end."""
        self._todo.put(None)

    def _work(self) -> None:
        while (unit := self._todo.get()) is not None:
            maker = self._makers.setdefault(unit.step, PartMaker(self._steps[unit.step].make))
            try:
                made = list(self._made(maker, unit) if unit.tasks else maker.rest())
            except BaseException as error:
                self._events.put((self, FAILED, error))
            else:
                self._events.put((self, TOOK if unit.tasks else ENDED, [(task.path, record) for task, record in made]))

    def _made(self, maker: PartMaker, unit: Unit) -> Iterator[PartResult]:
        for task in unit.tasks:
            if self._stop.is_set():
                return
            yield from maker.made(task)


class There:
    """A worker process as a place."""

    def __init__(self, worker: Worker, run: Callable[[], bytes]) -> None:
        self._worker, self._run, self._begun = worker, run, False

    def give(self, unit: Unit) -> None:
        """Begin a unit."""
        if not self._begun:
            self._worker.send(BEGIN, self._run())
            self._begun = True
        self._worker.send(GIVE, unit)

    def end(self, step: int) -> None:
        """Do all that was begun of a step."""
        self._worker.send(END, Unit(step, ()))


def run_parts(
    steps: Sequence[Step],
    begin: Sequence[Sequence[Task]],
    stop: threading.Event,
    workers: Workers | None = None,
    run: Run | None = None,
) -> None:
    """Make the parts of the steps of some stages.

    A step without a grouping begins a stage, with the tasks of the next of `begin`. Once `stop` is set, no further part
    is begun. workers: the processes that take part; run: what they need to know. Raises the error of a part, and
    BertDataError where a worker is lost.
    """
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    here = Here(steps, events, stop)
    places = _Places(events, here, stop, run)
    if workers is not None:
        workers.tell(events)
    try:
        made: dict[int, list[PartResult]] = {}
        for together in _in_rounds(steps):
            starts = iter(begin)
            first_tasks = {number: next(starts) for number, step in enumerate(steps) if not step.grouping}
            units = [unit for number in together for unit in _units(steps, number, first_tasks, made)]
            if workers is not None:
                units.sort(key=lambda unit: -unit.weight)
            made = places.make(units, together)
            if stop.is_set():
                return
    finally:
        if workers is not None:
            workers.tell(None)
        here.close()


def _in_rounds(steps: Sequence[Step]) -> list[list[int]]:
    """Return the numbers of the first steps of all stages, of the second ones, and so on."""
    rounds: list[list[int]] = []
    place = 0
    for number, step in enumerate(steps):
        place = place + 1 if step.grouping else 0
        if place == len(rounds):
            rounds.append([])
        rounds[place].append(number)
    return rounds


def _units(
    steps: Sequence[Step], number: int, first_tasks: dict[int, Sequence[Task]], made: dict[int, list[PartResult]]
) -> list[Unit]:
    """Return what one place does at a time of a step, from the parts of the step before it."""
    grouping = steps[number].grouping
    if grouping is None:
        return [Unit(number, [task]) for task in first_tasks[number]]
    return [Unit(number, tasks) for tasks in grouping.shares(made[number - 1])]


class _Places:
    """The places of a run, and which of them wait for tasks."""

    def __init__(
        self, events: queue.SimpleQueue[Event], here: Here, stop: threading.Event, run: Run | None = None
    ) -> None:
        self._events, self._stop = events, stop
        self._idle: list[Here | There] = [here]
        self._there: dict[Worker, There] = {}
        packed: list[bytes] = []

        def pack() -> bytes:
            assert run is not None
            if not packed:
                packed.append(run.packed())
            return packed[0]

        self._pack = pack

    def make(self, units: Sequence[Unit], steps: Sequence[int]) -> dict[int, list[PartResult]]:
        """Do units of some steps; returns the parts of each step, in the order of the units."""
        waiting, busy = deque(units), dict[Any, list[int]]()
        records: dict[str, PartMetadata] = {}
        failure: BaseException | None = None
        self._give(waiting, busy)
        while busy:
            said_by, kind, value = self._events.get()
            place = said_by if isinstance(said_by, Here) else self._there.get(said_by)
            if kind == READY:
                self._there[said_by] = There(said_by, self._pack)
                self._idle.append(self._there[said_by])
            elif kind == FAILED:
                failure = failure or _raised(value)
                waiting.clear()
                # what this process has begun is waited for, so that nothing writes once this has ended
                busy = {other: begun for other, begun in busy.items() if isinstance(other, Here)}
                if place in busy:
                    self._next(place, ENDED, waiting, busy)
            elif place in busy:
                records |= dict(value)
                self._next(place, kind, waiting, busy)
            if failure is None:
                self._give(waiting, busy)
        if failure is not None:
            raise failure
        made: dict[int, list[PartResult]] = {step: [] for step in steps}
        for unit in units if not self._stop.is_set() else ():
            made[unit.step] += [(task, records[task.path]) for task in unit.tasks]
        return made

    def _give(self, waiting: deque[Unit], busy: dict[Any, list[int]]) -> None:
        """Give each idle place a unit."""
        while waiting and self._idle and not self._stop.is_set():
            place, unit = self._idle.pop(0), waiting.popleft()
            busy[place] = [unit.step]
            place.give(unit)

    def _next(self, place: Any, kind: str, waiting: deque[Unit], busy: dict[Any, list[int]]) -> None:
        """Give a place that has done something the next unit, or let it end the steps that it has begun."""
        begun = busy[place]
        if kind == ENDED:
            begun.pop()
        elif waiting and not self._stop.is_set():
            unit = waiting.popleft()
            busy[place] = [*dict.fromkeys([*begun, unit.step])]
            place.give(unit)
            return
        if begun:
            place.end(begun[-1])
        else:
            del busy[place]
            self._idle.append(place)


def _raised(value: Any) -> BaseException:
    """Return the error of a part: one of this process itself, of a worker its class and message, or its traceback."""
    if isinstance(value, BaseException):
        return value
    kind, message = value
    return error_of(kind, message) if kind else RuntimeError(message)
