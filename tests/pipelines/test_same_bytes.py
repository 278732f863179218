"""The shards of one corpus are the same bytes, however they are built."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.clock import PATIENCE
from tests.pipelines.builds import ROOT as CHECKOUT
from tests.pipelines.builds import SAMPLE, SETTINGS, build, command, digests, environment, run, with_examples


@pytest.mark.parametrize(
    "flags",
    [
        ["--workers", "2"],
        ["--workers", "1", "--", "--direct_runner_bundle_repeat=2"],
        pytest.param(
            ["--", "--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=LOOPBACK"],
            marks=pytest.mark.slow,
        ),
        pytest.param(["--", "--runner=dask"], marks=pytest.mark.slow),
    ],
    ids=["two worker processes", "every bundle replayed", "the embedded job service", "Dask"],
)
def test_every_way_to_run_gives_the_same_shards(flags: list[str], sample_build: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "corpus", *flags)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "corpus") == digests(sample_build)
    assert len(digests(sample_build)) > 2


def test_other_range_cuts_and_the_order_of_sources_do_not_change_the_shards(sample_build: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from bertdata.sources.settings import CleaningConfig

    build(tmp_path / "corpus", replace(SETTINGS, cleaning=CleaningConfig()), SAMPLE)
    assert digests(tmp_path / "corpus") == digests(sample_build)


def test_another_seed_gives_other_shards(sample_build: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_build, tmp_path / "corpus")
    build(tmp_path / "corpus", with_examples(seed=1))
    other = digests(tmp_path / "corpus")
    assert other.keys() == digests(sample_build).keys()
    assert all(other[name] != digest for name, digest in digests(sample_build).items())


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_build_killed_at_any_moment_goes_on_to_the_same_shards(
    workers: str, sample_build: Path, tmp_path: Path
) -> None:
    output = tmp_path / "corpus"
    for seconds in (2.0, 3.5, 5.0, 8.0):
        _start_and_kill(output, workers, seconds)
    done = run(output, "--workers", workers)
    assert done.returncode == 0, done.stderr
    assert digests(output) == digests(sample_build)
    assert not [path for path in output.rglob("*") if ".bertdata-tmp-" in path.name]


@pytest.mark.slow
def test_no_worker_outlives_a_killed_parent_and_the_rerun_ends_the_same(sample_build: Path, tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    _start_and_kill(output, "2", None)
    done = run(output, "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert digests(output) == digests(sample_build)
    assert not [path for path in output.rglob("*") if ".bertdata-tmp-" in path.name]


def _start_and_kill(output: Path, workers: str, seconds: float | None) -> None:
    """Start a build, kill it -9 after some seconds (or once it has workers), and see its workers gone."""
    process = subprocess.Popen(
        command(output, "--workers", workers), cwd=CHECKOUT, env=environment(), stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + (seconds or PATIENCE)
    children: list[psutil.Process] = []
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            children = psutil.Process(process.pid).children(recursive=True) or children
        if seconds is None and len(children) >= 2:
            break
        time.sleep(0.05)
    assert seconds is not None or children
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    assert not alive, [process.cmdline() for process in alive]
