"""Progress of a build: a line for each step, computed from the records on disk.

So it works the same under every runner and after a restart.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

from bertdata.engine.parts import Task
from bertdata.engine.stages import Step
from bertdata.io import files, listing
from bertdata.io.progress_bar import progress_bar


@dataclass(frozen=True)
class Expected:
    """What is to be written: a title, and the bytes of each part by the path of its record.

    Progress adds up the bytes, or counts the parts in another unit.
    """

    title: str
    sizes: Mapping[str, int]
    unit: str = "B"

    @staticmethod
    def of(title: str, tasks: Iterable[Task], unit: str = "B") -> Expected:
        """Return what tasks write."""
        return Expected(title, {task.record_path: max(1, task.weight) for task in tasks}, unit)

    def directories(self) -> set[str]:
        """Return where the records appear."""
        return {os.path.dirname(path) for path in self.sizes}

    def total(self) -> int:
        """Return the bytes, or the number, of all parts."""
        return sum(self.sizes.values()) if self.unit == "B" else len(self.sizes)

    def done(self) -> int:
        """Return the bytes, or the number, of the parts whose records are on disk."""
        sizes = self._sizes_done()
        return sum(sizes) if self.unit == "B" else len(sizes)

    def pending_bytes(self) -> int:
        """Return the bytes of the parts whose records are not on disk."""
        return sum(self.sizes.values()) - sum(self._sizes_done())

    def _sizes_done(self) -> list[int]:
        paths = (files.join(folder, name) for folder in self.directories() for name in listing.names(folder))
        return [self.sizes[path] for path in paths if path in self.sizes]


def expected(steps: Sequence[tuple[Step, Sequence[Task]]]) -> list[Expected]:
    """Return what steps are to write; consecutive steps of one title are joined."""
    groups = groupby(steps, lambda planned: (planned[0].title, planned[0].unit))
    return [Expected.of(title, chain(*(tasks for _, tasks in group)), unit) for (title, unit), group in groups]


class Progress:
    """Shows the progress of steps, one after another (see `bertdata.io.progress_bar`)."""

    def __init__(self, steps: Sequence[Expected]) -> None:
        self._waiting = list(steps)
        self._remote = any(files.is_remote(path) for step in steps for path in step.sizes)
        self._looked = 0.0
        self._line: Any = None

    def update(self, *, final: bool = False) -> None:
        """Show what is done, unless that was just done; the last call is `final`."""
        if not final and time.monotonic() - self._looked < (5.0 if self._remote else 0.3):
            return
        self._looked = time.monotonic()
        while self._waiting:
            step, total = self._waiting[0], self._waiting[0].total()
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


def _open(step: Expected, done: int, total: int) -> Any:
    return progress_bar(
        lines=True,
        total=total,
        initial=done,
        desc=f"{step.title:<16}",
        unit=" " + step.unit if step.unit != "B" else "B",
        unit_scale=step.unit == "B",
        mininterval=0.2,
        miniters=0,
        leave=True,
    )
