"""Progress is what is on disk: one live line for each stage, from the records that are there.

It looks at the records from outside, so it is the same for every runner and after a restart.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tqdm import tqdm

from bertdata.io import files

_PLAIN_SECONDS = 30.0


@dataclass(frozen=True)
class Stage:
    """What is to be done: a title, the weight of each part by its record, and its bytes if those differ."""

    title: str
    weights: Mapping[str, int]
    unit: str = "B"
    sizes: Mapping[str, int] | None = None

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


class Progress:
    """Shows stages that run one after another: a moving line on a terminal, elsewhere a plain line now and then."""

    def __init__(self, stages: list[Stage]) -> None:
        self._waiting = list(stages)
        self._remote = any(files.is_remote(path) for stage in stages for path in stage.weights)
        self._looked = 0.0
        self._line: tqdm[None] | None = None

    def update(self, *, final: bool = False) -> None:
        """Look at what is done and show it; the last call is `final`."""
        if not final and time.monotonic() - self._looked < (5.0 if self._remote else 0.3):
            return
        self._looked = time.monotonic()
        while self._waiting:
            stage, total = self._waiting[0], sum(self._waiting[0].weights.values())
            done = stage.done()
            self._line = self._line or _open(stage, done, total)
            self._line.update(done - self._line.n)
            if done < total and not final:
                return
            self._line.close()
            self._line = None
            if done < total:
                return
            self._waiting.pop(0)


def _open(stage: Stage, done: int, total: int) -> tqdm[None]:
    terminal = sys.stderr.isatty()
    return tqdm(
        total=total,
        initial=done,
        desc=f"{stage.title:<16}",
        unit=" " + stage.unit if stage.unit != "B" else "B",
        unit_scale=stage.unit == "B",
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
