"""Worker processes exit with the process that started them, which detects their early exits."""

from __future__ import annotations

import contextlib
import io
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bertdata.engine import processes
from bertdata.engine.messages import FAILED, READY, TOOK, message_of, read_data, write_message
from bertdata.engine.processes import Event, Worker, Workers
from bertdata.errors import BertDataError
from tests.clock import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
IDLE = "tests.engine.idle_worker"


@pytest.fixture(autouse=True)
def idle_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORKER", IDLE)
    monkeypatch.syspath_prepend(str(ROOT))


def comes(condition: Callable[[], object]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(condition())


def started(workers: Workers, number: int = 1) -> list[Worker]:
    workers.start(number)
    return workers.every


def next_event(events: queue.SimpleQueue[Event]) -> Event:
    return events.get(timeout=PATIENCE)


def test_leaving_ends_every_worker() -> None:
    with Workers() as workers:
        every = started(workers, 3)
        assert all(worker.process.poll() is None for worker in every)
    assert all(worker.process.poll() is not None for worker in every)
    for worker in every:
        worker.threads[1].join(PATIENCE)
    assert workers.lost is None
    assert not workers.usable


def test_leaving_by_an_error_ends_the_workers_too() -> None:
    every = []

    def interrupted() -> None:
        with Workers() as workers:
            every.extend(started(workers))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert every[0].process.poll() is not None


def test_no_worker_starts_once_they_were_ended() -> None:
    with Workers() as workers:
        pass
    assert started(workers) == []


def test_there_are_as_many_as_were_asked_for_and_no_more() -> None:
    with Workers() as workers:
        first = list(started(workers, 2))
        assert started(workers, 2) == first
        assert started(workers, 3)[:2] == first
        assert len(workers.every) == 3


_PARENT = f"""
import sys, time
from bertdata.engine import processes
processes.WORKER = {IDLE!r}
with processes.Workers() as workers:
    workers.start(2)
    print(*(worker.process.pid for worker in workers.every), flush=True)
    time.sleep(600)
"""


@pytest.mark.costly
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "terminated"])
def test_workers_end_when_their_parent_is_gone_however_it_went(how: signal.Signals) -> None:
    with _parent() as (parent, workers):
        parent.send_signal(how)
        parent.wait(PATIENCE)
        _, alive = psutil.wait_procs(workers, timeout=PATIENCE)
        assert not alive


@contextlib.contextmanager
def _parent() -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    with subprocess.Popen([sys.executable, "-c", _PARENT], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
        assert len(workers) == 2
        try:
            yield parent, workers
        finally:
            parent.kill()


def test_a_killed_worker_is_named_with_what_to_do() -> None:
    with Workers() as workers:
        process = started(workers, 2)[1].process
        process.kill()
        assert comes(lambda: workers.lost)
        assert workers.lost == (
            f"worker process {process.pid} was killed, most likely for want of memory; run the same command again "
            "with fewer --workers or a smaller --shard-bytes: what is done is kept"
        )
        assert not workers.usable


def test_a_crashed_worker_is_named_with_its_signal() -> None:
    with Workers() as workers:
        [worker] = started(workers)
        worker.process.send_signal(signal.SIGSEGV)
        assert comes(lambda: workers.lost)
        assert f"worker process {worker.process.pid} died of signal 11" in (workers.lost or "")


def test_the_last_line_of_a_worker_that_failed_to_start_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDLE", "raise")
    with Workers() as workers:
        started(workers)
        assert comes(lambda: workers.lost)
        assert "ended with exit code 1" in (workers.lost or "")
        assert "ImportError: No module named absent;" in (workers.lost or "")
        assert "warning" not in (workers.lost or "")


def test_a_module_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORKER", "bertdata.engine.no_such_module")
    with Workers() as workers:
        started(workers)
        assert comes(lambda: workers.lost)
        assert "no_such_module" in (workers.lost or "")


def test_only_the_first_loss_is_kept() -> None:
    with Workers() as workers:
        first, second = started(workers, 2)
        first.process.kill()
        assert comes(lambda: workers.lost)
        second.process.kill()
        second.threads[1].join(PATIENCE)
        assert f" {first.process.pid} " in (workers.lost or "")
        assert f" {second.process.pid} " not in (workers.lost or "")


def test_a_worker_that_exits_by_itself_is_lost_whatever_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDLE", "0")
    with Workers() as workers:
        started(workers)
        assert comes(lambda: workers.lost)
        assert "ended with exit code 0" in (workers.lost or "")


def test_a_run_hears_who_is_ready_also_of_those_that_were_before_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDLE", "echo")
    with Workers() as workers:
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        workers.tell(events)
        [worker] = started(workers)
        assert next_event(events) == (worker, READY, None)
        again: queue.SimpleQueue[Event] = queue.SimpleQueue()
        workers.tell(again)
        assert next_event(again) == (worker, READY, None)
        worker.send("give", {"a": 1})
        assert next_event(again) == (worker, TOOK, ("give", {"a": 1}))
        assert events.empty()


def test_a_run_hears_of_a_worker_that_is_lost_also_before_it_began() -> None:
    with Workers() as workers:
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        [worker] = started(workers)
        workers.tell(events)
        assert next_event(events)[1] == READY
        worker.process.kill()
        who, kind, error = next_event(events)
        assert (who, kind, type(error)) == (worker, FAILED, BertDataError)
        assert f"worker process {worker.process.pid} was killed" in str(error)
        later: queue.SimpleQueue[Event] = queue.SimpleQueue()
        workers.tell(later)
        kinds = {next_event(later)[1] for _ in range(2)}
        assert FAILED in kinds


def test_workers_that_were_started_early_are_those_of_the_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDLE", "arguments")
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    with processes.started_early(1, ["json"]):
        with processes.new_workers() as workers:
            [early] = workers.every
            assert processes.new_workers().every == []
            workers.tell(events)
            assert [next_event(events) for _ in range(2)] == [(early, READY, None), (early, TOOK, ["json"])]
        assert early.process.poll() is not None
    assert workers.lost is None


def test_workers_that_were_started_early_and_not_needed_end_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[subprocess.Popen[bytes]] = []
    start = processes.new_process

    def remembered(*arguments: Any, **more: Any) -> Any:
        begun.append(start(*arguments, **more))
        return begun[-1]

    monkeypatch.setattr(processes, "new_process", remembered)
    with processes.started_early(2, []):
        assert [process.poll() for process in begun] == [None, None]
    assert None not in [process.poll() for process in begun]
    assert processes.new_workers().every == []


def test_where_there_is_no_room_to_start_early_the_run_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError("Too many open files")

    monkeypatch.setattr(processes, "new_process", full)
    with processes.started_early(1, []), processes.new_workers() as workers:
        assert workers.usable
        with pytest.raises(OSError, match="Too many"):
            workers.start(1)


def test_a_message_to_a_worker_that_has_exited_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDLE", "3")
    with Workers() as workers:
        [worker] = started(workers)
        worker.process.wait(PATIENCE)
        worker.send("give", bytes(1 << 20))
        assert comes(lambda: workers.lost)


def test_a_worker_imports_what_its_parent_does_and_nothing_of_the_folder_it_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IDLE", "path")
    with Workers() as workers:
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        workers.tell(events)
        started(workers)
        assert next_event(events)[1] == READY
        module, path = next_event(events)[2]
    assert Path(module) != tmp_path / "random.py"
    assert path.split(os.pathsep)[0] == str(ROOT)


def test_a_worker_for_which_there_is_no_thread_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if "start_all" not in repr(thread):
            raise RuntimeError("can't start new thread")
        begin(thread)

    before = {child.pid for child in psutil.Process().children()}
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Workers() as workers, pytest.raises(OSError, match="can't start new thread"):
        workers.start(1)
    assert workers.every == []
    assert {child.pid for child in psutil.Process().children()} <= before


def test_a_worker_that_says_too_much_does_not_wait_for_a_reader() -> None:
    last = bytearray()
    command = [sys.executable, "-c", "import sys; sys.stderr.write('x' * 300_000 + chr(10) + 'the end')"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        processes._read_last_lines(process, last, threading.Event())
    assert bytes(last).endswith(b"the end")
    assert len(last) <= 4096


@pytest.mark.parametrize("cut", [0, 3, 8, 12])
def test_a_message_that_was_cut_off_is_none(cut: int) -> None:
    stream = io.BytesIO()
    message: tuple[str, Any] = ("give", ["a"])
    write_message(stream, message)
    whole = stream.getvalue()
    assert message_of(read_data(io.BytesIO(whole)) or b"") == message
    assert len(whole) > cut
    assert read_data(io.BytesIO(whole[:cut])) is None
