"""Makes the parts of a step one after another, those at a URL several at once."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from bertdata.engine.parts import (
    BYTES_AT_ONCE,
    TASKS_AT_ONCE,
    PartFunction,
    PartMetadata,
    PartResult,
    Task,
    run_once,
)
from bertdata.errors import BertDataError
from bertdata.io import files


class PartMaker:
    """Makes parts, each once; writes the error of one beside its record, for the process that started the build.

    Parts at a URL are made by threads, up to `at_once`, after the first, which loads what all need; the results of the
    last of them are given out by `rest`.
    """

    def __init__(self, make: PartFunction, at_once: int = TASKS_AT_ONCE) -> None:
        self._make = make
        self._at_once = at_once
        self._pool: ThreadPoolExecutor | None = None
        self._begun: deque[tuple[Task, Future[PartMetadata]]] = deque()
        self._loaded = False

    def made(self, task: Task) -> Iterator[PartResult]:
        """Yield the task with its record, or begin it and yield those that must end before."""
        if self._at_once == 1 or not self._loaded or not files.is_remote(task.path):
            yield task, self._record(task)
            self._loaded = True
            return
        yield from self._ended(self._at_once - 1, BYTES_AT_ONCE - task.weight)
        self._pool = self._pool or ThreadPoolExecutor(self._at_once, "bertdata-tasks")
        self._begun.append((task, self._pool.submit(self._record, task)))

    def rest(self) -> Iterator[PartResult]:
        """Yield what was begun."""
        yield from self._ended(0, 0)
        if self._pool:
            self._pool.shutdown()
            self._pool = None

    def _ended(self, most: int, most_bytes: int) -> Iterator[PartResult]:
        """Yield the first tasks until no more are left than so many, and bytes; after an error wait for those begun."""
        begun = self._begun
        try:
            while begun and (len(begun) > most or sum(task.weight for task, _ in begun) > most_bytes):
                task, record = begun.popleft()
                yield task, record.result()
        except BaseException:
            for _, record in begun:
                record.cancel()
            if self._pool:
                self._pool.shutdown()
            raise

    def _record(self, task: Task) -> PartMetadata:
        try:
            return run_once(task, self._make)
        except BertDataError as error:
            with contextlib.suppress(BertDataError):
                files.write_json(task.failure_path, {"kind": type(error).__name__, "message": str(error)})
            raise
