"""The image: what `docker run IMAGE ...` runs, for people and for Beam."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

SCRIPT = ROOT / "scripts" / "image_entrypoint.sh"


def runs(folder: Path, *arguments: str) -> str:
    """Return the program that the image runs for some arguments, and what it is given."""
    for name in ("bertdata", "dask", "boot", "python"):
        (folder / name).write_text(f'#!/bin/sh\necho "{name}: $*"\n')
        (folder / name).chmod(0o755)
    variables = {"PATH": f"{folder}:{os.environ['PATH']}", "BEAM_BOOT": str(folder / "boot")}
    done = subprocess.run([SCRIPT, *arguments], env=variables, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["build", "--output", "a b"], "bertdata: build --output a b"),
        (["verify", "corpus"], "bertdata: verify corpus"),
        (["bertdata", "show", "corpus"], "bertdata: show corpus"),
        ([], "bertdata: --help"),
        (["--help"], "bertdata: --help"),
        (["--version"], "bertdata: --version"),
        (["dask", "worker", "tcp://host:8786"], "dask: worker tcp://host:8786"),
        (["python", "-m", "bertdata"], "python: -m bertdata"),
        (["/bin/echo", "as", "it", "is"], "as it is"),
        (
            ["--id=1", "--logging_endpoint=localhost:1", "--provision_endpoint=localhost:2"],
            "boot: --id=1 --logging_endpoint=localhost:1 --provision_endpoint=localhost:2",
        ),
        (["-id=1"], "boot: -id=1"),
        (["--worker_pool"], "python: -m bertdata.cli.worker_pool --service_port=50000"),
        (["--worker_pool", "--idle=2"], "python: -m bertdata.cli.worker_pool --service_port=50000 --idle=2"),
    ],
)
def test_an_image_runs_bertdata_and_beams_program_for_beam(arguments: list[str], expected: str, tmp_path: Path) -> None:
    assert runs(tmp_path, *arguments) == expected


def test_the_dockerfile_uses_the_script_and_extras_that_there_are() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "COPY scripts/image_entrypoint.sh /usr/local/bin/bertdata-entrypoint" in dockerfile
    assert 'ENTRYPOINT ["/usr/local/bin/bertdata-entrypoint"]' in dockerfile
    assert os.access(SCRIPT, os.X_OK)
    extras = dockerfile.partition("bertdata[")[2].partition("]")[0].split(",")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f"\n{extra} = [" in settings for extra in extras)


def test_the_image_is_given_what_it_is_made_from_and_nothing_else() -> None:
    """`.dockerignore` names what `COPY` and the wheel take: an old build/ would be packed into the wheel."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    given = {pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")}
    assert patterns[0] == "*"
    copied = re.findall("^COPY (?!--from)([^. ].*) ", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    beside = re.search(r"BESIDE = \((.*)\)", (ROOT / "setup.py").read_text(encoding="utf-8"))
    assert beside
    packages = ["bertdata", *re.findall('"(.*?)"', beside[1])]
    wheel = ["pyproject.toml", "setup.py", project["readme"], *project["license-files"], *packages]
    assert copied
    assert given == {*copied, *wheel}
