"""Progress of a build: a line for each step, computed from the records on disk.

So it works the same under every runner and after a restart.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from bertdata.engine.parts import Task
from bertdata.engine.stages import Step
from bertdata.io import files, listing
from bertdata.io.progress_bar import is_shown, progress_bar
from bertdata.io.stage_log import StageLog


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
    """Return what steps are to write; consecutive steps of one title are joined, those of kept parts may have none."""
    planned_steps = [(step, tasks) for step, tasks in steps if tasks or not step.of_kept]
    groups = groupby(planned_steps, lambda planned: (planned[0].title, planned[0].unit))
    return [Expected.of(title, chain(*(tasks for _, tasks in group)), unit) for (title, unit), group in groups]


class Progress:
    """Shows the progress of steps, one after another: bars (`bertdata.io.progress_bar`), or lines of a log.

    A step that earlier runs have finished is not shown, and what they have done of one is not in its rate. A step
    begins when the one before was last seen unfinished: one that ends with it took some time, too.
    """

    def __init__(self, steps: Sequence[Expected]) -> None:
        before = [(step, step.done()) for step in steps]
        self._waiting = [(step, done) for step, done in before if done != step.total()]
        self._remote = any(files.is_remote(path) for step in steps for path in step.sizes)
        self._looked, self._looked_before = 0.0, time.monotonic()
        self._shown: _Bar | StageLog | None = None

    def update(self, *, final: bool = False) -> None:
        """Show what is done, unless that was just done; the last call is `final`."""
        if not final and time.monotonic() - self._looked < (5.0 if self._remote else 0.3):
            return
        self._looked = time.monotonic()
        while self._waiting:
            step, before = self._waiting[0]
            self._shown = self._shown or _open(step, before, self._looked - self._looked_before)
            now, total = step.done(), step.total()
            self._shown.update(now)
            if now != total and not final:
                break
            self._shown.close(now)
            self._shown = None
            if now != total:
                self._waiting.clear()
                break
            self._waiting.pop(0)
        self._looked_before = self._looked

    def interrupted(self) -> None:
        """Show at last what is done of a step that is shown. Nothing new is, for which modules might be imported.

        An interrupt in the middle of an import leaves what cannot be imported again.
        """
        if self._shown is not None:
            self.update(final=True)


class _Bar:
    """A bar of tqdm for a step, which begins where earlier runs left it."""

    def __init__(self, step: Expected, before: int, seconds: float) -> None:
        self._bar = progress_bar(
            total=step.total(),
            initial=before,
            desc=f"{step.title:<16}",
            unit=" " + step.unit if step.unit != "B" else "B",
            unit_scale=step.unit == "B",
            mininterval=0.2,
            miniters=0,
            leave=True,
        )
        if not self._bar.disable:
            self._bar.start_t -= seconds

    def update(self, now: int) -> None:
        self._bar.update(now - self._bar.n)

    def close(self, now: int) -> None:
        self.update(now)
        self._bar.close()


def _open(step: Expected, before: int, seconds: float) -> _Bar | StageLog:
    """Return what shows a step that began some seconds ago."""
    if is_shown():
        return _Bar(step, before, seconds)
    return StageLog(step.title, step.unit, step.total(), before, time.monotonic() - seconds)
