"""Workers that are new processes and not forks, as since Python 3.14: a script without the condition is told of it."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bertdata.torch.data.workers import import_once
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


IMPORTS_IN_A_FUNCTION = """
import multiprocessing

def train():
    from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset

    dataset = ShardDataset({shards!r})
    loader = ResumableLoader(dataset, ResumableBatchSampler(dataset, 4), num_workers=2)
    for epoch in range(2):
        print("batches", sum(1 for batch in loader))

if __name__ == "__main__":
    multiprocessing.set_start_method({method!r}, force=True)
    train()
"""


def run_script(
    folder: Path, method: str, loop: str, script: str = SCRIPT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a script that is a file, and starts its workers by a method of multiprocessing."""
    path = folder / "train.py"
    path.write_text(script.format(method=method, shards=str(write_build(folder))) + loop)
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    return subprocess.run([sys.executable, path], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.costly
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


@pytest.mark.costly
def test_torch_is_imported_once_for_all_workers_and_epochs(tmp_path: Path) -> None:
    done = run_script(tmp_path, "forkserver", "", IMPORTS_IN_A_FUNCTION, PYTHONPROFILEIMPORTTIME="1")
    assert done.stdout.split()[::2] == ["batches"] * 2, done.stderr
    assert len(re.findall(r"\| +torch$", done.stderr, re.MULTILINE)) == 2  # by the script and by the server


@pytest.mark.parametrize(
    ("modules", "imported"),
    [
        (["__main__"], ["__main__", import_once.__module__]),
        (["math"], ["math"]),
        (["__main__", "math"], ["__main__", "math"]),
        ([], []),
    ],
)
def test_modules_that_a_script_has_named_for_its_workers_stay(
    modules: list[str], imported: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = importlib.import_module("multiprocessing.forkserver")._forkserver
    monkeypatch.setattr(server, "_preload_modules", modules)
    import_once(multiprocessing.get_context("spawn"))
    assert server._preload_modules == modules
    import_once(multiprocessing.get_context("forkserver"))
    assert server._preload_modules == imported


@pytest.mark.costly
def test_a_script_of_standard_input_is_told_that_its_workers_cannot_import_it(tmp_path: Path) -> None:
    script = IMPORTS_IN_A_FUNCTION.format(method="spawn", shards=str(write_build(tmp_path)))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-"], input=script, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 1
    message = "ConfigError: the script comes from standard input, and 2 workers of the loader would import it; save it"
    assert message in done.stderr.splitlines()[-1]
