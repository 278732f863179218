"""A pool gives each engine its own workers, and stops those that the same engine asked for."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import psutil
import pytest
from apache_beam.portability.api import beam_fn_api_pb2 as api
from apache_beam.portability.api import beam_fn_api_pb2_grpc

from bertdata.beam import worker_pool
from bertdata.cli import worker_pool as program
from bertdata.engine import processes
from bertdata.errors import ConfigError
from tests.beam.portable import free_port
from tests.clock import PATIENCE
from tests.engine.test_processes import comes


@pytest.fixture(autouse=True)
def idle_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "WORKER", "tests.beam.idle_worker")


@contextlib.contextmanager
def pool(idle: int = 0) -> Iterator[str]:
    """Serve a pool and yield its address."""
    port = free_port()
    with worker_pool.WorkerPool(idle) as workers:
        server = worker_pool.serve(workers, port)
        yield f"localhost:{port}"
        server.stop(0)


@contextlib.contextmanager
def engine(address: str) -> Iterator[Any]:
    """Yield what a task manager asks a pool by: a connection of its own."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(address, options) as channel:
        yield beam_fn_api_pb2_grpc.BeamFnExternalWorkerPoolStub(channel)


def start(engine: Any, worker: str = "1-1") -> psutil.Process:
    """Return the process that a pool starts for an engine."""
    before = {process.pid for process in workers()}
    assert engine.StartWorker(api.StartWorkerRequest(worker_id=worker)).error == ""
    [process] = [process for process in workers() if process.pid not in before]
    return process


def workers() -> list[psutil.Process]:
    """Return the workers that run."""
    running = []
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if worker_pool.WORKER in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                running.append(process)
    return running


def test_a_task_manager_that_ends_stops_its_own_worker_and_no_other_of_that_id() -> None:
    with pool() as address, engine(address) as first, engine(address) as second:
        of_first, of_second = start(first), start(second)
        first.StopWorker(api.StopWorkerRequest(worker_id="1-1"))
        assert not of_first.is_running()
        assert workers() == [of_second]
        first.StopWorker(api.StopWorkerRequest(worker_id="1-1"))  # again, as a retry of its request is
        assert workers() == [of_second]
        second.StopWorker(api.StopWorkerRequest(worker_id="1-1"))
        assert workers() == []


def test_a_job_takes_a_worker_that_waits_and_its_end_starts_the_next() -> None:
    with pool(idle=1) as address, engine(address) as first:
        [waiting] = workers()
        first.StartWorker(api.StartWorkerRequest(worker_id="1-1"))
        assert workers() == [waiting]
        first.StopWorker(api.StopWorkerRequest(worker_id="1-1"))
        assert comes(workers)
        [other] = workers()
        assert other != waiting


def test_a_worker_that_has_died_while_it_waited_is_not_given_to_a_job() -> None:
    with pool(idle=1) as address, engine(address) as first:
        [waiting] = workers()
        waiting.kill()
        assert comes(lambda: not workers())
        assert start(first) != waiting


def test_leaving_ends_all_workers_and_gives_out_no_other() -> None:
    with pool(idle=1) as address, engine(address) as first:
        first.StartWorker(api.StartWorkerRequest(worker_id="1-1"))
        start(first, "2-1")
    assert workers() == []
    with worker_pool.WorkerPool(0) as ended:
        pass
    context = type("Context", (), {"peer": staticmethod(lambda: "ipv4:127.0.0.1:1")})
    assert "has ended" in ended.StartWorker(api.StartWorkerRequest(worker_id="1-1"), context).error


@pytest.mark.costly
def test_a_worker_says_in_a_line_that_its_engine_has_ended_before_it() -> None:
    connected, ending = threading.Event(), threading.Event()

    class Engine(beam_fn_api_pb2_grpc.BeamFnControlServicer):  # type: ignore[misc]
        def Control(self, responses: Any, context: Any) -> Iterator[Any]:  # noqa: N802
            connected.set()
            ending.wait(PATIENCE)
            yield from ()

    server = grpc.server(ThreadPoolExecutor(1))
    beam_fn_api_pb2_grpc.add_BeamFnControlServicer_to_server(Engine(), server)
    port = server.add_insecure_port("localhost:0")
    server.start()
    with processes.new_process("bertdata.beam.pool_worker", stderr=subprocess.PIPE) as worker:
        assert worker.stdin is not None
        job = {"CONTROL_API_SERVICE_DESCRIPTOR": f'url: "localhost:{port}"', "WORKER_ID": "1-1"}
        worker.stdin.write(json.dumps(job).encode() + b"\n")
        worker.stdin.flush()
        assert connected.wait(PATIENCE)
        server.stop(0)  # breaks the connection off, as the end of an engine does
        assert worker.wait(PATIENCE) == 0
        ending.set()
        assert worker.stderr is not None
        said = worker.stderr.read().decode()
    assert said.endswith("a worker ends: the task manager or executor of its job has ended\n")
    assert "Traceback" not in said  # gRPC itself may have a line of its own


def test_what_keeps_a_worker_from_starting_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pool() as address, engine(address) as first:
        assert "No such file" in first.StartWorker(api.StartWorkerRequest(worker_id="1-1")).error


def test_a_port_that_is_taken_is_told() -> None:
    with pool() as address, worker_pool.WorkerPool(0) as other:
        port = int(address.rpartition(":")[2])
        with pytest.raises(ConfigError, match=f"port {port} of this machine is taken; end what listens there"):
            worker_pool.serve(other, port)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--service_port=0"], "--service_port is 0; expected 1 to 65535"),
        (["--service_port=1", "--idle=-1"], "or more"),
    ],
)
def test_flags_of_the_program_are_checked(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        program.main(words)


@pytest.mark.costly
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_program_ends_with_its_workers(how: signal.Signals) -> None:
    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-m", "bertdata.cli.worker_pool", f"--service_port={port}", "--idle=2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == f"the pool of workers is at localhost:{port}\n"
        children = psutil.Process(running.pid).children()
        running.send_signal(how)
        said = running.communicate()[1]
    assert len(children) == 2
    assert (running.returncode, said) == (-how if how == signal.SIGKILL else 0, "")
    assert comes(lambda: not any(child.is_running() for child in children))
