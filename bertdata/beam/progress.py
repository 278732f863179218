"""Progress is what is on disk: one live line for each step, from the records that are there.

It looks at the records from outside, so it is the same for every runner and after a restart.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tqdm import tqdm

from bertdata.engine.parts import Task
from bertdata.engine.stages import Step
from bertdata.io import files

_PLAIN_SECONDS = 30.0


@dataclass(frozen=True)
class Expected:
    """What is to be written: a title, the weight of each part by its record, and its bytes if those differ."""

    title: str
    weights: Mapping[str, int]
    unit: str = "B"
    sizes: Mapping[str, int] | None = None

    @staticmethod
    def of(title: str, tasks: Sequence[Task], unit: str = "B") -> Expected:
        """Return what tasks write, weighed by bytes, or counted in another unit."""
        sizes = {task.record_path: max(1, task.weight) for task in tasks}
        return Expected(title, sizes if unit == "B" else dict.fromkeys(sizes, 1), unit, sizes)

    def directories(self) -> set[str]:
        """Return where the records appear."""
        return {os.path.dirname(path) for path in self.weights}

    def done(self) -> int:
        """Return the weight of the records that are there."""
        return sum(self.weights.get(path, 0) for path in self._there())

    def pending_bytes(self) -> int:
        """Return the bytes of the parts whose records are not there."""
        there = set(self._there())
        sizes = self.weights if self.sizes is None else self.sizes
        return sum(size for path, size in sizes.items() if path not in there)

    def _there(self) -> Iterator[str]:
        return (files.join(directory, name) for directory in self.directories() for name in files.names(directory))


def expected(steps: Sequence[tuple[Step, Sequence[Task]]]) -> list[Expected]:
    """Return what steps are to write, those of one title in a row as one."""
    titles = groupby(steps, lambda one: (one[0].title, one[0].unit))
    return [Expected.of(title, [task for _, tasks in group for task in tasks], unit) for (title, unit), group in titles]


class Progress:
    """Shows steps that run one after another: a moving line on a terminal, elsewhere a plain line now and then."""

    def __init__(self, steps: Sequence[Expected]) -> None:
        self._waiting = list(steps)
        self._remote = any(files.is_remote(path) for step in steps for path in step.weights)
        self._looked = 0.0
        self._line: tqdm[None] | None = None

    def update(self, *, final: bool = False) -> None:
        """Look at what is done and show it; the last call is `final`."""
        if not final and time.monotonic() - self._looked < (5.0 if self._remote else 0.3):
            return
        self._looked = time.monotonic()
        while self._waiting:
            step, total = self._waiting[0], sum(self._waiting[0].weights.values())
            done = step.done()
            self._line = self._line or _open(step, done, total)
            self._line.update(done - self._line.n)
            if done < total and not final:
                return
            self._line.close()
            self._line = None
            if done < total:
                return
            self._waiting.pop(0)


def _open(step: Expected, done: int, total: int) -> tqdm[None]:
    terminal = sys.stderr.isatty()
    return tqdm(
        total=total,
        initial=done,
        desc=f"{step.title:<16}",
        unit=" " + step.unit if step.unit != "B" else "B",
        unit_scale=step.unit == "B",
        file=sys.stderr if terminal else _Lines(),
        mininterval=0.2 if terminal else _PLAIN_SECONDS,
        miniters=0,
        dynamic_ncols=terminal,
        ascii=not terminal,
        leave=True,
    )


class _Lines:
    """A stream for tqdm that puts each state on a line of its own: only states with something done, the last once."""

    def __init__(self) -> None:
        self._last = ""

    def write(self, text: str) -> None:
        text = text.strip("\r\n ")
        state = text.partition(" [")[0]
        if not text or " 0%|" in text or ("100%|" in text and state == self._last):
            return
        self._last = state
        print(text, file=sys.stderr, flush=True)

    def flush(self) -> None:
        """Nothing is held back."""
