"""One build at a time writes at a URL; the lease of one that was killed expires."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

import fsspec
import pytest

from bertdata.engine import remote_lock as module
from bertdata.engine.output_lock import output_lock
from bertdata.engine.remote_lock import LOCK, process_name, remote_lock
from bertdata.errors import OutputError
from bertdata.io import files, listing
from bertdata.io.engine_outputs import MARKER
from tests.clock import PATIENCE


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(module, "LEASE_SECONDS", 0.5)


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease that does not expire while a test runs, on a busy machine neither, looked at as often as the others."""
    monkeypatch.setattr(module, "LEASE_SECONDS", PATIENCE)
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.02)


@pytest.fixture
def output() -> Iterator[str]:
    folder = f"memory://{uuid.uuid4().hex}"
    yield folder
    fs = fsspec.filesystem("memory")
    if fs.exists(folder):
        fs.rm(folder, recursive=True)


def lease(output: str) -> Any:
    return json.loads(files.read_if_there(f"{output}/{LOCK}") or b"null")


def enter(output: str) -> None:
    with output_lock(output, "build"):
        pytest.fail("two builds write here")


def await_lost() -> None:
    """Wait until no lease of this process is renewed any more."""
    end = time.monotonic() + PATIENCE
    while any(thread.name == "bertdata-lease" for thread in threading.enumerate()) and time.monotonic() < end:
        time.sleep(0.01)


def write(output: str, **values: Any) -> None:
    """Write the lease of a build on another machine."""
    value = {"token": "theirs", "process": "elsewhere boot pid:[1] 17 99", "renewals": 3}
    files.write_json(f"{output}/{LOCK}", value | values)


def test_a_lease_is_there_while_it_is_held_and_renewed_and_gone_after(output: str) -> None:
    with remote_lock(output):
        first, end = lease(output), time.monotonic() + PATIENCE
        while (renewed_lease := lease(output)) == first and time.monotonic() < end:
            time.sleep(0.01)
        assert renewed_lease["token"] == first["token"]
        assert renewed_lease["renewals"] > first["renewals"]
    assert lease(output) is None
    with pytest.raises(RuntimeError), remote_lock(output):
        raise RuntimeError
    assert lease(output) is None


@pytest.mark.usefixtures("long")
def test_a_second_build_is_refused_while_the_first_one_writes(output: str) -> None:
    with output_lock(output, "build"):
        token = lease(output)["token"]
        with pytest.raises(OutputError, match="another build is writing here; wait for it, or choose another `output`"):
            enter(output)
        assert lease(output)["token"] == token
    with output_lock(output, "build"):
        assert lease(output)["token"] != token
    assert listing.names(output) == [MARKER]


def test_a_lease_that_nobody_renews_is_taken_over(output: str, caplog: pytest.LogCaptureFixture) -> None:
    write(output)
    began = time.monotonic()
    with remote_lock(output):
        assert lease(output)["token"] != "theirs"
    assert time.monotonic() - began >= 0.5
    assert f"{output}: another build is running here, or was killed" in caplog.text


@pytest.mark.usefixtures("long")
def test_a_build_that_ends_while_it_is_watched_leaves_its_output_to_the_next(output: str) -> None:
    write(output)
    threading.Timer(0.2, files.remove, [f"{output}/{LOCK}"]).start()
    began = time.monotonic()
    with remote_lock(output):
        assert time.monotonic() - began < module.LEASE_SECONDS


@pytest.mark.usefixtures("long")
def test_the_lease_of_a_process_of_this_machine_that_is_gone_is_taken_over_at_once(
    output: str, caplog: pytest.LogCaptureFixture
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = process_name(ended.pid)
    write(output, process=name)
    with renewed(output), pytest.raises(OutputError, match="another build is writing here"):
        enter(output)
    ended.communicate(b"\n")
    assert process_name(ended.pid) == ""
    write(output, process=name)
    caplog.clear()
    with remote_lock(output):
        assert "another build is running here" not in caplog.text


@contextlib.contextmanager
def renewed(output: str) -> Iterator[None]:
    """Renew a lease of this process from another thread."""
    end = threading.Event()

    def renew() -> None:
        number = 3
        while not end.wait(0.02):
            number += 1
            write(output, process=process_name(os.getpid()), renewals=number)

    renewing = threading.Thread(target=renew)
    renewing.start()
    try:
        yield
    finally:
        end.set()
        renewing.join()


@pytest.mark.costly
@pytest.mark.parametrize("data", [b"", b"not json", b"[]", b"{}"])
def test_a_lock_file_that_is_no_lease_is_taken_over(data: bytes, output: str) -> None:
    files.write_bytes(f"{output}/{LOCK}", data)
    with remote_lock(output):
        assert lease(output)["renewals"] >= 1


def test_a_build_whose_lease_was_taken_over_is_interrupted_and_leaves_it(output: str) -> None:

    def work() -> None:
        with remote_lock(output):
            write(output)
            await_lost()
            time.sleep(PATIENCE / 100)
            pytest.fail("it was not interrupted")

    with pytest.raises(OutputError, match="another build writes here since this one could not renew its lock"):
        work()
    assert lease(output)["token"] == "theirs"


def test_in_another_thread_it_ends_with_the_error_after_its_work(output: str) -> None:
    raised: list[BaseException] = []

    def work() -> None:
        try:
            with remote_lock(output):
                write(output)
                await_lost()
        except OutputError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "another build writes here since" in str(raised[0])


def test_an_interrupt_by_the_user_stays_one(output: str) -> None:
    with pytest.raises(KeyboardInterrupt), remote_lock(output):
        raise KeyboardInterrupt
    assert lease(output) is None


@pytest.mark.costly
@pytest.mark.usefixtures("long")
def test_of_builds_started_at_once_one_at_a_time_holds_it(output: str) -> None:
    for attempt in range(10):
        held: list[int] = []
        barrier, done = threading.Barrier(4), threading.Barrier(4)

        def start(
            folder: str = f"{output}/{attempt}",
            barrier: threading.Barrier = barrier,
            done: threading.Barrier = done,
            held: list[int] = held,
        ) -> None:
            barrier.wait()
            try:
                with remote_lock(folder):
                    held.append(1)
                    done.wait()
            except OutputError:
                done.wait()

        threads = [threading.Thread(target=start) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert held == [1]


def test_two_that_take_over_one_lease_are_not_both_let_in(output: str) -> None:
    write(output)
    held: list[int] = []
    done = threading.Barrier(2)

    def start() -> None:
        try:
            with remote_lock(output):
                held.append(1)
                done.wait()
        except OutputError:
            done.wait()

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held == [1]


def test_on_a_store_that_does_not_refuse_to_create_it_twice_the_last_writer_holds_it(
    output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create(url: str, data: bytes) -> None:
        files.write_bytes(url, data)
        threading.Timer(0.01, write, [output]).start()

    monkeypatch.setattr(files, "create", create)
    with pytest.raises(OutputError, match="another build is writing here"):
        enter(output)
    assert lease(output)["token"] == "theirs"


def test_a_lease_that_was_written_though_its_answer_was_lost_is_held(
    output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = files.create

    def create_twice(url: str, data: bytes) -> None:
        create(url, data)
        raise FileExistsError(url)

    monkeypatch.setattr(files, "create", create_twice)
    with remote_lock(output):
        assert lease(output)["renewals"] >= 1
    assert lease(output) is None


def test_a_lock_alone_does_not_make_an_output_someone_elses(output: str) -> None:
    write(output)
    with output_lock(output, "build"):
        assert MARKER in listing.names(output)
