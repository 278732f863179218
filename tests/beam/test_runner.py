"""Runs go where the flags say, with shares of the work for every worker."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from bertdata.beam import internals, transforms
from bertdata.beam import runner as module
from bertdata.beam.progress import Expected
from bertdata.beam.runner import Runner
from bertdata.errors import ConfigError, MissingExtraError
from tests.beam.jobs import make, meet, note_process, tasks

ROOT = Path(__file__).resolve().parents[2]
HERE = Runner(1, quiet=True)
TWO = Runner(2, quiet=True)
BY_BEAM = Runner(0, ("--direct_running_mode=in_memory",), quiet=True)


@pytest.fixture(autouse=True)
def the_checkout_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_workers_are_a_number_of_processes() -> None:
    with pytest.raises(ConfigError, match="`workers` is -1"):
        Runner(-1)


def test_no_folder_is_made_for_a_pipeline_at_any_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from apache_beam import Pipeline
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError):
        tempfile.mkdtemp()
    internals.new_pipeline(FnApiRunner(), PipelineOptions([]))
    with pytest.raises(FileNotFoundError, match="none"):  # pipelines of others have theirs again
        Pipeline(FnApiRunner(), PipelineOptions([]))


def test_a_runner_without_flags_is_checked_without_beam() -> None:
    code = (
        "import sys; from bertdata.beam.runner import Runner; Runner().check('out', []); "
        "print('apache_beam' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("pandas", "workers"), [("none", 1), ("any", 1), ("none", 2), pytest.param("any", 2, marks=pytest.mark.slow)]
)
def test_a_pipeline_runs_in_ipython_as_elsewhere(
    pandas: str, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = SimpleNamespace(config={"IPKernelApp": {}}, execution_count=3)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "apache_beam.runners.interactive.interactive_environment", None)
    if pandas == "none":
        monkeypatch.setitem(sys.modules, "pandas", None)
    done = make(Runner(workers, quiet=True), tasks(tmp_path, 4), note_process)
    assert len(done) == 4


def test_a_pipeline_leaves_no_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    seen = []
    monkeypatch.setattr(transforms, "construct", lambda *_: seen.append(os.listdir(tmp_path / "temporary")))
    BY_BEAM.run([], [], [])
    assert seen == [[]]
    assert os.listdir(tmp_path / "temporary") == []


_COMPILES = """
import sys
from pathlib import Path
from bertdata.beam.runner import Runner
from bertdata.cli import command_line
from tests.beam.jobs import compile_something, make, tasks
runner = Runner(int(sys.argv[1]))
for name in "ab":
    make(runner, tasks(Path(sys.argv[2]) / name, 3), compile_something)
"""


@pytest.mark.costly
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_says_once_that_kernels_are_compiled_and_only_where_they_are(workers: int, tmp_path: Path) -> None:
    messages = []
    for output in ("first", "second"):
        done = subprocess.run(
            [sys.executable, "-c", _COMPILES, str(workers), str(tmp_path / output)],
            cwd=ROOT,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        )
        messages.append(done.stderr.count("compiling the kernels of these settings"))
    assert messages == [1, 0]


def test_beam_is_needed_for_its_flags_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "apache_beam", None)
    for runner in (HERE, TWO):
        runner.check(str(tmp_path), [])
        assert len(make(runner, tasks(tmp_path / str(runner.workers), 2), note_process)) == 2
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[beam\]"'):
        make(BY_BEAM, tasks(tmp_path / "beam", 1), note_process)


def test_one_worker_is_this_process_and_says_nothing_when_quiet(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    done = make(HERE, tasks(tmp_path, 3), note_process)
    assert {record.details["pid"] for _, record in done} == {os.getpid()}
    assert capfd.readouterr() == ("", "")


def test_the_seconds_of_each_pipeline_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runner = Runner(1)
    make(runner, tasks(tmp_path, 2), note_process)
    [(title, seconds)] = runner.seconds
    assert title == "test"
    assert seconds >= 0
    assert " test " in capsys.readouterr().err


@pytest.mark.costly
def test_two_workers_share_the_tasks_where_the_work_is_worth_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "cores", lambda: 2)
    little = make(Runner(quiet=True), tasks(tmp_path / "little", 2), note_process)
    assert {record.details["pid"] for _, record in little} == {os.getpid()}
    heavy = [replace(task, weight=module.BYTES_PER_WORKER) for task in tasks(tmp_path / "heavy", 9, 2)]
    much = make(Runner(quiet=True), heavy, meet)
    shares = Counter(record.details["pid"] for _, record in much)
    assert len(shares) == 2
    assert os.getpid() in shares
    assert not any(psutil.pid_exists(pid) for pid in shares.keys() - {os.getpid()})
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("done", "number"), [(0, 4), (1, 3), (2, 2), (3, 1), (4, 1)])
def test_what_is_done_needs_no_worker(done: int, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: 16)
    heavy = [replace(task, weight=module.BYTES_PER_WORKER) for task in tasks(tmp_path, 4)]
    for task in heavy[:done]:
        Path(task.record_path).write_text("{}")
    assert module._worker_count([Expected.of("write shards", heavy, unit="shard")]) == number


def test_a_cluster_is_told_its_jobs_and_that_this_process_must_live(capsys: pytest.CaptureFixture[str]) -> None:
    Runner(0, ("--runner=FlinkRunner",)).announce(["clean books", "write shards"])
    messages = capsys.readouterr().err
    assert messages[9:].startswith(
        "2 jobs on FlinkRunner, one after another: clean books; write shards. This process plans"
    )
    assert "keep it alive until the end" in messages
    Runner(2).announce(["clean books"])
    Runner(0, ("--runner=FnApiRunner",)).announce(["clean books"])
    Runner(0, ("--direct_runner_bundle_repeat=2",)).announce(["clean books"])
    Runner(0, ("--runner=FlinkRunner",)).announce([])
    assert capsys.readouterr().err == ""


def test_more_workers_than_the_cores_of_a_step_are_remarked_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    Runner(32).check(str(tmp_path), [])
    assert "--workers is 32, but this process may use 1 core of the 64 here" in capsys.readouterr().err
    Runner(32, quiet=True).check(str(tmp_path), [])
    Runner(1).check(str(tmp_path), [])
    Runner(0).check(str(tmp_path), [])
    assert capsys.readouterr().err == ""
