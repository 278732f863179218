"""Runs go where the flags say, shares of the work to every worker, and a failure comes back as what it was."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import psutil
import pytest

from bertdata import errors
from bertdata.beam import internals, processes, runner_flags, transforms
from bertdata.beam import runner as module
from bertdata.beam.progress import Expected
from bertdata.beam.runner import Runner
from bertdata.cli import command_line
from bertdata.engine.parts import load
from bertdata.errors import BertDataError, ConfigError, InputError, MissingExtraError
from tests.beam.jobs import fail, make, note_process, slowly, tasks

ROOT = Path(__file__).resolve().parents[2]
HERE = Runner(1, quiet=True)
TWO = Runner(2, quiet=True)
DATAFLOW = (
    "--runner=DataflowRunner",
    "--project=my-project",
    "--region=us-central1",
    "--temp_location=gs://bucket/tmp",
)


def worker_processes(parent: int | None = None) -> list[psutil.Process]:
    """Return our worker processes among the children of a process, by default this one."""
    found = []
    for child in psutil.Process(parent).children():
        with contextlib.suppress(psutil.Error):  # it has ended since
            found += [child] if processes.WORKER in child.cmdline() else []
    return found


@pytest.fixture(autouse=True)
def the_checkout_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_workers_are_a_number_of_processes() -> None:
    with pytest.raises(ConfigError, match="--workers is -1"):
        Runner(-1)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--no_such_flag=1"], "Beam knows no --no_such_flag=1; .*bertdata's own come before it"),
        (["--project_name", "x"], "Beam knows no --project_name"),
        (["stray"], "Beam knows no stray"),
        (["--direct_num_workers=many"], "does not take --direct_num_workers: invalid int value: 'many'"),
        (["--direct_running_mode=mult"], "does not take --direct_running_mode: invalid choice"),
        (["--runner"], "does not take --runner: expected one argument"),
        (["--runner=Dataflw"], "refuses these flags: Unexpected pipeline runner: Dataflw"),
        (["--runner=no.such.Runner"], "refuses these flags: No module named 'no'"),
        (["--num_workers=4"], "--num_workers is for Dataflow; local runs take --workers"),
        (["--dry_run=True"], "--dry_run is for Dataflow; bertdata's own --dry-run comes before the --"),
        (["--runner=FnApiRunner", "--num_workers=4"], "--num_workers is for Dataflow"),
        (["--direct_num_workers=4"], "--direct_num_workers needs --direct_running_mode; local runs take --workers"),
    ],
)
def test_flags_that_beam_would_only_warn_of_or_crash_on_are_refused(
    flags: list[str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=words):
        make(Runner(0, tuple(flags), quiet=True), tasks(tmp_path, 1), note_process)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--project=p"], "--project=p is for DataflowRunner, and no runner was given; add --runner=DataflowRunner"),
        (["--flink_master=x"], "for FlinkRunner, and no runner was given"),
        (["--runner=FlinkRunner", "--num_workers=4"], "4 is for DataflowRunner, and --runner=FlinkRunner was given"),
        (["--runner=FlinkRunner", "--spark_master_url=x"], "for SparkRunner, and --runner=FlinkRunner was given"),
        (["--runner=SparkRunner", "--dask_client_address=x"], "for DaskRunner, and --runner=SparkRunner was given"),
        (["--runner=DirectRunner", "--region=r"], "for DataflowRunner, and --runner=DirectRunner was given"),
        (["--runner=bertdata.no.such.Runner"], "refuses these flags: No module named 'bertdata.no'"),
        (["--runner=bertdata.beam.runner.NoRunner"], "refuses these flags: .*has no attribute 'NoRunner'"),
        (["--runner=FlinkRunner", "--job_server_java_launcher=no-java", "--environment_type=LOOPBACK"], "install Java"),
        (["--runner=SparkRunner", "--output_executable_path=/data/x.jar"], "cannot see a local path"),
    ],
)
def test_a_runner_that_cannot_work_is_refused_before_any_work(flags: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words):
        Runner(0, tuple(flags), quiet=True).check([str(tmp_path / "out")])


def test_a_runner_without_flags_is_checked_without_beam() -> None:
    code = (
        "import sys; from bertdata.beam.runner import Runner; Runner().check([]); print('apache_beam' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("pandas", ["none", "any"])
@pytest.mark.parametrize("workers", [1, 2])
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
    Runner(1, quiet=True).run([], [], [])
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


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_says_once_that_kernels_are_compiled_and_only_where_they_are(workers: int, tmp_path: Path) -> None:
    told = []
    for output in ("first", "second"):
        done = subprocess.run(
            [sys.executable, "-c", _COMPILES, str(workers), str(tmp_path / output)],
            cwd=ROOT,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(done.stderr.count("compiling kernels, once"))
    assert told == [1, 0]


@pytest.mark.parametrize("flag", ["--runner=FnApiRunner", "--direct_running_mode=multi_processing"])
def test_workers_of_ours_and_a_runner_of_beams_are_one_too_many(flag: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--workers is for local runs"):
        make(Runner(2, (flag,)), tasks(tmp_path, 1), note_process)


@pytest.mark.parametrize(
    "flags",
    [
        ["--runner=DataflowRunner"],
        ["--runner=dataflow"],
        ["--runner=FlinkRunner", "--flink_master=host:8081"],
        ["--runner=flink", "--flink_master=host:8081"],
        ["--runner=SparkRunner", "--spark_master_url=spark://host:7077"],
    ],
)
def test_a_cluster_cannot_write_to_a_local_path(flags: list[str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot see a local path; give a URL") as caught:
        make(Runner(0, tuple(flags), quiet=True), tasks(tmp_path, 1), note_process)
    assert str(caught.value).startswith(str(tmp_path))


def test_a_cluster_cannot_read_from_a_local_path() -> None:
    inputs = ["gs://bucket/a.xml.bz2", "/data/b.xml.bz2"]
    with pytest.raises(ConfigError, match=r"/data/b\.xml\.bz2: a cluster cannot see"):
        make(
            Runner(0, ("--runner=FlinkRunner", "--flink_master=host:1"), quiet=True),
            tasks("memory://out", 1),
            note_process,
            inputs,
        )


@pytest.mark.parametrize(
    "flags",
    [
        ("--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=LOOPBACK"),
        ("--runner", "PortableRunner", "--job_endpoint", "embed", "--environment_type", "LOOPBACK"),
        ("--runner=FlinkRunner",),
        ("--runner=FlinkRunner", "--environment_type=LOOPBACK"),
        ("--runner=FnApiRunner",),
        (),
    ],
)
def test_a_runner_on_this_machine_sees_local_paths(flags: tuple[str, ...]) -> None:
    module._import_beam()
    runner_flags.check(internals.parse_flags(flags), 0, ["/data/out"])


def test_a_runner_whose_name_says_cluster_elsewhere_is_still_one() -> None:
    module._import_beam()
    with pytest.raises(ConfigError, match="cannot see a local path"):
        runner_flags.check(internals.parse_flags([*DATAFLOW, "--job_name=loopback"]), 0, ["/data/out"])


def test_dataflow_without_its_client_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    module._import_beam()
    monkeypatch.setitem(sys.modules, "apache_beam.runners.dataflow.internal.apiclient", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[gcp\]"'):
        runner_flags.check(internals.parse_flags(DATAFLOW), 0, ["gs://bucket/out"])


@pytest.fixture
def dataflow_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Dataflow's client be found, which is not installed here."""
    module._import_beam()
    client = "apache_beam.runners.dataflow.internal.apiclient"
    monkeypatch.setitem(sys.modules, client, ModuleType(client))
    monkeypatch.setattr(client, sys.modules[client], raising=False)
    from apache_beam.options.pipeline_options import GoogleCloudOptions

    monkeypatch.setattr(GoogleCloudOptions, "_warn_if_soft_delete_policy_enabled", lambda *_: None)  # asks the bucket


@pytest.mark.usefixtures("dataflow_client")
@pytest.mark.parametrize("flag", ["--dry_run=True", "--template_location=memory://t"])
def test_a_job_that_is_made_and_not_run_is_a_success_that_says_so(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--runner=tests.beam.jobs.DataflowRunner", "--sdk_container_image=i", *DATAFLOW[1:], flag)

    def work() -> int:
        make(Runner(0, flags, quiet=True), tasks("memory://not-run", 1), note_process)
        return 1

    assert command_line.run(work) == 0
    assert "the job of test was made" in capsys.readouterr().out


@pytest.mark.usefixtures("dataflow_client")
def test_dataflow_without_a_way_to_get_bertdata_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"workers have no bertdata; add --extra_package=WHEEL, which scripts/build"):
        runner_flags.check(internals.parse_flags(DATAFLOW), 0, ["gs://bucket/out"])
    for flag in ("--extra_package=a.whl", "--sdk_container_image=i", "--setup_file=s"):
        runner_flags.check(internals.parse_flags([*DATAFLOW, flag]), 0, ["gs://bucket/out"])


def test_beam_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "apache_beam", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[beam\]"'):
        make(HERE, tasks(tmp_path, 1), note_process)


def test_one_worker_is_this_process_and_says_nothing_when_quiet(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    done = make(HERE, tasks(tmp_path, 3), note_process)
    assert {record.details["pid"] for _, record in done} == {os.getpid()}
    assert capfd.readouterr() == ("", "")


def test_the_seconds_of_each_pipeline_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runner = Runner(1)
    make(runner, tasks(tmp_path, 2), note_process)
    [(title, seconds)] = runner.timings()
    assert title.strip() == "test"
    assert float(seconds) >= 0
    assert "100%" in capsys.readouterr().err


def test_two_workers_share_the_tasks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    done = make(TWO, tasks(tmp_path, 9), note_process)
    shares = Counter(record.details["pid"] for _, record in done)
    assert os.getpid() not in shares
    assert sorted(shares.values()) == [4, 5]
    assert not any(psutil.pid_exists(pid) for pid in shares)
    assert capfd.readouterr() == ("", "")


def test_workers_are_started_where_the_work_is_worth_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: 2)
    little = make(Runner(quiet=True), tasks(tmp_path / "little", 2), note_process)
    heavy = [replace(task, weight=module.BYTES_PER_WORKER) for task in tasks(tmp_path / "heavy", 2)]
    much = make(Runner(quiet=True), heavy, note_process)
    assert {record.details["pid"] for _, record in little} == {os.getpid()}
    assert os.getpid() not in {record.details["pid"] for _, record in much}


@pytest.mark.parametrize(("done", "number"), [(0, 4), (1, 3), (2, 2), (3, 1), (4, 1)])
def test_what_is_done_needs_no_worker(done: int, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: 16)
    heavy = [replace(task, weight=module.BYTES_PER_WORKER) for task in tasks(tmp_path, 4)]
    for task in heavy[:done]:
        Path(task.record_path).write_text("{}")
    assert module._worker_count([Expected.of("write shards", heavy, unit="shard")]) == number


@pytest.mark.parametrize("kind", ["ConfigError", "InputError", "OutputError", "VerificationError", "BertDataError"])
@pytest.mark.parametrize("told", [True, False], ids=["by the failure file", "by the error"])
def test_an_error_of_ours_comes_back_as_the_class_it_was(kind: str, told: bool, tmp_path: Path) -> None:
    _check_told(HERE, kind, told, tmp_path)


@pytest.mark.parametrize("told", [pytest.param(True, marks=pytest.mark.slow), False], ids=["told", "by the traceback"])
def test_an_error_of_a_worker_process_comes_back_as_the_class_it_was(told: bool, tmp_path: Path) -> None:
    _check_told(TWO, "InputError", told, tmp_path)


def _check_told(runner: Runner, kind: str, told: bool, folder: Path) -> None:
    [task] = tasks(folder, 1, kind)
    if not told:
        (folder / "a file").touch()
        task = replace(task, records=str(folder / "a file"))
    with pytest.raises(BertDataError) as caught:
        make(runner, [task], fail)
    assert type(caught.value) is getattr(errors, kind)
    assert str(caught.value) == "wiki.xml.bz2, byte 4096: found this\nand more; do that"
    assert os.listdir(folder) == ([] if told else ["a file"])


def test_an_error_that_is_not_ours_passes_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        make(HERE, tasks(tmp_path, 1, "not an error of ours"), fail)
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_an_error_of_a_worker_process_that_is_not_ours_brings_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)jobs\.py.*ZeroDivisionError: not an error of ours"):
        make(TWO, tasks(tmp_path, 1, "not an error of ours"), fail)


def test_of_several_failures_the_first_by_name_is_told_and_none_is_left(tmp_path: Path) -> None:
    some = tasks(tmp_path, 3, "InputError")
    Path(some[2].failure_path).write_text('{"kind": "OutputError", "message": "of an earlier run"}')
    (tmp_path / "my-00001.failure").write_text("of the user")
    with pytest.raises(InputError, match="found this"):
        make(HERE, some, fail)
    assert os.listdir(tmp_path) == ["my-00001.failure"]


def test_the_error_of_a_traceback_is_found_whole() -> None:
    text = (
        "Traceback (most recent call last):\n  File x\nbertdata.errors.InputError: a.bz2, byte 3: cut\noff [again]\n\n"
        "During handling of the above exception, another exception occurred:\n\nTraceback ...\n"
        "bertdata.errors.InputError: a.bz2, byte 3: cut\noff [again] [while running 'MakeParts/ParDo(MakePart)']\n"
    )
    found = module._without_beam(RuntimeError(text))
    assert type(found) is InputError
    assert str(found) == "a.bz2, byte 3: cut\noff [again]"
    other = RuntimeError("Traceback ...\nValueError: bertdata.errors.InputError: not at a line's start")
    assert module._without_beam(other) is other


def test_a_worker_that_cannot_start_is_told_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "WORKER", "tests.beam.idle_worker")
    monkeypatch.setenv("IDLE", "raise")
    began = time.monotonic()
    with pytest.raises(BertDataError, match=r"exit code 1.*ImportError: No module named absent"):
        make(TWO, tasks(tmp_path, 2), note_process)
    assert time.monotonic() - began < 20
    assert capfd.readouterr() == ("", "")


def test_where_only_one_of_two_workers_can_be_started_nothing_is_waited_for(tmp_path: Path) -> None:
    script = (
        "import errno, sys\n"
        "from pathlib import Path\n"
        "from bertdata.beam.processes import Workers\n"
        "from bertdata.beam.runner import Runner\n"
        "from tests.beam.jobs import make, note_process, tasks\n"
        "start, started = Workers.start, []\n"
        "def start_one(workers, variables):\n"
        "    if started:\n"
        "        raise OSError(errno.EMFILE, 'Too many open files')\n"
        "    started.append(start(workers, variables))\n"
        "    return started[0]\n"
        "Workers.start = start_one\n"
        "try:\n"
        "    make(Runner(2, quiet=True), tasks(Path(sys.argv[1]), 2), note_process)\n"
        "except OSError as error:\n"
        "    print(error.errno == errno.EMFILE)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    assert subprocess.run(command, check=False, cwd=ROOT, stdout=subprocess.PIPE, timeout=60).stdout == b"True\n"


def test_a_worker_killed_in_the_middle_is_told_within_seconds_and_a_rerun_ends_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    some = tasks(tmp_path, 40)
    killed: list[float] = []

    def kill_one() -> None:
        while not any(load(task) for task in some):
            time.sleep(0.02)
        killed.append(time.monotonic())
        worker_processes()[0].send_signal(signal.SIGKILL)

    thread = threading.Thread(target=kill_one)
    thread.start()
    with pytest.raises(BertDataError, match="was killed, most likely for want of memory"):
        make(TWO, some, slowly)
    thread.join()
    assert time.monotonic() - killed[0] < 10
    assert worker_processes() == []
    assert capfd.readouterr() == ("", "")
    kept = {task.name: record for task in some if (record := load(task))}
    assert 1 <= len(kept) < len(some)
    done = make(HERE, some, note_process)
    assert {task.name for task, record in done if record == kept.get(task.name)} == kept.keys()
    assert all(Path(task.path).read_text() == task.name for task, _ in done)


def _workers_of(runner: Runner, folder: Path, number: int = 8) -> set[int]:
    """Return the ids of the processes that did some tasks."""
    done = make(runner, tasks(folder, number), note_process)
    return {record.details["pid"] for _, record in done}


def test_workers_that_are_kept_are_started_once_for_all_pipelines(tmp_path: Path) -> None:
    runner = Runner(2, quiet=True)
    with runner.keep_workers():
        first = _workers_of(runner, tmp_path / "a")
        assert _workers_of(runner, tmp_path / "b") == _workers_of(runner, tmp_path / "c") == first
        assert {child.pid for child in worker_processes()} == first
    assert len(first) == 2
    assert worker_processes() == []


def test_after_an_error_no_worker_is_left_and_the_next_pipeline_starts_its_own(tmp_path: Path) -> None:
    runner = Runner(2, quiet=True)
    with runner.keep_workers():
        first = _workers_of(runner, tmp_path / "a")
        with pytest.raises(InputError, match="found this"):
            make(runner, tasks(tmp_path / "b", 2, "InputError"), fail)
        assert worker_processes() == []
        assert not first & _workers_of(runner, tmp_path / "c")
    assert worker_processes() == []


def test_a_worker_that_is_killed_between_two_pipelines_is_replaced(tmp_path: Path) -> None:
    runner = Runner(2, quiet=True)
    with runner.keep_workers():
        first = _workers_of(runner, tmp_path / "a")
        psutil.Process(min(first)).kill()
        assert runner._workers is not None
        for _ in range(500):
            if not runner._workers.usable:
                break
            time.sleep(0.01)
        assert len(_workers_of(runner, tmp_path / "b") - first) == 2


_KEEPS = """
import sys, time
from pathlib import Path
from bertdata.beam.runner import Runner
from bertdata.cli import command_line
from tests.beam.jobs import make, note_process, tasks
runner = Runner(2, quiet=True)
with runner.keep_workers():
    make(runner, tasks(Path(sys.argv[1]), 8), note_process)
    print("idle", flush=True)
    time.sleep(60)
"""


def test_idle_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _KEEPS, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "idle\n"
        found = worker_processes(parent.pid)
        parent.kill()
        _, alive = psutil.wait_procs(found, timeout=5)
    assert len(found) == 2
    assert not alive


def test_an_interrupt_ends_the_workers(tmp_path: Path) -> None:
    some = tasks(tmp_path, 40)

    def interrupt() -> None:
        while len(worker_processes()) < 2:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        make(TWO, some, slowly)
    thread.join()
    assert worker_processes() == []


def test_a_cluster_is_told_its_jobs_and_that_this_process_must_live(capsys: pytest.CaptureFixture[str]) -> None:
    Runner(0, ("--runner=FlinkRunner",)).announce(["clean books", "write shards"])
    told = capsys.readouterr().err
    assert told.startswith("2 jobs on FlinkRunner, one after another: clean books; write shards. This process plans")
    assert "keep it alive until the end" in told
    Runner(2).announce(["clean books"])
    Runner(0, ("--runner=FnApiRunner",)).announce(["clean books"])
    Runner(0, ("--direct_runner_bundle_repeat=2",)).announce(["clean books"])
    Runner(0, ("--runner=FlinkRunner",)).announce([])
    assert capsys.readouterr().err == ""
