"""Runners with a job server: it is started once and ended, and servers and workers that cannot do the work are told."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from bertdata import __version__
from bertdata.beam import internals, job_server, runner_flags
from bertdata.beam.quiet_import import import_beam
from bertdata.beam.runner import Runner
from bertdata.beam.worker_check import Needs
from bertdata.engine.versions import versions
from bertdata.errors import BertDataError, ConfigError, InputError
from tests.beam.jobs import fail, make, note_process, tasks
from tests.beam.portable import POOL, POOL_OF_BEAM, free_port, job_server_program, worker_pool
from tests.clock import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
LOOPBACK = ("--environment_type=LOOPBACK", f"--job_server_java_launcher={sys.executable}")
EMBEDDED = ("--runner=PortableRunner", "--job_endpoint=embed")


@pytest.fixture(autouse=True)
def the_checkout_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def servers() -> list[psutil.Process]:
    """Return the job servers among the children of this process."""
    return [child for child in psutil.Process().children() if "local_job_service_main" in " ".join(child.cmdline())]


def started_by(name: str, folder: Path) -> tuple[str, ...]:
    """Return the flags of a runner whose job server is Beam's in Python."""
    program = job_server_program(folder)
    if name == "Prism":
        return ("--runner=PrismRunner", f"--prism_location={program}")
    jar = folder / "x.jar"
    jar.touch()
    return (f"--runner={name}Runner", f"--job_server_java_launcher={program}", f"--{name.lower()}_job_server_jar={jar}")


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", ["Flink", *(pytest.param(name, marks=pytest.mark.slow) for name in ("Spark", "Prism"))]
)
def test_a_job_server_is_started_once_for_all_pipelines_and_ended(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    runner = Runner(0, started_by(name, tmp_path), quiet=True)
    output = tmp_path / "out"
    with runner.checked(str(output), []):
        [server] = servers()
        for folder in ("a", "b"):
            assert len(make(runner, tasks(output / folder, 3), note_process)) == 3
        assert [server.pid for server in servers()] == [server.pid]
        with pytest.raises(InputError, match=r"wiki\.xml\.bz2, byte 4096: found this"):
            make(runner, tasks(output / "c", 1, "InputError"), fail)
    assert servers() == []
    assert [path.name for path in temporary.iterdir()] == ["beam-requirements-cache"]  # what Beam keeps for later


@pytest.mark.costly
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with the one that started it")
def test_a_job_server_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    flags = started_by("Flink", tmp_path)
    code = f"""
import os, time
from bertdata.beam.runner import Runner
os.register_at_fork(after_in_child=lambda: os._exit(6))  # as gRPC's threads may, a fork of this process ends
with Runner(0, {flags!r}, quiet=True).checked({str(tmp_path / "out")!r}, []):
    print("checked", flush=True)
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "checked\n"
        children = psutil.Process(process.pid).children(recursive=True)
        [server] = [child for child in children if "local_job_service_main" in " ".join(child.cmdline())]
        process.kill()
    assert psutil.wait_procs([server], timeout=PATIENCE)[1] == []


def test_a_program_that_is_no_job_server_is_told_with_what_it_said(tmp_path: Path) -> None:
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\necho Error: Invalid or corrupt jarfile\nexit 3\n")
    program.chmod(0o755)
    flags = [*started_by("Flink", tmp_path), f"--job_server_java_launcher={program}"]
    with pytest.raises(ConfigError, match=r"of FlinkRunner ended with code 3; .* said: Error: Invalid or corrupt jarf"):
        Runner(0, tuple(flags), quiet=True).check(str(tmp_path), [])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Flink", "-XX:TieredStopAtLevel=1 -Xss2m"),
        ("Spark", "-XX:TieredStopAtLevel=1 -Dspark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -Xss2m"),
    ],
)
def test_java_compiles_little_unless_the_user_says_otherwise(
    name: str, options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xss2m")
    flags = started_by(name, tmp_path)
    (tmp_path / "job-server").write_text('#!/bin/sh\necho "with $JAVA_TOOL_OPTIONS"\nexit 3\n')
    with pytest.raises(ConfigError, match=f"said: with {re.escape(options)}$"):
        Runner(0, flags, quiet=True).check(str(tmp_path), [])


@pytest.mark.costly
def test_a_job_server_that_never_answers_is_told_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "prism"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(job_server, "START_SECONDS", 1.0)
    with pytest.raises(ConfigError, match=r"of PrismRunner does not answer within 1 s; .* said: nothing"):
        Runner(0, ("--runner=PrismRunner", f"--prism_location={program}"), quiet=True).check(str(tmp_path), [])
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--runner=FlinkRunner", "--flink_job_server_jar=/no/a.jar"], "/no/a.jar: there is no such file; .*_server_j"),
        (["--runner=PrismRunner", "--prism_location=/no/prism"], "/no/prism: there is no such file; .*--prism_locat"),
        (
            ["--runner=FlinkRunner", "--flink_master=localhost:1", *LOOPBACK],
            "no cluster answers at localhost:1; start it",
        ),
        (
            ["--runner=SparkRunner", "--spark_master_url=spark://localhost:1,localhost:2", *LOOPBACK],
            "no cluster answers at spark://localhost:1,localhost:2; start it, or correct --spark_master_url",
        ),
        (["--runner=PortableRunner"], "needs the address of a job server; add --job_endpoint=HOST:PORT"),
        ([*EMBEDDED], "Beam's own image, which has no bertdata; add --sdk_container_image=IMAGE"),
        ([*EMBEDDED, "--environment_type=PROCESS"], "starts no processes; leave the runner out"),
        (
            ["--runner=PortableRunner", "--job_endpoint=h:1", "--environment_type=PROCESS"],
            "needs the program that starts",
        ),
        (
            ["--runner=FlinkRunner", "--environment_type=PROCESS", '--environment_config={"cmd": "/boot"}'],
            "needs the program that starts a worker on the machines of the cluster; add --environment_config=",
        ),
        ([*EMBEDDED, "--environment_type=EXTERNAL"], "needs the address of a worker pool; start `python -m bertdata"),
        ([*EMBEDDED, "--environment_type=EXTERNAL", "--environment_config=localhost:1"], "the worker pool at localhos"),
    ],
)
def test_what_a_runner_lacks_is_told_before_any_work(flags: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words):
        Runner(0, tuple(flags), quiet=True).check(str(tmp_path), [])


@pytest.mark.parametrize(("name", "flag"), [("flink", "flink_job_server_jar"), ("prism", "prism_location")])
def test_a_program_that_cannot_be_downloaded_is_told_with_the_flag_that_names_one(
    name: str, flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_network(*_: object, **__: object) -> None:
        raise OSError("Name or service not known")

    import_beam()
    from apache_beam.runners.portability import prism_runner
    from apache_beam.utils import subprocess_server

    monkeypatch.setattr(subprocess_server, "urlopen", no_network)
    monkeypatch.setattr(prism_runner, "urlopen", no_network)
    monkeypatch.setattr(prism_runner.PrismJobServer, "BIN_CACHE", str(tmp_path))
    monkeypatch.setattr(subprocess_server.JavaJarServer, "JAR_CACHE", str(tmp_path))
    words = rf"cannot be fetched \(.*Name or service not known.*\); download it .*, and name the file with --{flag}"
    with pytest.raises(ConfigError, match=words):
        Runner(0, (f"--runner={name.capitalize()}Runner",), quiet=True).check(str(tmp_path), [])


@pytest.mark.costly
@pytest.mark.parametrize("listens", [False, True])
def test_an_endpoint_without_a_job_server_is_told_within_the_limit(
    listens: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_server, "ENDPOINT_SECONDS", 1.0)
    with socket.socket() as server:
        server.bind(("localhost", 0))
        if listens:
            server.listen()
        endpoint = f"localhost:{server.getsockname()[1]}"
        flags = ("--runner=PortableRunner", f"--job_endpoint={endpoint}", "--environment_type=LOOPBACK")
        with pytest.raises(ConfigError, match=f"no job server answers at {endpoint} within 1 s; start it, or correct"):
            Runner(0, flags, quiet=True).check(str(tmp_path), [])


def external(address: str) -> Runner:
    """Return the runner of the embedded job server with the workers of a pool."""
    return Runner(0, (*EMBEDDED, "--environment_type=EXTERNAL", f"--environment_config={address}"), quiet=True)


@pytest.mark.costly
@pytest.mark.parametrize("program", [POOL, POOL_OF_BEAM])
def test_the_workers_of_a_pool_do_the_work(program: str, tmp_path: Path) -> None:
    with worker_pool(tmp_path, program=program) as address:
        runner = external(address)
        runner.check(str(tmp_path), [])
        done = make(runner, tasks(tmp_path, 2), note_process)
    assert os.getpid() not in {record.details["pid"] for _, record in done}


@pytest.mark.parametrize("shows_counters", [True, False])
def test_a_worker_answers_by_counters_and_fails_only_where_the_runner_shows_none(
    shows_counters: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[list[str]] = []
    counters = internals.Job.counters

    def noted(job: internals.Job, namespace: str) -> list[str]:
        runs.append(counters(job, namespace))
        return runs[-1] if shows_counters else []

    monkeypatch.setattr(internals.Job, "counters", noted)
    monkeypatch.setattr(Needs, "require", lambda needs, answer, worker: pytest.fail(f"{answer}"))
    Runner(0, (*EMBEDDED, "--environment_type=LOOPBACK"), quiet=True).check(str(tmp_path), [])
    assert runs == [["all there"]] * (1 if shows_counters else 2)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise ModuleNotFoundError('no bertdata')", f"a worker has no bertdata, and this process {__version__}; inst"),
        pytest.param(
            "__version__ = '0.0.9'",
            f"a worker has other versions .*: bertdata 0.0.9 \\(here {__version__}\\); install the same",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_worker_with_another_bertdata_or_none_is_refused(code: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "bertdata").mkdir()
    (tmp_path / "bertdata" / "__init__.py").write_text(code)
    with worker_pool(tmp_path, modules=str(tmp_path)) as address, pytest.raises(ConfigError, match=words):
        external(address).check(str(tmp_path), [])


@pytest.mark.costly
def test_a_pool_whose_workers_do_not_start_is_told_within_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_flags, "WORKER_SECONDS", 1.0)
    (tmp_path / "python").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python").chmod(0o755)
    with worker_pool(tmp_path, path=str(tmp_path)) as address:
        words = f"no worker has begun to work within 1 s; look at what the worker pool at {address} prints"
        with pytest.raises(ConfigError, match=words):
            external(address).check(str(tmp_path), [])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"versions": {"bertdata": ""}, "missing": [], "seen": {}}, "it has no bertdata, and this process"),
        (
            {"versions": versions() | {"tokenizers": "0.1"}, "missing": [], "seen": {}},
            r"it has other versions than this process, .*: tokenizers 0\.1 \(here .*\); install the same there",
        ),
        ({"versions": versions(), "missing": ["s3"], "seen": {}}, r"it lacks the package for s3:// paths; .*\.\[aws\]"),
        ({"versions": versions(), "missing": ["hf"], "seen": {}}, r"it lacks the package for hf:// paths; install it"),
        (
            {"versions": versions(), "missing": [], "seen": {"/data": "8 bytes, b"}},
            r"/data: it does not see this path as this process does \(8 bytes, b in the place of 7 bytes, a\); give",
        ),
        (ModuleNotFoundError("No module named 'x'"), r"cannot run what this process sends \(ModuleNotFoundError: No m"),
    ],
)
def test_a_worker_without_what_it_needs_is_refused(answer: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Needs(versions(), (), {"/data": "7 bytes, a"}).require(answer, "it")


def test_a_relative_path_is_that_of_the_working_directory_of_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    (here / "a.txt").write_text("Salt")
    monkeypatch.chdir(here)
    for output, inputs in (("corpus", []), (str(tmp_path / "corpus"), ["a.txt"])):
        with Needs.of(output, inputs) as needs:
            look = needs.question()
            needs.require(look(), "it")
            monkeypatch.chdir(there)
            with pytest.raises(ConfigError, match=r"(corpus|a\.txt): it does not see .*: give all paths from /"):
                needs.require(look(), "it")
            monkeypatch.chdir(here)
    assert not (here / "corpus").exists()


def test_a_worker_is_asked_for_what_the_paths_need(tmp_path: Path) -> None:
    output, given = tmp_path / "new" / "folder", tmp_path / "a.txt"
    given.write_text("Salt")
    archive = f"zip://x.txt::{given}"
    with Needs.of(str(output), [str(given), "memory://a", "no-such-store://a", archive]) as needs:
        answer = needs.question()()
        assert answer["versions"] == versions()
        assert answer["missing"] == ["no-such-store"]
        alone = replace(needs, stores=())
        (token,) = (path for path in answer["seen"] if Path(path).parent == output)
        assert set(answer["seen"]) == {token, str(given)}
        given.write_text("Sand")
        with pytest.raises(
            ConfigError, match=r"a\.txt: it does not see this path as this process does \(4 bytes, .* in the"
        ):
            alone.require(alone.question()(), "it")
        given.write_text("Salt")
        Path(token).unlink()
        with pytest.raises(ConfigError, match=r"folder: it does not see .* \(a file that this process wrote is n"):
            alone.require(alone.question()(), "it")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("flags", "kind", "far"),
    [
        (["--runner=FlinkRunner"], "LOOPBACK", False),
        (["--runner=FlinkRunner", "--flink_master=host:8081"], "DOCKER", True),
        (["--runner=FlinkRunner", "--flink_master=host:8081", "--environment_type=EXTERNAL"], "EXTERNAL", False),
        (["--runner=FlinkRunner", "--flink_master=host:8081", "--environment_type=PROCESS"], "PROCESS", False),
        (["--runner=SparkRunner"], "LOOPBACK", False),
        (["--runner=SparkRunner", "--spark_master_url=spark://host:7077"], "DOCKER", True),
        (["--runner=PrismRunner"], "LOOPBACK", False),
        (["--runner=PortableRunner", "--job_endpoint=host:1"], "DOCKER", True),
        ([*EMBEDDED], "DOCKER", False),
    ],
)
def test_where_workers_run_is_known_from_the_flags(flags: list[str], kind: str, far: bool) -> None:
    import_beam()
    parsed = internals.parse_flags(flags)
    assert (runner_flags.environment_type(parsed), runner_flags.is_cluster(parsed)) == (kind, far)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("KeyError: 'beam:env:process:v1'", "the job server at h:1 starts no processes; use --environment_type=LOOPB"),
        ("Command '['docker', 'run', '-d']' returned 125", "the job server starts workers with Docker, which does"),
        ("ModuleNotFoundError: No module named 'bertdata'", "a worker has no bertdata; install this version there"),
        (
            "Pipeline job-002 failed in state CANCELLED: unknown error",
            "the job was cancelled at the engine, not by this process; run the same command again: what is done is",
        ),
        (
            "Pipeline job_a8 failed in state FAILED: org.apache.spark.SparkException: Job aborted due to stage "
            "failure: Master removed our application: KILLED",
            "the job was cancelled at the engine, not by this process; run the same command again: what is done is",
        ),
        (
            "Pipeline job_f3 failed in state FAILED: org.apache.flink.runtime.client.JobCancellationException: Job was "
            "cancelled.",
            "the job was cancelled at the engine, not by this process; run the same command again: what is done is",
        ),
        (
            "Pipeline job-002 failed in state FAILED: bundle inst009 stage-007 failed:SDK worker disconnected: "
            "worker[job-002[job]_ref_Environment_default_environment_1], 8 active instructions",
            "a worker has ended while it worked, killed or for want of memory, and the engine gave the job up; run the",
        ),
        (
            "Pipeline job_a8 failed in state FAILED: java.net.ConnectException: finishConnect(..): Connection refused",
            "the engine gave the job up (java.net.ConnectException: finishConnect(..): Connection refused); its",
        ),
        (
            "_MultiThreadedRendezvous: status = StatusCode.UNAVAILABLE",
            "the job server of PortableRunner at h:1 is gone; see that it runs, and run the same command again",
        ),
    ],
)
def test_failures_of_a_cluster_become_messages_with_a_remedy(text: str, words: str) -> None:
    import_beam()
    parsed = internals.parse_flags(["--runner=PortableRunner", "--job_endpoint=h:1", "--environment_type=PROCESS"])
    explained_error = runner_flags.explained(RuntimeError(text), parsed)
    assert isinstance(explained_error, BertDataError)
    assert str(explained_error).startswith(words)
    for other in ("another", "Pipeline job_a8 failed in state FAILED: KeyError: 'a'"):
        assert runner_flags.explained(RuntimeError(other), parsed) is None


@pytest.mark.parametrize("config", ["localhost:{}", '{{"url": "localhost:{}"}}'])
def test_a_pool_that_listens_is_not_what_is_gone(config: str) -> None:
    import_beam()
    flags = ("--runner=PortableRunner", "--job_endpoint=h:1", "--environment_type=EXTERNAL", "--environment_config=")
    gone = RuntimeError("status = StatusCode.UNAVAILABLE")
    refused = RuntimeError("Pipeline job_a8 failed in state FAILED: java.net.ConnectException: Connection refused")
    with socket.socket() as pool:
        pool.bind(("localhost", 0))
        pool.listen()
        port = pool.getsockname()[1]
        parsed = internals.parse_flags([*flags[:3], flags[3] + config.format(port)])
        assert str(runner_flags.explained(gone, parsed)).startswith("the job server of PortableRunner at h:1 is gone")
        assert str(runner_flags.explained(refused, parsed)).startswith("the engine gave the job up (java.net.Conn")
    for failure in (gone, refused):
        assert str(runner_flags.explained(failure, parsed)).startswith(f"the worker pool at localhost:{port} does not")


def test_the_program_of_a_process_can_be_an_option_of_the_environment() -> None:
    import_beam()
    flags = ["--runner=PortableRunner", "--job_endpoint=h:1", "--environment_type=PROCESS"]
    parsed = internals.parse_flags([*flags, "--environment_options=process_command=/opt/boot"])
    runner_flags.check(parsed, 0, ["/shared/out"])
    assert "run /opt/boot there" in runner_flags.silence(parsed)


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        (["--runner=FlinkRunner"], r"--job_name=bertdata-tokenize-write-shards-[0-9a-f]{8}"),
        (["--runner=FlinkRunner", "--job_name=wiki"], ""),
        (["--runner=FnApiRunner"], ""),
        ([], ""),
    ],
)
def test_a_job_is_named_by_its_steps_unless_flags_name_it(flags: list[str], name: str) -> None:
    import_beam()
    parsed = internals.parse_flags(flags)
    assert re.fullmatch(name, "".join(runner_flags.job_name(parsed, ["tokenize", "write shards"])))
    of_many = "".join(
        runner_flags.job_name(internals.parse_flags(["--runner=FlinkRunner"]), ["Étape d'une source"] * 9)
    )
    assert re.fullmatch(r"--job_name=[a-z]([-a-z0-9]{0,61}[a-z0-9])", of_many)  # what Dataflow takes


@pytest.mark.slow
def test_no_port_is_left_in_use_by_a_server_that_was_ended(tmp_path: Path) -> None:
    port = free_port()
    runner = Runner(0, (*started_by("Flink", tmp_path), f"--job_port={port}"), quiet=True)
    for _ in range(2):
        runner.check(str(tmp_path), [])
