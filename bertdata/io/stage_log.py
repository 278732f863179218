"""The progress of a stage in a log: a line when it ends, and of a long one a line now and then; as JSON, events."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from typing import Any

from bertdata.io import log
from bertdata.io.console import byte_size, counted

FIRST_WAIT, LONGEST_WAIT = 60.0, 600.0
"""Seconds until a stage that still runs has a line; doubled each time, up to the longest."""
JSON_WAIT = 10.0
"""Seconds between two events of a stage that still runs."""
BYTES = "B"
"""The unit of stages that add up bytes; the others count something."""
_NAMES = {BYTES: "byte"}
_WIDTH = 16


class StageLog:
    """Writes the progress of one stage to stderr.

    total: None where it is not known. What was done `before` it began, at a time of the monotonic clock, is of an
    earlier run: the rate and the time left are of the rest.
    """

    def __init__(self, title: str, unit: str, total: int | None, before: int = 0, began: float | None = None) -> None:
        self.title, self.unit, self.total, self.before = title, unit, total, before
        self._began = time.monotonic() if began is None else began
        self._wait = JSON_WAIT if log.is_json() else FIRST_WAIT
        self._due = self._began + self._wait
        self._event("begun", before)

    def update(self, done: int) -> None:
        """Write how far the stage is, where the last line is a while ago."""
        if time.monotonic() < self._due:
            return
        if not log.is_json():
            self._wait = min(2 * self._wait, LONGEST_WAIT)
        self._due = time.monotonic() + self._wait
        self._event("running", done)
        share = "" if self.total is None else f"{done / max(1, self.total):.0%}, "
        self._line(f"{share}{self._amount(done)}{self._left(done)}")

    def close(self, done: int, *, failed: bool = False) -> None:
        """Write that the stage is done, or where it stopped: before its total, or as it failed."""
        if failed or (self.total is not None and done < self.total):
            self._event("stopped", done)
            self._line(f"stopped after {self._amount(done)}")
            return
        self._event("done", done)
        seconds = self._seconds()
        rate = f" ({byte_size((done - self.before) / seconds)}/s)" if self.unit == BYTES and seconds else ""
        resumed = f", {self._size(self.before)} of it before" if self.before else ""
        self._line(f"{self._size(done)} in {seconds:.1f} s{rate}{resumed}")

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _size(self, number: int) -> str:
        return byte_size(number) if self.unit == BYTES else counted(number, self.unit)

    def _amount(self, done: int) -> str:
        return self._size(done) if self.total is None else f"{self._size(done)} of {self._size(self.total)}"

    def _left(self, done: int) -> str:
        if self.total is None or done == self.before:
            return ""
        seconds = self._seconds() / (done - self.before) * (self.total - done)
        return f", {timedelta(seconds=round(seconds))} left"

    def _line(self, text: str) -> None:
        if not log.is_json():
            print(log.timed(f"{self.title:<{_WIDTH}}  {text}"), file=sys.stderr, flush=True)

    def _event(self, state: str, done: int) -> None:
        log.event(
            "stage",
            stage=self.title,
            state=state,
            done=done,
            total=self.total,
            unit=_NAMES.get(self.unit, self.unit),
            bytes=done if self.unit == BYTES else None,
            seconds=round(self._seconds(), 3),
        )


class LoggedBar:
    """What is used of tqdm's bars of bytes, as a `StageLog`: `n`, `total`, `update`, `set_description_str`, `close`."""

    def __init__(self, title: str, total: int | None, initial: int) -> None:
        self.n = initial
        self._log = StageLog(title, BYTES, total, initial)
        self._is_open = True

    @property
    def total(self) -> int | None:
        """The bytes in the end, None where they are not known."""
        return self._log.total

    @total.setter
    def total(self, total: int | None) -> None:
        self._log.total = total

    def update(self, count: int) -> None:
        """Add bytes, fewer than none after a new start."""
        self.n += count
        self._log.before = min(self._log.before, self.n)
        self._log.update(self.n)

    def set_description_str(self, title: str, refresh: bool = True) -> None:
        """Change the title."""
        del refresh
        self._log.title = title

    def close(self, *, failed: bool = False) -> None:
        """Write that it is done, or where it stopped."""
        if self._is_open:
            self._is_open = False
            self._log.close(self.n, failed=failed)

    def __enter__(self) -> LoggedBar:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        self.close(failed=kind is not None)
