"""Builds on clusters that scripts/engines starts: Flink, Spark, Prism and Dask, each with two workers.

They are skipped where the cache of the script lacks what an engine needs: `scripts/engines NAME --fetch` gets it.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from bertdata.beam import flink_jobs
from bertdata.sample import SAMPLE_BOOKS
from tests.clock import PATIENCE
from tests.pipelines.builds import ROOT, command, digests, environment, run

SCRIPT = ROOT / "scripts" / "engines"
CANNOT_BE_HAD = 3
ENGINES = ("flink", "spark", "prism", "dask")


class Cluster:
    """A cluster of the script: what it printed, and its processes."""

    def __init__(self, process: subprocess.Popen[str], last: str) -> None:
        """Read what the script prints until a line that begins with `last`; skips where it cannot have an engine."""
        assert process.stdout is not None
        self.process = process
        self.lines: list[str] = []
        for line in process.stdout:
            self.lines.append(line.strip())
            if line.startswith(last):
                return
        said = process.communicate()[1].strip()
        if process.returncode == CANNOT_BE_HAD:
            pytest.skip(said)
        raise AssertionError(said)

    @property
    def flags(self) -> list[str]:
        """Beam's flags for a build on it."""
        return ["--", *self.lines[-1].partition(" -- ")[2].split()]

    def processes(self, word: str) -> list[psutil.Process]:
        """Return its processes whose command has a word."""
        having = []
        for process in psutil.Process(self.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if word in " ".join(process.cmdline()):
                    having.append(process)
        return having


@contextlib.contextmanager
def cluster(name: str, *arguments: str) -> Iterator[Cluster]:
    """Run a cluster by the script until the context is left."""
    with subprocess.Popen(
        [SCRIPT, name, "--cached", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        try:
            yield Cluster(process, "its logs are in" if "--without-job-server" in arguments else "bertdata build")
        finally:
            process.terminate()
            process.communicate()


@contextlib.contextmanager
def build_begun(output: Path, engine: Cluster, folder: str) -> Iterator[subprocess.Popen[str]]:
    """Start a build on a cluster, and yield its process once something is in a folder of its stages."""
    with subprocess.Popen(
        command(output, *engine.flags), cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True
    ) as build:
        path, deadline = output / "stages" / folder, time.monotonic() + PATIENCE
        while not (path.is_dir() and any(path.iterdir())) and build.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        yield build


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("name", ENGINES)
def test_the_smallest_job_on_an_engine_writes_the_bytes_of_a_local_one(name: str, tmp_path: Path) -> None:
    written = {}
    with cluster(name) as engine:
        for place, flags in {"here": ["--workers", "1"], "there": engine.flags}.items():
            words = ["clean-books", SAMPLE_BOOKS, "--output", str(tmp_path / place), *flags]
            done = subprocess.run(
                [sys.executable, "-m", "bertdata", *words],
                capture_output=True,
                text=True,
                check=False,
                env=environment(),
            )
            assert done.returncode == 0, done.stderr
            files = sorted((tmp_path / place).rglob("*.parquet"))
            written[place] = {str(path.relative_to(tmp_path / place)): path.read_bytes() for path in files}
    assert written["here"]
    assert written["there"] == written["here"]


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("name", ENGINES)
def test_the_bytes_are_those_of_a_local_build_also_after_its_process_was_killed(
    name: str, sample_build: Path, tmp_path: Path
) -> None:
    output = tmp_path / "corpus"
    with cluster(name) as engine:
        with build_begun(output, engine, "words") as first:
            first.kill()
        assert not (output / "manifest.json").exists()
        done = run(output, *engine.flags)
    assert done.returncode == 0, done.stderr
    assert digests(output) == digests(sample_build)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize(("name", "word"), [("flink", "TaskManagerRunner"), ("spark", "CoarseGrainedExecutorBackend")])
def test_a_worker_that_is_killed_is_replaced_and_the_build_goes_on(
    name: str, word: str, sample_build: Path, tmp_path: Path
) -> None:
    output = tmp_path / "corpus"
    with cluster(name) as engine, build_begun(output, engine, "words") as build:
        engine.processes(word)[0].kill()
        said = build.communicate()[1]
    assert build.returncode == 0, said
    assert digests(output) == digests(sample_build)


@pytest.mark.slow
@pytest.mark.engine
def test_a_job_of_flink_that_is_cancelled_ends_in_a_line_and_goes_on(sample_build: Path, tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    with cluster("flink") as engine:
        address = engine.lines[0].rpartition(" ")[2]
        with build_begun(output, engine, "words") as build:
            for job in flink_jobs.active(address).values():
                flink_jobs.cancel(address, job)
            said = build.communicate()[1]
        words = "error: the job was cancelled at the engine, not by this process; run the same command again"
        assert said.splitlines()[-1].startswith(words), said
        assert "Traceback" not in said
        with build_begun(output, engine, "tokens") as build:
            build.terminate()
            assert build.communicate()[1].splitlines()[-1].startswith("terminated: run the same command again")
        assert flink_jobs.active(address) == {}
        done = run(output, *engine.flags)
    assert done.returncode == 0, done.stderr
    assert digests(output) == digests(sample_build)


@pytest.mark.slow
@pytest.mark.engine
def test_a_job_of_prism_that_is_cancelled_ends_in_a_line_and_goes_on(sample_build: Path, tmp_path: Path) -> None:
    import grpc
    from apache_beam.portability.api import beam_job_api_pb2 as api
    from apache_beam.portability.api import beam_job_api_pb2_grpc

    output = tmp_path / "corpus"
    with cluster("prism") as engine:
        with build_begun(output, engine, "wikipedia") as build:
            endpoint = next(flag for flag in engine.flags if flag.startswith("--job_endpoint=")).partition("=")[2]
            with grpc.insecure_channel(endpoint) as channel:
                jobs = beam_job_api_pb2_grpc.JobServiceStub(channel)
                for job in jobs.GetJobs(api.GetJobsRequest()).job_info:
                    jobs.Cancel(api.CancelJobRequest(job_id=job.job_id))
            said = build.communicate()[1]
        words = "error: the job was cancelled at the engine, not by this process; run the same command again"
        assert said.splitlines()[-1].startswith(words), said
        assert "Traceback" not in said
        done = run(output, *engine.flags)
    assert done.returncode == 0, done.stderr
    assert digests(output) == digests(sample_build)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize(("name", "page", "word"), [("flink", "/taskmanagers", '"id"'), ("spark", "/json/", '"ALIVE"')])
def test_a_cluster_of_several_processes_starts_and_ends(name: str, page: str, word: str) -> None:
    with cluster(name, "--without-job-server") as engine:
        address = engine.lines[0].rpartition(" ")[2]
        listed = urllib.request.urlopen(address + page).read().decode()
        processes = engine.processes("java")
    assert listed.count(word) >= 2
    assert len(processes) == 3
    assert not any(process.is_running() for process in processes)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["beam"], 2, "name an engine: flink, spark, prism or dask"),
        (["prism", "--quick"], 2, "there is no --quick: --fetch, --cached or --without-job-server"),
        (
            ["prism", "--cached"],
            CANNOT_BE_HAD,
            "prism is not to be had here: prism is not in {cache}, run scripts/",
        ),
    ],
)
def test_what_cannot_be_had_is_told_in_a_line(arguments: list[str], code: int, words: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [SCRIPT, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment() | {"BERTDATA_ENGINES": str(tmp_path), "BERTDATA_PRISM": ""},
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(words.format(cache=tmp_path))
    assert done.stderr.count("\n") == 1
