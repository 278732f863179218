"""The worker processes of a local run: the parent detects early exits, and a worker exits when its parent does.

A worker runs one pipeline after another, since its start, mostly imports, takes seconds. It reads them from a pipe of
its parent, which the operating system closes when the parent dies. A thread of the parent waits for each worker. Run as
a module, this is the program of a worker: Beam's own, on one thread.

Workers are new processes on every platform, not forks of one that has imported everything: Beam and gRPC start threads,
after which a fork is not safe.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from bertdata.io.imports import (
    collector_paused,
    keep_pandas_out_of_pyarrow,
    keep_scipy_out_of_numba,
    without_packages_of_beam,
)

WORKER = "bertdata.beam.processes"
COMPILING = b"[bertdata: this worker compiles kernels]\n"
"""What a worker writes to its standard error so that its parent knows."""
_LAST_BYTES = 4096


class Workers:
    """Worker processes, as a context manager; leaving it kills them.

    `lost` is a message on the first worker that exited before that, else None. `watchers` are the threads that wait for
    them. `compiling` is set once a worker compiles kernels.
    """

    def __init__(self) -> None:
        self.lost: str | None = None
        self.compiling = threading.Event()
        self.watchers: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._idle: list[subprocess.Popen[bytes]] = []
        self._connections: list[Any] = []
        self._ended = False

    @property
    def usable(self) -> bool:
        """Whether they can run another pipeline: they were not ended, and none is lost."""
        return not self._ended and self.lost is None

    def start(self, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start a pipeline, described by environment variables, on an idle worker, or on a new one where none is.

        A new one gets the environment and the module search path that its parent has then. Raises RuntimeError after
        `end`.
        """
        with self._lock:
            if self._ended:
                raise RuntimeError("the workers of this run were ended")
            process = self._idle.pop(0) if self._idle else self._new_process()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has exited, which its watcher tells
            process.stdin.write(json.dumps(dict(variables)).encode() + b"\n")
            process.stdin.flush()
        return process

    def start_idle(self, number: int) -> None:
        """Start workers before their first pipeline, until so many are idle: their imports take a second."""
        with self._lock:
            if not self._ended:
                self._idle += [self._new_process() for _ in range(number - len(self._idle))]

    def _new_process(self) -> subprocess.Popen[bytes]:
        process = new_process(WORKER, stderr=subprocess.PIPE)
        self._processes.append(process)
        watcher = threading.Thread(target=self._watch, args=(process,), daemon=True)
        self.watchers.append(watcher)
        watcher.start()
        return process

    def release(self, process: subprocess.Popen[bytes]) -> None:
        """Keep a worker that has ended its pipeline for the next one."""
        with self._lock:
            self._idle.append(process)

    def discard(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a worker that is not `lost` by that."""
        with self._lock:
            self._processes.remove(process)
        kill(process)

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        last = bytearray()
        reader = threading.Thread(target=_read_last_lines, args=(process, last, self.compiling), daemon=True)
        try:
            reader.start()
        except RuntimeError:  # no memory for another thread: this one reads, as a full pipe would stop the process
            _read_last_lines(process, last, self.compiling)
        code = process.wait()
        if reader.ident is not None:
            reader.join(1)
        with self._lock:
            if process in self._processes and not self._ended and self.lost is None:
                self.lost = _exit_message(process.pid, code, bytes(last))

    def connected(self, connection: Any) -> None:
        """Keep Beam's connection to a worker, to abort it when the workers are ended."""
        self._connections.append(connection)

    def disconnected(self, connection: Any) -> None:
        """Forget a connection that Beam has closed."""
        self._connections.remove(connection)

    def end(self) -> None:
        """Kill all workers, which are not `lost` by that, and abort what Beam waits for."""
        with self._lock:
            self._ended = True
        for process in self._processes:
            kill(process)
        for connection in list(self._connections):
            connection.abort(RuntimeError("the workers of this run were ended"))

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def new_process(module: str, stderr: int | None = None) -> subprocess.Popen[bytes]:
    """Start a worker with the environment and the module search path of this process; it ends with this one.

    module: its program.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    command = [sys.executable, "-P", "-m", module]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=stderr, env=environment)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker, wait for it, and close the pipe to it."""
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


def work() -> None:
    """Run Beam's worker for one pipeline after another, until the parent exits."""
    pipelines, run = prepared()
    import pyarrow as pa

    while True:
        os.environ.update(pipelines.get())
        run(sys.argv)
        gc.collect()  # Beam's channels, which are in cycles
        pa.default_memory_pool().release_unused()


def prepared() -> tuple[queue.Queue[dict[str, str]], Callable[[list[str]], None]]:
    """Import what a worker needs; returns the pipelines that its parent gives it, and Beam's worker, for one of them.

    Failures reach the parent through Beam, which reports them, so nothing is logged here; interrupts are the parent's.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipelines = read_pipelines()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.disable(logging.CRITICAL)

    with collector_paused(), without_packages_of_beam():
        import pyarrow as pa
        from apache_beam.runners.worker import sdk_worker_main

    keep_pandas_out_of_pyarrow()
    keep_scipy_out_of_numba()
    with collector_paused():  # what most stages use: a worker may wait for its first pipeline
        import numba  # noqa: F401

        from bertdata.beam import transforms  # noqa: F401
        from bertdata.kernels import warmup

    gc.freeze()
    warmup.listeners.append(lambda: print(COMPILING.decode(), end="", file=sys.stderr, flush=True))
    pa.set_cpu_count(1)
    return pipelines, sdk_worker_main.main


def read_pipelines() -> queue.Queue[dict[str, str]]:
    """Start a thread that reads the pipe from the parent, and exits as soon as that is closed.

    Returns the queue to which it adds the environment variables of each pipeline.
    """
    pipelines: queue.Queue[dict[str, str]] = queue.Queue()

    def read() -> None:
        with open(0, "rb", closefd=False) as lines:
            for line in lines:
                pipelines.put(json.loads(line))
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    return pipelines


if __name__ == "__main__":
    work()
