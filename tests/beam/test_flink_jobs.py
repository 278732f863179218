"""The jobs of a Flink cluster are listed and cancelled by its REST interface, here one that answers as Flink does."""

from __future__ import annotations

import argparse
import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bertdata.beam import flink_jobs, internals, runner_flags

JOBS = [
    {"jid": "a1", "name": "bertdata-tokenize-1", "state": "RUNNING"},
    {"jid": "b2", "name": "bertdata-tokenize-1", "state": "FINISHED"},
    {"jid": "c3", "name": "another", "state": "RESTARTING"},
    {"jid": "d4", "name": "bertdata-check-workers-2", "state": "CREATED"},
]


@contextlib.contextmanager
def rest() -> Iterator[tuple[str, list[str]]]:
    """Serve the jobs, and yield the address with the paths of the requests that change something."""
    changes: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers = {"/jobs/overview": {"jobs": JOBS}, "/overview": {"slots-total": 4, "slots-available": 1}}
            self.answer(json.dumps(answers[self.path]).encode())

        def do_PATCH(self) -> None:
            changes.append(self.path)
            self.answer(b"{}")

        def answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", changes
        finally:
            server.shutdown()


def test_only_the_active_jobs_of_a_name_are_cancelled() -> None:
    with rest() as (cluster, changes):
        assert flink_jobs.active(cluster) == {
            "a1": "bertdata-tokenize-1",
            "c3": "another",
            "d4": "bertdata-check-workers-2",
        }
        flink_jobs.cancel(cluster, "bertdata-tokenize-1")
    assert changes == ["/jobs/a1?mode=cancel"]


def test_the_jobs_that_hold_slots_are_told_where_no_worker_begins() -> None:
    with rest() as (cluster, _):
        parsed = argparse.Namespace(runner="FlinkRunner", flink_master=cluster.removeprefix("http://"))
        assert runner_flags.silence(parsed).startswith(
            "these jobs are on Flink, and may hold its slots: another, bertdata-tokenize-1; wait for them, or cancel"
        )


@pytest.mark.costly
@pytest.mark.parametrize(
    ("parallelism", "words"), [(2, "Flink has 1 free slot, and --parallelism asks for 2: "), (1, "")]
)
def test_jobs_that_leave_too_few_slots_are_told_once_a_worker_has_answered(parallelism: int, words: str) -> None:
    with rest() as (cluster, _):
        parsed = internals.parse_flags(
            [
                "--runner=FlinkRunner",
                f"--flink_master={cluster.removeprefix('http://')}",
                f"--parallelism={parallelism}",
            ]
        )
        assert runner_flags.too_few_slots(parsed) == (words and words + runner_flags.silence(parsed))


@pytest.mark.parametrize(
    ("flags", "further"),
    [
        (["--runner=FlinkRunner"], ["--parallelism=1"]),
        (["--runner=PortableRunner", "--parallelism=4"], ["--parallelism=1"]),
        (["--runner=PortableRunner"], []),
        (["--runner=SparkRunner"], []),
    ],
)
def test_the_question_to_a_worker_takes_one_slot(flags: list[str], further: list[str]) -> None:
    assert runner_flags.of_check(internals.parse_flags(flags)) == further


@pytest.mark.parametrize(
    ("runner", "master", "address"),
    [
        ("FlinkRunner", "host:8081", "http://host:8081"),
        ("apache_beam.runners.portability.flink_runner.FlinkRunner", "https://host:443/", "https://host:443"),
        ("FlinkRunner", "[auto]", None),
        ("FlinkRunner", "[local]", None),
        ("FlinkRunner", None, None),
        ("SparkRunner", "host:8081", None),
        (None, "host:8081", None),
    ],
)
def test_a_cluster_is_one_that_a_host_and_port_name(
    runner: str | None, master: str | None, address: str | None
) -> None:
    assert flink_jobs.address(argparse.Namespace(runner=runner, flink_master=master)) == address
