"""The worker processes of a local run: they start and end with the process that started them, and it hears of theirs.

A worker reads a pipe from its parent, which the kernel closes when the parent dies, however it dies, so no worker
outlives it. The parent waits for every worker, so it knows at once of one that could not start or was killed. What it
does not do: give them work; Beam does that, over gRPC.
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

WORKER = "bertdata.beam.worker"
_URN = "bertdata:environment:worker_process:v1"
_LAST_WORDS = 4096
_READERS = ("beam_control_read", "read_grpc_client_inputs")


class Workers:
    """Worker processes, as a context manager; leaving it ends all that are still there.

    `lost` says what became of the first worker that ended before its work did, else it is None.
    """

    def __init__(self) -> None:
        self.lost: str | None = None
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
        threading.Thread(target=self._watch, args=(process,), daemon=True).start()
        return process

    def end_expected(self) -> None:
        """Note that the work is over, so that workers end from now on without being missed."""
        with self._lock:
            self._ended = True

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        words = bytearray()
        reader = threading.Thread(target=_keep_last, args=(process, words), daemon=True)
        reader.start()
        code = process.wait()
        reader.join(1)
        with self._lock:
            if code and not self._ended and self.lost is None:
                self.lost = _obituary(process.pid, code, bytes(words))

    def __enter__(self) -> Workers:
        self._hook = threading.excepthook
        threading.excepthook = self._pass_others
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
        for thread in threading.enumerate():
            if thread.name in _READERS:
                thread.join(1)
        threading.excepthook = self._hook

    def _pass_others(self, arguments: threading.ExceptHookArgs) -> None:
        """Keep quiet on Beam's threads that read from a worker: they end with an error where it does."""
        if arguments.thread is None or arguments.thread.name not in _READERS:
            self._hook(arguments)

    def environment(self) -> Any:
        """Return the Beam environment whose workers are these."""
        from apache_beam.portability.api import endpoints_pb2
        from apache_beam.runners.portability.fn_api_runner.worker_handlers import GrpcWorkerHandler, WorkerHandler
        from apache_beam.transforms.environments import SubprocessSDKEnvironment
        from google.protobuf import json_format, text_format  # type: ignore[import-untyped,unused-ignore]

        workers = self

        @WorkerHandler.register_environment(_URN, bytes)
        class Handler(GrpcWorkerHandler):  # type: ignore[misc]
            """Beam's side of one worker."""

            def __init__(self, payload: bytes, state: Any, provision: Any, server: Any) -> None:
                super().__init__(state, provision, server)

            def start_worker(self) -> None:
                control = endpoints_pb2.ApiServiceDescriptor(url=self.control_address)
                workers._connections.append(self.control_conn)
                self.process = workers.start(
                    {
                        "CONTROL_API_SERVICE_DESCRIPTOR": text_format.MessageToString(control),
                        "PIPELINE_OPTIONS": json_format.MessageToJson(
                            self.provision_info.provision_info.pipeline_options
                        ),
                        "WORKER_ID": self.worker_id,
                    }
                )

            def close(self) -> None:
                workers.end_expected()
                super().close()

            def stop_worker(self) -> None:
                self.process.wait()

        class Environment(SubprocessSDKEnvironment):  # type: ignore[misc]
            """A name by which Beam finds the handler."""

            def to_runner_api_parameter(self, context: Any) -> tuple[str, bytes]:
                return _URN, b""

        return Environment.from_command_string("")


def _keep_last(process: subprocess.Popen[bytes], words: bytearray) -> None:
    assert process.stderr is not None
    with process.stderr as stream:
        while data := os.read(stream.fileno(), _LAST_WORDS):
            words += data
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


def _wait_and_exit() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)
