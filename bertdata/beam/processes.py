"""The worker processes of a local run: they start and end with the process that started them, and it hears of theirs.

A worker reads a pipe from its parent, which the kernel closes when the parent dies, however it dies, so no worker
outlives it. The parent waits for every worker, so it knows at once of one that could not start or was killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from bertdata.beam.internals import quiet_readers
from bertdata.kernels import warmup

WORKER = "bertdata.beam.worker"
COMPILING = b"[bertdata: this worker compiles kernels]\n"
"""What a worker writes to its standard error so that its parent knows."""
_LAST_WORDS = 4096


class Workers:
    """Worker processes, as a context manager; leaving it ends all that are still there.

    `lost` says what became of the first worker that ended before its work did, else it is None. `watchers` are the
    threads that wait for the end of each. `compiling` is set once one of them has to compile kernels.
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
        """Start a worker with more environment variables; it imports what this process can, and nothing else.

        Raises RuntimeError where the workers were ended already.
        """
        environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
        with self._lock:
            if self._ended:
                raise RuntimeError("the workers of this run were ended")
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", WORKER],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
            )
            self._processes.append(process)
            watcher = threading.Thread(target=self._watch, args=(process,), daemon=True)
            self.watchers.append(watcher)
        watcher.start()
        return process

    def end_expected(self) -> None:
        """Note that the work is over, so that workers end from now on without being missed."""
        with self._lock:
            self._ended = True

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        words = bytearray()
        reader = threading.Thread(target=_keep_last, args=(process, words, self.compiling), daemon=True)
        reader.start()
        code = process.wait()
        reader.join(1)
        with self._lock:
            if code and not self._ended and self.lost is None:
                self.lost = _obituary(process.pid, code, bytes(words))

    def connected(self, connection: Any) -> None:
        """Keep Beam's connection to a worker, to be broken off when the workers are ended."""
        self._connections.append(connection)

    def __enter__(self) -> Workers:
        self._quiet = quiet_readers()
        self._quiet.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end_expected()
        for process in self._processes:
            process.kill()
            process.wait()
            assert process.stdin is not None
            process.stdin.close()
        for connection in self._connections:
            connection.abort(RuntimeError("the workers of this run were ended"))
        self._quiet.__exit__(None, None, None)


def _keep_last(process: subprocess.Popen[bytes], words: bytearray, compiling: threading.Event | None = None) -> None:
    assert process.stderr is not None
    with process.stderr as stream:
        while data := os.read(stream.fileno(), _LAST_WORDS):
            words += data
            if COMPILING in words:
                words[:] = words.replace(COMPILING, b"")
                if compiling:
                    compiling.set()
            del words[:-_LAST_WORDS]


def _obituary(pid: int, code: int, words: bytes) -> str:
    """Return what is told of a worker that ended with a code; `words` are the last of its standard error."""
    if code == -signal.SIGKILL:
        return (
            f"worker process {pid} was killed, most likely for want of memory; run the same command again "
            "with fewer --workers or a smaller --shard-bytes: what is done is kept"
        )
    how = f"died of signal {-code}" if code < 0 else f"ended with exit code {code}"
    lines = [line.strip() for line in words.decode(errors="replace").splitlines() if line.strip()]
    said = f", and its last words were: {lines[-1]}" if lines else ""
    return (
        f"worker process {pid} {how}{said}; what is done is kept: run the same command again, with --workers 1 if it "
        "happens again"
    )


def end_with_parent() -> None:
    """On a worker: watch the pipe from the parent in a thread, and exit as soon as the parent is gone."""
    threading.Thread(target=_wait_and_exit, daemon=True).start()


def tell_of_compiling() -> None:
    """On a worker: let the parent know when kernels are compiled here."""

    def tell() -> None:
        os.write(2, COMPILING)

    warmup.listeners.append(tell)


def _wait_and_exit() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)
