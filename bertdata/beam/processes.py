"""The worker processes of a local run: the parent detects early exits, and a worker exits when its parent does.

A worker reads a pipe from its parent, which the operating system closes when the parent dies. A thread of the parent
waits for each worker. Run as a module, this is the program of a worker: Beam's own, on one thread.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

WORKER = "bertdata.beam.processes"
COMPILING = b"[bertdata: this worker compiles kernels]\n"
"""What a worker writes to its standard error so that its parent knows."""
_LAST_BYTES = 4096


class Workers:
    """Worker processes, as a context manager; leaving it kills those that still run.

    `lost` is a message on the first worker that exited before the work was over, else None. `watchers` are the threads
    that wait for them. `compiling` is set once a worker compiles kernels.
    """

    def __init__(self) -> None:
        self.lost: str | None = None
        self.compiling = threading.Event()
        self.watchers: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._connections: list[Any] = []
        self._ended = False

    def start(self, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start a worker with more environment variables, and the parent's module search path.

        Raises RuntimeError after `end_expected`.
        """
        environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
        command = [sys.executable, "-P", "-m", WORKER]
        with self._lock:
            if self._ended:
                raise RuntimeError("the workers of this run were ended")
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
            self._processes.append(process)
            watcher = threading.Thread(target=self._watch, args=(process,), daemon=True)
            self.watchers.append(watcher)
        watcher.start()
        return process

    def end_expected(self) -> None:
        """Note that the work is over: workers that exit from now on are not `lost`."""
        with self._lock:
            self._ended = True

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
            if code and not self._ended and self.lost is None:
                self.lost = _exit_message(process.pid, code, bytes(last))

    def connected(self, connection: Any) -> None:
        """Keep Beam's connection to a worker, to abort it when the workers are ended."""
        self._connections.append(connection)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_expected()
        for process in self._processes:
            process.kill()
            process.wait()
            assert process.stdin is not None
            process.stdin.close()
        for connection in self._connections:
            connection.abort(RuntimeError("the workers of this run were ended"))


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
    """Run Beam's worker until the pipeline ends or the parent exits.

    Failures reach the parent through Beam, which reports them, so nothing is logged here; interrupts are the parent's.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    exit_with_parent()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.disable(logging.CRITICAL)

    import pyarrow as pa
    from apache_beam.runners.worker import sdk_worker_main

    from bertdata.kernels import warmup

    warmup.listeners.append(lambda: print(COMPILING.decode(), end="", file=sys.stderr, flush=True))
    pa.set_cpu_count(1)
    sdk_worker_main.main(sys.argv)


def exit_with_parent() -> None:
    """Start a thread that reads the pipe from the parent, and exits as soon as that is closed."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    work()
