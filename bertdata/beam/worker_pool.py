"""A pool of workers for the tasks of Flink, Spark and Prism on one machine: `--environment_type=EXTERNAL`.

It listens on this machine alone (`python -m bertdata.cli.worker_pool` runs one).

Task managers count their workers from 1-1, as do the jobs of one of them, and a pool is asked to stop a worker by that
id alone. Beam's own pool (`apache_beam.runners.worker.worker_pool_main`) stops the last worker of that id, which may be
the one of another task manager or of the next job: its part is lost, and where it had not yet connected, that job waits
for ever. Here a worker is stopped by who asked for it. Workers import their packages before they are asked for.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import traceback
from typing import Any

from bertdata.engine import processes
from bertdata.errors import ConfigError

WORKER = "bertdata.beam.pool_worker"
STOP_SECONDS = 10.0
"""How long a worker that is stopped may take to end before it is killed."""


class WorkerPool:
    """Beam's service `BeamFnExternalWorkerPool`, as a context manager; leaving it ends all workers.

    A worker runs one job, and ends when that closes its connection: objects of one build are not left to the next.
    """

    def __init__(self, idle: int) -> None:
        """Start workers until `idle` are there that wait for a job; as many wait again once a job has ended."""
        self._idle_number = idle
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[bytes]] = []
        self._running: dict[tuple[str, str], subprocess.Popen[bytes]] = {}
        self._ended = False
        self._refill()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._ended = True
            workers = [*self._idle, *self._running.values()]
        for process in workers:
            processes.kill(process)

    def StartWorker(self, request: Any, context: Any) -> Any:  # noqa: N802 - the names are Beam's
        """Give a job a worker; its answer has an error where none can be started."""
        from apache_beam.portability.api import beam_fn_api_pb2 as api
        from google.protobuf import text_format  # type: ignore[import-untyped,unused-ignore]

        variables = {
            "CONTROL_API_SERVICE_DESCRIPTOR": text_format.MessageToString(request.control_endpoint),
            "WORKER_ID": request.worker_id,
        }
        try:
            with self._lock:
                if self._ended:
                    raise RuntimeError("the pool of workers has ended")
                process = self._take()
                self._running[context.peer(), request.worker_id] = process
            assert process.stdin is not None
            process.stdin.write(json.dumps(variables).encode() + b"\n")
            process.stdin.flush()
            threading.Thread(target=self._watch, args=(process,), daemon=True).start()
        except Exception:
            return api.StartWorkerResponse(error=traceback.format_exc())
        return api.StartWorkerResponse()

    def StopWorker(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Stop the worker of an id that the same connection asked for; the others end with theirs."""
        from apache_beam.portability.api import beam_fn_api_pb2 as api

        with self._lock:
            process = self._running.pop((context.peer(), request.worker_id), None)
        if process is not None:
            _stop(process)
        return api.StopWorkerResponse()

    def _take(self) -> subprocess.Popen[bytes]:
        """Return a worker that waits, or a new one where all that waited have died."""
        while self._idle:
            process = self._idle.pop(0)
            if process.poll() is None:
                return process
            processes.kill(process)
        return _new_worker()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Forget a worker once it has ended, and start one for the next job."""
        process.wait()
        with self._lock:
            self._running = {name: other for name, other in self._running.items() if other is not process}
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        self._refill()

    def _refill(self) -> None:
        with self._lock:
            if not self._ended:
                self._idle += [_new_worker() for _ in range(self._idle_number - len(self._idle))]


def _new_worker() -> subprocess.Popen[bytes]:
    """Start a worker that runs one job; what it writes to its standard error is in the log of the pool."""
    return processes.new_process(WORKER)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def serve(pool: WorkerPool, port: int) -> Any:
    """Return a server of gRPC that gives engines the workers of a pool; raises ConfigError where the port is taken."""
    import grpc
    from apache_beam.portability.api import beam_fn_api_pb2_grpc
    from apache_beam.utils import thread_pool_executor

    # engines ping a pool that has nothing to say
    options = [("grpc.http2.max_pings_without_data", 0), ("grpc.http2.max_ping_strikes", 0), ("grpc.so_reuseport", 0)]
    server = grpc.server(thread_pool_executor.shared_unbounded_instance(), options=options)
    try:
        server.add_insecure_port(f"localhost:{port}")
    except RuntimeError as error:
        raise ConfigError(f"port {port} of this machine is taken; end what listens there, or choose another") from error
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    server.start()
    return server
