"""Builds on Flink, Spark and Prism, from files that environment variables name, and by the script for one machine.

BERTDATA_FLINK_JAR and BERTDATA_SPARK_JAR name the jars of Beam's job servers, for which Java must be there;
BERTDATA_PRISM names Prism's binary. Without them these tests are skipped.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.beam.portable import free_port, job_server_program
from tests.pipelines.builds import ROOT, digests, environment, run

PROGRAMS = {
    "Flink": ("BERTDATA_FLINK_JAR", "--flink_job_server_jar"),
    "Spark": ("BERTDATA_SPARK_JAR", "--spark_job_server_jar"),
    "Prism": ("BERTDATA_PRISM", "--prism_location"),
}


def program(name: str) -> str:
    """Return the file that a runner needs; skips where the environment names none, or Java is missing."""
    variable = PROGRAMS[name][0]
    if not (path := os.environ.get(variable)):
        pytest.skip(f"set {variable} to the file of {name}'s job server")
    if name != "Prism" and shutil.which("java") is None:
        pytest.skip("there is no java")
    return path


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_build_is_the_same_bytes_as_a_local_one(name: str, sample_build: Path, tmp_path: Path) -> None:
    flags = ["--", f"--runner={name}Runner", f"{PROGRAMS[name][1]}={program(name)}"]
    done = run(tmp_path / "corpus", *flags)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "corpus") == digests(sample_build)


@contextmanager
def flink_of_the_script(jar: str, path: str = "") -> Iterator[str]:
    """Run scripts/flink and yield the flags that it prints."""
    variables = {"PORT": str(free_port()), "POOL_PORT": str(free_port()), "SLOTS": "2"}
    variables["PATH"] = os.pathsep.join(filter(None, [path, os.environ["PATH"]]))
    with subprocess.Popen(
        [ROOT / "scripts" / "flink", jar],
        stdout=subprocess.PIPE,
        text=True,
        env=environment() | variables,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process.stdout.readline().partition(" -- ")[2].strip()
        finally:
            os.killpg(process.pid, signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.parametrize("server", ["Beam's job server in Python", "Flink"])
def test_the_script_starts_a_job_server_and_workers_that_build(server: str, sample_build: Path, tmp_path: Path) -> None:
    jar, path = tmp_path / "x.jar", tmp_path / "bin"
    if server == "Flink":
        jar, path = Path(program("Flink")), Path()
    else:
        jar.touch()
        path.mkdir()
        job_server_program(path).rename(path / "java")
    with flink_of_the_script(str(jar), str(path) if path.name else "") as flags:
        endpoint = next(flag for flag in flags.split() if flag.startswith("--job_endpoint="))
        assert endpoint.startswith("--job_endpoint=localhost:")
        time.sleep(1)
        done = run(tmp_path / "corpus", "--", *flags.split())
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "corpus") == digests(sample_build)


def test_the_script_says_what_is_missing(tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "flink", tmp_path / "no.jar"], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (1, f"there is no file {tmp_path}/no.jar\n")
