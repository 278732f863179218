"""The first interrupt of a training is answered at once, also within one long call of torch; the second ends it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from bertdata import INTERRUPTED, INTERRUPTED_CODE
from bertdata.cli.stop_requests import AFTER_STEP, SOON
from tests.torch.build import write_build

ROOT = Path(__file__).parents[2]
SCRIPT = """
import hashlib, sys
from bertdata.cli import command_line
from bertdata.cli.stop_requests import StopRequests
from bertdata.io import log
log.use({format!r})
def work():
    with StopRequests() as stop:
        {work}
    return 0
code = command_line.run(work)
print("ended", flush=True)
sys.exit(code)
"""
BEGUN = "print('begun', flush=True)"
LONG_CALL = "hashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)"
"""A call that lasts half an hour, in which Python runs no handler of signals."""


@contextmanager
def begun(work: str, log_format: str = "text", **variables: str) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """Yield a process that has come to the end of `BEGUN`, and its stderr; kill it where it is not over."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(work=work, format=log_format)],
        cwd=ROOT,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert process.stdout.readline() == "begun\n"
        time.sleep(1)  # what comes after has begun
        yield process, process.stderr
    finally:
        process.kill()
        process.communicate()


@pytest.mark.costly
@pytest.mark.parametrize(("before", "text"), [("stop()", AFTER_STEP), ("pass", SOON)])
def test_an_interrupt_within_a_long_call_is_answered_and_a_second_one_ends_it(before: str, text: str) -> None:
    with begun(f"{before}; {BEGUN}; {LONG_CALL}") as (process, stderr):
        process.send_signal(signal.SIGINT)
        assert stderr.readline().endswith(f"{text}\n")
        process.send_signal(signal.SIGINT)
        assert process.communicate() == ("", f"{INTERRUPTED}\n")
        assert process.returncode == INTERRUPTED_CODE


@pytest.mark.costly
def test_an_interrupt_before_the_first_step_ends_the_command_in_one_line_as_ever() -> None:
    with begun(f"{BEGUN}; [None for _ in iter(int, 1)]") as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.communicate() == ("ended\n", f"{INTERRUPTED}\n")
        assert process.returncode == INTERRUPTED_CODE


@pytest.mark.costly
def test_forked_processes_as_workers_of_a_loader_have_interrupts_of_their_own_and_no_end_waits_for_them() -> None:
    interrupted = "child = os.fork() or signal.raise_signal(signal.SIGINT)"
    code = "print(os.waitpid(child, 0)[1] >> 8, stop(), flush=True)"
    lasting = "os.fork() or ([time.sleep(0.1) for _ in iter(lambda: os.getppid() == parent, False)], os._exit(0))"
    imports = "import os, signal, time; parent = os.getpid()"
    with begun(f"{imports}; {BEGUN}; {interrupted}; {code}; {lasting}") as (process, _):
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(3)] == ["ended\n", f"{INTERRUPTED_CODE} False\n", "ended\n"]
        assert process.wait() == 0


@pytest.mark.costly
def test_a_run_is_asked_to_stop_once_and_its_log_of_json_says_so() -> None:
    with begun(f"stop(); {BEGUN}; [None for _ in iter(stop, True)]", "json") as (process, _):
        process.send_signal(signal.SIGINT)
        printed, lines = process.communicate()
        events = [json.loads(line) for line in lines.splitlines()]
        assert (printed, process.returncode) == ("ended\n", 0)
        assert [(event["event"], event.get("text")) for event in events] == [("message", AFTER_STEP), ("end", None)]


@pytest.mark.costly
def test_under_torchrun_an_interrupt_is_that_of_python() -> None:
    with begun(f"stop(); {BEGUN}; [None for _ in iter(int, 1)]", WORLD_SIZE="2") as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.communicate() == ("ended\n", f"{INTERRUPTED}\n")


@pytest.mark.costly
def test_an_interrupt_of_the_terminal_ends_a_pretraining_after_its_step_and_not_its_workers_before(
    tmp_path: Path,
) -> None:
    pytest.importorskip("torch")
    build, output = write_build(tmp_path / "build", documents=24), tmp_path / "run"
    flags = "--config tiny --max-steps 1000000 --batch-size 8 --num-workers 2 --device cpu --logging-steps 1"
    command = [sys.executable, "-m", "bertdata", "pretrain", str(build), "--output", str(output), *flags.split()]
    process = subprocess.Popen(
        [*command, "--save-steps", "1000000", "--eval-steps", "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        log = output / "log.jsonl"
        while process.poll() is None and not (log.exists() and log.read_text()):
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        printed, said = process.communicate()
        assert (process.returncode, printed) == (INTERRUPTED_CODE, ""), said
        *_, after = said.partition(f"{AFTER_STEP}\n")  # at most the line of the step that was under way, and its end
        assert [line for line in after.splitlines() if not re.match(r"\d\d:\d\d:\d\d step ", line)] == [INTERRUPTED]
        last = json.loads(log.read_text().splitlines()[-1])["step"]
        assert [path.name for path in (output / "checkpoints").iterdir()] == [f"step-{last:09d}"]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
