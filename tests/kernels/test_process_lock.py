"""Of processes that need the same kernel one compiles it, and the others wait for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bertdata.kernels.process_lock import held

ROOT = Path(__file__).resolve().parents[2]
_HOLDS = """
import sys
from bertdata.kernels.process_lock import held
with held(sys.argv[1], sys.argv[2]):
    print("held", flush=True)
    sys.stdin.readline()
"""
_COMPILES = """
import sys
from bertdata.kernels import warmup
from bertdata.kernels.mixer import sort_draws
import numpy as np
compiled = []
warmup.listeners.append(lambda: compiled.append(1))
print("ready", flush=True)
sys.stdin.readline()
order = np.empty(4, np.uint32)
sort_draws(np.arange(4, dtype=np.uint64), np.arange(4, dtype=np.uint32), 4, 4, order, np.empty(10, np.uint32))
assert order.tolist() == [0, 1, 2, 3]
print(len(compiled))
"""


def start(code: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, cwd=ROOT, text=True, env={**os.environ, **variables}, **pipes)  # type: ignore[call-overload, no-any-return]


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_lock_is_held_by_one_process_until_it_ends(tmp_path: Path) -> None:
    with start(_HOLDS, str(tmp_path), "a") as first, start(_HOLDS, str(tmp_path), "b") as other:
        assert (line(first), line(other)) == ("held", "held")
        with start(_HOLDS, str(tmp_path), "a") as second:
            assert second.poll() is None
            first.send_signal(signal.SIGKILL)
            assert line(second) == "held"
            second.communicate("\n")
        other.communicate("\n")


@pytest.mark.costly
def test_a_process_that_waits_goes_on_when_the_lock_is_released(tmp_path: Path) -> None:
    with held(str(tmp_path), "a"):
        second = start(_HOLDS, str(tmp_path), "a")
        try:
            second.communicate("\n", timeout=2)
            waited = False
        except subprocess.TimeoutExpired:
            waited = True
    assert waited
    assert second.communicate()[0] == "held\n"


def test_without_a_folder_nothing_is_held(tmp_path: Path) -> None:
    with held(None, "a"), held(str(tmp_path / "none"), "a"):
        assert os.listdir(tmp_path) == []


@pytest.mark.costly
def test_of_two_processes_one_compiles_and_the_other_loads(tmp_path: Path) -> None:
    both = [start(_COMPILES, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert [line(process) for process in both] == ["ready", "ready"]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    counts = [int(process.communicate()[0]) for process in both]
    assert sorted(counts) == [0, 1]
