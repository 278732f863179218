"""Worker processes exit with the process that started them, which detects their early exits."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from bertdata.beam import processes
from bertdata.beam.processes import Workers
from tests.clock import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
IDLE = "tests.beam.idle_worker"


@pytest.fixture(autouse=True)
def idle_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORKER", IDLE)


def comes(condition: Callable[[], object]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(condition())


def ended(workers: Workers) -> bool:
    """Wait until each thread that watches a worker has seen its end and set `lost`."""
    for watcher in workers.watchers:
        watcher.join(PATIENCE)
    return bool(workers.watchers) and not any(watcher.is_alive() for watcher in workers.watchers)


def start(workers: Workers, todo: str = "sleep") -> subprocess.Popen[bytes]:
    return workers.start({"IDLE": todo})


def test_leaving_ends_every_worker() -> None:
    with Workers() as workers:
        started = [start(workers) for _ in range(3)]
        assert all(process.poll() is None for process in started)
    assert all(process.poll() is not None for process in started)
    assert workers.lost is None


def test_leaving_by_an_error_ends_the_workers_too() -> None:
    started = []

    def interrupted() -> None:
        with Workers() as workers:
            started.append(start(workers))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert started[0].poll() is not None


def test_no_worker_starts_once_they_were_ended() -> None:
    with Workers() as workers:
        pass
    with pytest.raises(RuntimeError, match="ended"):
        start(workers)


_PARENT = f"""
import sys, time
from bertdata.beam import processes
processes.WORKER = {IDLE!r}
with processes.Workers() as workers:
    print(*(workers.start({{}}).pid for _ in range(2)), flush=True)
    time.sleep(600)
"""


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
        lines = [parent.stdout.readline() for _ in range(3)]  # workers may be ready before the parent names them
        lines.sort(key=lambda line: line == "ready\n")
        assert lines[1:] == ["ready\n"] * 2
        workers = [psutil.Process(int(pid)) for pid in lines[0].split()]
        assert len(workers) == 2
        try:
            yield parent, workers
        finally:
            parent.kill()


def test_a_killed_worker_is_named_with_what_to_do() -> None:
    with Workers() as workers:
        start(workers)
        process = start(workers)
        process.kill()
        assert comes(lambda: workers.lost)
        assert workers.lost == (
            f"worker process {process.pid} was killed, most likely for want of memory; run the same command again "
            "with fewer --workers or a smaller --shard-bytes: what is done is kept"
        )


def test_what_a_worker_says_is_read_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = threading.Thread.start

    def start_watchers(thread: threading.Thread) -> None:
        if "_read_last_lines" in repr(thread):
            raise RuntimeError("can't start new thread")
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start_watchers)
    with Workers() as workers:
        start(workers, "raise")
        assert comes(lambda: workers.lost)
        assert "No module named absent" in (workers.lost or "")


def test_a_crashed_worker_is_named_with_its_signal() -> None:
    with Workers() as workers:
        process = start(workers)
        process.send_signal(signal.SIGSEGV)
        assert comes(lambda: workers.lost)
        assert f"worker process {process.pid} died of signal 11" in (workers.lost or "")


def test_the_last_line_of_a_worker_that_failed_to_start_is_shown() -> None:
    with Workers() as workers:
        start(workers, "raise")
        assert comes(lambda: workers.lost)
        assert "ended with exit code 1" in (workers.lost or "")
        assert "ImportError: No module named absent;" in (workers.lost or "")
        assert "warning" not in (workers.lost or "")


def test_a_module_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORKER", "bertdata.beam.no_such_module")
    with Workers() as workers:
        start(workers)
        assert comes(lambda: workers.lost)
        assert "no_such_module" in (workers.lost or "")


def test_only_the_first_loss_is_kept() -> None:
    with Workers() as workers:
        first, second = start(workers), start(workers)
        first.kill()
        assert comes(lambda: workers.lost)
        second.kill()
        second.wait()
        assert ended(workers)
        assert f" {first.pid} " in (workers.lost or "")
        assert f" {second.pid} " not in (workers.lost or "")


def test_a_worker_that_exits_by_itself_is_lost_whatever_its_code() -> None:
    with Workers() as workers:
        assert start(workers, "0").wait() == 0
        assert ended(workers)
        assert "ended with exit code 0" in (workers.lost or "")
        assert not workers.usable


def test_a_worker_that_is_discarded_is_ended_and_not_lost() -> None:
    with Workers() as workers:
        process = start(workers)
        workers.discard(process)
        assert process.poll() is not None
        assert ended(workers)
        assert workers.usable


def test_a_worker_that_was_released_gets_the_next_pipeline() -> None:
    with Workers() as workers:
        first = start(workers, "next")
        workers.release(first)
        assert start(workers, "3") is first
        assert first.wait() == 3
        assert start(workers) is not first


def test_a_worker_imports_what_its_parent_does_and_nothing_of_the_folder_it_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    with Workers() as workers:
        assert start(workers, "path").wait() == 0
    module, path = capfd.readouterr().out.split()
    assert Path(module) != tmp_path / "random.py"
    assert path.split(os.pathsep)[0] == str(ROOT)


def test_a_worker_that_says_too_much_does_not_wait_for_a_reader() -> None:
    last = bytearray()
    command = [sys.executable, "-c", "import sys; sys.stderr.write('x' * 300_000 + chr(10) + 'the end')"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        processes._read_last_lines(process, last, threading.Event())
    assert bytes(last).endswith(b"the end")
    assert len(last) <= 4096


def test_a_worker_that_was_started_before_its_first_pipeline_runs_it() -> None:
    with Workers() as workers:
        workers.start_idle(2)
        workers.start_idle(2)
        assert len(workers.watchers) == 2
        assert start(workers) is not start(workers)
        assert len(workers.watchers) == 2
        start(workers)
        assert len(workers.watchers) == 3
