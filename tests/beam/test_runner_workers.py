"""Worker processes of a run: kept for the next pipeline, gone with it, and missed when one dies."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from bertdata.beam.runner import Runner
from bertdata.engine import processes
from bertdata.engine.parts import load
from bertdata.errors import BertDataError, InputError
from tests.beam.jobs import fail, make, meet, note_process, slowly, tasks
from tests.clock import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
HERE = Runner(1, quiet=True)
TWO = Runner(2, quiet=True)


def worker_processes(parent: int | None = None) -> list[psutil.Process]:
    """Return our worker processes among the children of a process, by default this one."""
    workers = []
    for child in psutil.Process(parent).children():
        with contextlib.suppress(psutil.Error):  # it has ended since
            workers += [child] if processes.WORKER in child.cmdline() else []
    return workers


@pytest.fixture(autouse=True)
def the_checkout_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_a_worker_that_cannot_start_is_told_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "WORKER", "tests.engine.idle_worker")
    monkeypatch.setenv("IDLE", "raise")
    with pytest.raises(BertDataError, match=r"exit code 1.*ImportError: No module named absent"):
        make(TWO, tasks(tmp_path, 200), slowly)
    assert capfd.readouterr() == ("", "")


@pytest.mark.costly
def test_where_only_some_workers_can_be_started_these_make_all_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start = processes.new_process
    started: list[Any] = []

    def start_one(*arguments: Any, **more: Any) -> Any:
        if started:
            raise OSError(errno.EMFILE, "Too many open files")
        started.append(start(*arguments, **more))
        return started[0]

    monkeypatch.setattr(processes, "new_process", start_one)
    done = make(Runner(3), tasks(tmp_path, 4, 2), meet)
    assert {record.details["pid"] for _, record in done} == {os.getpid(), started[0].pid}
    assert "2 workers in place of 3: [Errno 24] Too many open files" in capsys.readouterr().err


def test_a_worker_killed_in_the_middle_is_told_and_a_rerun_ends_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    some = tasks(tmp_path, 40)

    def kill_one() -> None:
        while not any(load(task) for task in some):
            time.sleep(0.02)
        worker_processes()[0].send_signal(signal.SIGKILL)

    thread = threading.Thread(target=kill_one)
    thread.start()
    with pytest.raises(BertDataError, match="was killed, most likely for want of memory"):
        make(TWO, some, slowly)
    at_the_end = sorted(os.listdir(tmp_path))
    thread.join()
    assert worker_processes() == []
    assert capfd.readouterr() == ("", "")
    kept = {task.name: record for task in some if (record := load(task))}
    assert 1 <= len(kept) < len(some)
    assert sorted(os.listdir(tmp_path)) == at_the_end, "nothing is written any more once the error is raised"
    done = make(HERE, some, note_process)
    assert {task.name for task, record in done if record == kept.get(task.name)} == kept.keys()
    assert all(Path(task.path).read_text() == task.name for task, _ in done)


def _workers_of(runner: Runner, folder: Path, number: int = 2) -> set[int]:
    """Return the ids of the processes beside this one that did some tasks."""
    done = make(runner, tasks(folder, 8, number), meet)
    return {record.details["pid"] for _, record in done} - {os.getpid()}


@pytest.mark.costly
def test_workers_that_are_kept_do_all_pipelines_until_one_is_killed_or_an_error_ends_them(tmp_path: Path) -> None:
    runner = Runner(2, quiet=True)
    with runner.keep_workers():
        runner.start_workers(0)
        started = {child.pid for child in worker_processes()}
        assert len(started) == 1
        assert _workers_of(runner, tmp_path / "a") == started, "started before a pipeline"
        assert _workers_of(runner, tmp_path / "b") == started, "once for all"

        [process] = started
        psutil.Process(process).kill()
        assert runner._workers is not None
        for _ in range(500):
            if not runner._workers.usable:
                break
            time.sleep(0.01)
        second = _workers_of(runner, tmp_path / "c")
        assert len(second - started) == 1, "replaced where one was killed between two pipelines"

        with pytest.raises(InputError, match="found this"):
            make(runner, tasks(tmp_path / "d", 2, "InputError"), fail)
        assert worker_processes() == [], "none is left after an error"
        assert not (started | second) & _workers_of(runner, tmp_path / "e"), "the next pipeline starts its own"
    assert worker_processes() == []


_KEEPS = """
import sys, time
from pathlib import Path
from bertdata.beam.runner import Runner
from bertdata.cli import command_line
from tests.beam.jobs import make, meet, tasks
runner = Runner(2, quiet=True)
with runner.keep_workers():
    make(runner, tasks(Path(sys.argv[1]), 8, 2), meet)
    print("idle", flush=True)
    time.sleep(600)
"""


@pytest.mark.costly
def test_idle_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _KEEPS, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "idle\n"
        workers = worker_processes(parent.pid)
        parent.kill()
        _, alive = psutil.wait_procs(workers, timeout=PATIENCE)
    assert len(workers) == 1
    assert not alive


def test_an_interrupt_ends_the_workers(tmp_path: Path) -> None:
    some = tasks(tmp_path, 40)

    def interrupt() -> None:
        while not worker_processes():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        make(TWO, some, slowly)
    thread.join()
    assert worker_processes() == []


@pytest.mark.parametrize(
    ("workers", "work", "flags"), [(1, 1 << 40, ()), (0, 1 << 20, ()), (0, 1 << 40, ("--runner=x",))]
)
def test_no_worker_is_started_early_where_none_or_another_runner_will_be_used(
    workers: int, work: int, flags: tuple[str, ...]
) -> None:
    runner = Runner(workers, flags, quiet=True)
    with runner.keep_workers():
        runner.start_workers(work)
        assert worker_processes() == []
