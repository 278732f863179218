"""Workers that are new processes and not forks, as since Python 3.14: a script without the condition is told of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.small_build import write_build

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import multiprocessing

from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset

multiprocessing.set_start_method({method!r}, force=True)
dataset = ShardDataset({shards!r})
loader = ResumableLoader(dataset, ResumableBatchSampler(dataset, 4), num_workers=1)
"""
LOOP = 'print("batches", sum(1 for batch in loader))'


def run_script(folder: Path, method: str, loop: str) -> subprocess.CompletedProcess[str]:
    """Run a script that is a file, and starts its workers by a method of multiprocessing."""
    script = folder / "train.py"
    script.write_text(SCRIPT.format(method=method, shards=str(write_build(folder))) + loop)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("method", ["forkserver", pytest.param("spawn", marks=pytest.mark.slow)])
def test_a_script_that_its_workers_would_run_again_is_told_where_to_put_what_it_does(
    tmp_path: Path, method: str
) -> None:
    done = run_script(tmp_path, method, LOOP)
    assert done.returncode == 1
    assert (
        "ConfigError: this process begins as a worker of a loader, and its script begins a loader again" in done.stderr
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith(("bertdata.errors.ConfigError: ", "bertdata.errors.BertDataError: ")), done.stderr
    assert 'put what the script does below `if __name__ == "__main__":`' in last


@pytest.mark.slow
@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_a_script_that_does_so_has_its_batches(tmp_path: Path, method: str) -> None:
    done = run_script(tmp_path, method, f'if __name__ == "__main__":\n    {LOOP}')
    assert (done.returncode, done.stdout.split()[0]) == (0, "batches"), done.stderr
