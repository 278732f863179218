"""The worker processes of a local run: they make parts beside this process, and exit when it does.

Each runs `bertdata.engine.worker`, and gets pickled messages through its standard input, which the operating system
closes when the parent dies. It answers through its standard output. It does the parts of one pipeline after another,
since its start, mostly imports, takes a second. A thread of the parent reads what it answers, and notices its end.
A command that is told how many to start begins them before its own imports (`started_early`).

Workers are new processes on every platform, not forks of one that has imported everything: Arrow, the stores of fsspec
and progress start threads, after which a fork is not safe.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from bertdata.engine.messages import COMPILING, FAILED, READY, message_of, read_data, write_message
from bertdata.errors import BertDataError

WORKER = "bertdata.engine.worker"
_LAST_BYTES = 4096
Event = tuple[Any, str, Any]
"""Who says something, what it says (`bertdata.engine.messages`), and the value with it."""


class Worker:
    """One worker process; its answers go to the events of the run that is on."""

    def __init__(self, workers: Workers) -> None:
        """Start the process. Raises OSError where the system has no room for another."""
        self.process = new_process(WORKER, workers.modules, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._last = bytearray()
        self._workers = workers
        self.threads = [
            threading.Thread(target=_read_last_lines, args=(self.process, self._last, workers.compiling), daemon=True),
            threading.Thread(target=self._watch, daemon=True),
        ]
        try:
            for thread in self.threads:
                thread.start()
        except RuntimeError as error:  # no memory for another thread
            kill(self.process)
            for stream in (self.process.stdout, self.process.stderr):
                assert stream is not None
                stream.close()
            raise OSError(str(error)) from error

    def send(self, kind: str, value: Any = None) -> None:
        """Send the process a message. If it has exited, `_watch` says so."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            write_message(self.process.stdin, (kind, value))

    def _watch(self) -> None:
        """Hand on each answer, and at the last say how the process ended."""
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            while (data := read_data(stream)) is not None:
                try:
                    self._workers.answered(self, *message_of(data))
                except Exception as error:
                    self._workers.answered(self, FAILED, error)
        code = self.process.wait()
        self.threads[0].join(1)
        self._workers.exited(self, _exit_message(self.process.pid, code, bytes(self._last)))


class Workers:
    """Worker processes, as a context manager; leaving it kills them.

    modules: what they import before they are ready. `lost` is a message on the first worker that exited before that,
    else None. `compiling` is set once a worker compiles kernels.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self.modules = modules
        self.lost: str | None = None
        self.compiling = threading.Event()
        self.every: list[Worker] = []
        self._lock = threading.Lock()
        self._ready: list[Worker] = []
        self._events: queue.SimpleQueue[Event] | None = None
        self._ended = False

    @property
    def usable(self) -> bool:
        """Whether they can make the parts of another pipeline: they were not ended, and none is lost."""
        return not self._ended and self.lost is None

    def start(self, number: int) -> None:
        """Start workers until there are so many; each says when it is ready, a second later.

        Raises OSError where one cannot be started: those that were started stay. A thread starts them, so that an
        interrupt, which reaches the main thread, finds each one either listed or not begun.
        """
        problems: list[OSError] = []

        def start_all() -> None:
            try:
                with self._lock:
                    while not self._ended and len(self.every) < number:
                        self.every.append(Worker(self))
            except OSError as error:
                problems.append(error)

        if len(self.every) >= number:
            return
        starting = threading.Thread(target=start_all, daemon=True)
        try:
            starting.start()
        except RuntimeError as error:  # no memory for another thread
            raise OSError(str(error)) from error
        starting.join()
        if problems:
            raise problems[0]

    def tell(self, events: queue.SimpleQueue[Event] | None) -> None:
        """Put what they say into the events of a run, first which are ready; None: nobody listens."""
        with self._lock:
            self._events = events
            if events is None:
                return
            for worker in self._ready:
                events.put((worker, READY, None))
            if self.lost is not None:
                events.put((None, FAILED, BertDataError(self.lost)))

    def answered(self, worker: Worker, kind: str, value: Any) -> None:
        """Take a message of a worker."""
        with self._lock:
            if kind == READY:
                self._ready.append(worker)
            if self._events is not None:
                self._events.put((worker, kind, value))

    def exited(self, worker: Worker, how: str) -> None:
        """Take note of a worker that has exited, which is a loss unless they were ended."""
        with self._lock:
            if self._ended:
                return
            self.lost = self.lost or how
            if self._events is not None:
                self._events.put((worker, FAILED, BertDataError(self.lost)))

    def end(self) -> None:
        """Kill all workers, which are not `lost` by that."""
        with self._lock:
            self._ended = True
        for worker in self.every:
            kill(worker.process)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


_early: list[Workers] = []


@contextlib.contextmanager
def started_early(number: int, modules: Sequence[str]) -> Iterator[None]:
    """Start workers, which import modules, for the run in the block that asks for `new_workers`.

    They are ended with the block if none did, and by that run if one did. Where the system has no room for them, the
    run says so.
    """
    workers = Workers(modules)
    with contextlib.suppress(OSError):
        workers.start(number)
    _early.append(workers)
    try:
        yield
    finally:
        if workers in _early:
            _early.remove(workers)
            workers.end()


def new_workers() -> Workers:
    """Return the workers that were started early, to the first who asks, else some of which none is started."""
    return _early.pop() if _early else Workers()


def new_process(
    module: str, arguments: Sequence[str] = (), *, stdout: int | None = None, stderr: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a process with the environment and the module search path of this one; it ends with this one.

    module: its program, which gets the arguments.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    command = [sys.executable, "-P", "-m", module, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stdout, stderr=stderr, env=environment)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, wait for it, and close the pipe to it."""
    process.kill()
    process.wait()
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # what it has not read
        process.stdin.close()


def _read_last_lines(process: subprocess.Popen[bytes], last: bytearray, compiling: threading.Event) -> None:
    """Keep the last bytes of the standard error of a worker in `last` until it closes."""
    assert process.stderr is not None
    with process.stderr as stream:
        while data := os.read(stream.fileno(), _LAST_BYTES):
            last += data
            if COMPILING in last:
                last[:] = last.replace(COMPILING, b"")
                compiling.set()
            del last[:-_LAST_BYTES]


def _exit_message(pid: int, code: int, last: bytes) -> str:
    """Return the message for a worker that exited with a code; `last` is the end of its standard error."""
    if code == -signal.SIGKILL:
        return (
            f"worker process {pid} was killed, most likely for want of memory; run the same command again "
            "with fewer --workers or a smaller --shard-bytes: what is done is kept"
        )
    how = f"died of signal {-code}" if code < 0 else f"ended with exit code {code}"
    lines = [line.strip() for line in last.decode(errors="replace").splitlines() if line.strip()]
    line = f", and the last line of its output was: {lines[-1]}" if lines else ""
    return (
        f"worker process {pid} {how}{line}; what is done is kept: run the same command again, with --workers 1 if it "
        "happens again"
    )
