"""Pipelines run on Dask: every worker gets its share, one may die, and workers that cannot do the work are refused."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bertdata.beam import dask_cluster, worker_check
from bertdata.beam.runner import Runner
from bertdata.engine.parts import load
from bertdata.engine.versions import versions
from bertdata.errors import BertDataError, ConfigError, InputError, MissingExtraError
from bertdata.io import files
from tests.beam.jobs import die, fail, make, meet, note_process, slowly, tasks
from tests.clock import PATIENCE

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own threads and sockets

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def started_cluster() -> Iterator[Any]:
    from distributed import LocalCluster

    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(ROOT),  # from which the workers import the functions of these tests
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as started,
    ):
        patch.syspath_prepend(str(ROOT))
        yield started


@pytest.fixture
def cluster(started_cluster: Any) -> Any:
    """Give the cluster with both workers: one that another test has killed may not be back yet."""
    from distributed import Client

    with Client(started_cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
    return started_cluster


def on(cluster: Any, *flags: str, quiet: bool = True) -> Runner:
    return Runner(0, ("--runner=dask", f"--dask_client_address={cluster.scheduler_address}", *flags), quiet=quiet)


@pytest.mark.costly
def test_every_worker_gets_a_share(cluster: Any, tmp_path: Path) -> None:
    runner = on(cluster)
    runner.check(str(tmp_path), [])
    done = make(runner, tasks(tmp_path, 8, payload=2), meet)
    pids = {record.details["pid"] for _, record in done}
    assert len(done) == 8
    assert len(pids) == 2
    assert os.getpid() not in pids


def test_an_error_of_ours_comes_back_as_the_class_it_was(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"wiki\.xml\.bz2, byte 4096: found this"):
        make(on(cluster), tasks(tmp_path, 1, "InputError"), fail)


@pytest.mark.costly
def test_a_worker_that_dies_in_the_middle_costs_nothing_but_time(cluster: Any, tmp_path: Path) -> None:
    to_do, first = tasks(tmp_path, 8), {worker.pid for worker in cluster.workers.values()}
    victim = min(first)

    def kill() -> None:
        deadline = time.monotonic() + PATIENCE
        while not any(load(task) for task in to_do) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    done = make(on(cluster), to_do, slowly)
    killer.join()
    assert len(done) == 8
    assert [Path(task.path).read_text() for task in to_do] == [task.name for task in to_do]


@pytest.mark.costly
def test_a_task_that_kills_every_worker_is_given_up_with_the_reason(cluster: Any, tmp_path: Path) -> None:
    cluster.scheduler.allowed_failures, before = 0, cluster.scheduler.allowed_failures
    try:
        with pytest.raises(BertDataError, match=r"after 1 of its workers had died, most likely for want of memory"):
            make(on(cluster), tasks(tmp_path, 1), die)
    finally:
        cluster.scheduler.allowed_failures = before


def test_tasks_that_were_cancelled_at_the_scheduler_are_not_taken_for_done(cluster: Any) -> None:
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        done = client.submit(abs, -1)
        waiting = client.submit(abs, -2, resources={"of no worker": 1})
        assert done.result() == 1
        dask_cluster.require_not_cancelled([done, waiting])
        client.cancel([waiting])
        words = "^the job was cancelled at Dask's scheduler, not by this process, .* again: what is done is kept$"
        with pytest.raises(BertDataError, match=words):
            dask_cluster.require_not_cancelled([done, waiting])


@pytest.mark.costly
def test_a_cluster_is_started_where_none_is_named_and_ends_with_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psutil

    monkeypatch.setattr(dask_cluster, "cores", lambda: 1)
    done = make(Runner(0, ("--runner=DaskRunner",), quiet=True), tasks(tmp_path, 2), note_process)
    pids = {record.details["pid"] for _, record in done}
    assert os.getpid() not in pids
    deadline = time.monotonic() + PATIENCE
    while any(map(psutil.pid_exists, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(psutil.pid_exists, pids))


def test_a_worker_of_another_version_is_refused(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_check, "versions", lambda: versions() | {"tokenizers": "9.9"})
    with pytest.raises(ConfigError, match=r"worker at tcp://.* has other .*: tokenizers \d.* \(here 9\.9\); install"):
        on(cluster).check("memory://out", [])


def test_a_worker_that_was_asked_has_imported_beam_and_does_not_log_its_pauses(cluster: Any) -> None:
    def passes(message: str) -> tuple[bool, bool]:
        import logging
        import sys

        record = logging.LogRecord("distributed.core", logging.INFO, "core.py", 1, message, (), None)
        return "apache_beam" in sys.modules, bool(logging.getLogger("distributed.core").filter(record))

    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        on(cluster).check("memory://out", [])
        pauses = client.run(passes, "Event loop was unresponsive in %s for %.2fs.  This is often")
        others = client.run(passes, "Starting established connection")
    assert list(pauses.values()) == [(True, False)] * 2
    assert list(others.values()) == [(True, True)] * 2


def test_a_path_that_workers_do_not_share_is_refused(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "read").mkdir()
    on(cluster).check(str(tmp_path / "new" / "folder"), [str(tmp_path / "read"), "memory://out"])
    ask = dask_cluster.DaskCluster.check_workers

    def on_another_disk(self: Any, needs: worker_check.Needs) -> int:
        """Ask as where the folder of this path is another one for the workers: the file is not there."""
        for path in needs.seen:
            files.remove(path)
        return ask(self, needs)

    monkeypatch.setattr(dask_cluster.DaskCluster, "check_workers", on_another_disk)
    with pytest.raises(ConfigError, match=r"not see this path .* give a URL .* that all workers share") as caught:
        on(cluster).check(str(tmp_path / "new"), [])
    assert str(caught.value).startswith(str(tmp_path / "new"))


@pytest.mark.costly
def test_a_scheduler_that_does_not_answer_is_told(tmp_path: Path) -> None:
    flags = ("--runner=dask", "--dask_client_address=tcp://127.0.0.1:9", "--dask_connection_timeout=1")
    with pytest.raises(ConfigError, match=r"tcp://127\.0\.0\.1:9: no Dask scheduler answers .* start one with"):
        Runner(0, flags, quiet=True).check(str(tmp_path), [])


def test_a_scheduler_without_workers_is_waited_for_with_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as empty:
        on(empty, quiet=False).check("memory://out", [])
    assert "no Dask worker has joined the scheduler yet" in capsys.readouterr().err


def test_flags_of_dask_are_for_its_runner() -> None:
    with pytest.raises(ConfigError, match=r"for DaskRunner, and no runner was given; add --runner=DaskRunner"):
        Runner(0, ("--dask_client_address=tcp://a:1",), quiet=True).check("memory://out", [])


def test_dask_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[dask\]"'):
        Runner(0, ("--runner=dask",), quiet=True).check("memory://out", [])


@pytest.mark.costly
def test_an_element_is_a_partition_up_to_eight_a_worker_unless_flags_say_otherwise(cluster: Any) -> None:
    from distributed import LocalCluster

    from bertdata.beam import internals

    runner = on(cluster)
    with dask_cluster.DaskCluster(internals.parse_flags(runner.flags)) as of_two_workers:
        assert of_two_workers.flags(["--dask_client_address=x"], 7)[-2:] == [
            f"--dask_client_address={cluster.scheduler_address}",
            "--dask_npartitions=7",
        ]
        assert of_two_workers.flags([], 10_000)[-1] == "--dask_npartitions=16"
        assert of_two_workers.flags(["--dask_npartitions=3"], 7)[0] == "--dask_npartitions=3"
        assert len(of_two_workers.flags(["--dask_partition_size=3"], 7)) == 2
    with (
        LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as empty,
        dask_cluster.DaskCluster(internals.parse_flags(on(empty).flags)) as without_workers,
    ):
        assert without_workers.flags([], 10_000)[-1] == "--dask_npartitions=256"
