"""The Slurm scripts of the pages: run with stand-ins for the commands of Slurm."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.docs import pages

DOCS = pages.ROOT / "docs"


def script(page: str, beginning: str, folder: Path, step: str) -> list[str]:
    """Write a script of a page, and programs in the place of Slurm's; return the command that runs it.

    step: what `srun` does in bash.
    """
    programs = {"srun": f'echo "$*" > step\n{step}', "scontrol": '[ "$1" = show ] || echo "$*" >> asked'}
    for name, body in programs.items():
        (folder / name).write_text(f"#!/bin/bash\n{body}\n")
        (folder / name).chmod(0o755)
    bodies = [block.body for block in pages.blocks((DOCS / page).read_text(encoding="utf-8"))]
    [body] = [body for body in bodies if beginning in body and body.startswith("#!/bin/bash")]
    (folder / "job").write_text(body)
    return ["bash", "job"]


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "2"}


def asked(folder: Path) -> str:
    return (folder / "asked").read_text() if (folder / "asked").exists() else ""


@pytest.mark.parametrize(
    ("page", "beginning", "cores"),
    [
        ("clusters.md", "bertdata build ", "2"),
        ("clusters.md", "clean-wikipedia", "4"),
        ("howto/slurm.md", "pretrain", "2"),
    ],
)
def test_a_step_is_given_the_cores_of_its_job(page: str, beginning: str, cores: str, tmp_path: Path) -> None:
    """From Slurm 22.05 on `srun` does not take `--cpus-per-task` from the job, and may bind the step to one core."""
    command = script(page, beginning, tmp_path, "exit 0")
    subprocess.run(command, cwd=tmp_path, env=environment(tmp_path) | {"SLURM_ARRAY_TASK_ID": "0"}, check=True)
    assert (tmp_path / "step").read_text().startswith(f"--cpus-per-task {cores} ")


@pytest.mark.parametrize(("code", "requeued"), [(143, "requeue 7\n"), (0, ""), (1, "")])
def test_a_build_that_was_terminated_is_requeued(tmp_path: Path, code: int, requeued: str) -> None:
    command = script("clusters.md", "bertdata build ", tmp_path, f"exit {code}")
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), check=False)
    assert (done.returncode, asked(tmp_path)) == (code, requeued)


@pytest.mark.parametrize("code", [0, 1])
def test_a_training_that_ends_by_itself_is_not_requeued(tmp_path: Path, code: int) -> None:
    command = script("howto/slurm.md", "pretrain", tmp_path, f"exit {code}")
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), check=False)
    assert (done.returncode, asked(tmp_path)) == (code, "")


def test_a_training_that_is_signalled_before_its_time_limit_is_requeued(tmp_path: Path) -> None:
    command = script("howto/slurm.md", "pretrain", tmp_path, "touch begun; exec sleep 300")
    job = subprocess.Popen(command, cwd=tmp_path, env=environment(tmp_path), start_new_session=True)
    try:
        until = time.monotonic() + 120
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.02)
        job.send_signal(signal.SIGUSR1)
        job.wait(120)
        assert asked(tmp_path) == "requeue 7\n"
    finally:
        os.killpg(job.pid, signal.SIGKILL)
