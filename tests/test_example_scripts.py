"""Each script in `examples/` runs: those that train on a small build, in two parts with the losses of one run."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from bertdata.plugins import use_plugins
from bertdata.verify.build import verify
from tests.small_build import write_build

ROOT = Path(__file__).resolve().parents[1]
NEEDS = {
    "plain_dataloader.py": ("transformers",),
    "torchrun.py": ("transformers",),
    "huggingface_trainer.py": ("transformers", "accelerate"),
    "with_accelerate.py": ("transformers", "accelerate"),
    "with_lightning.py": ("transformers", "lightning"),
    "with_composer.py": ("transformers", "composer"),
    "numpy_batches.py": (),
}
"""The scripts that train, and what they need."""
BUILDS = {
    "own_cleaner.py": r"wikipedia: [1-9]\d* of \d+ documents changed\nbooks: [1-9]",
    "own_filter.py": r"dropped: .*'filter LONGER@\w+=3000': [1-9]",
    "own_objective.py": r"[1-9][\d,]* tokens are in no row",
    "own_source.py": r"[1-9]\d* examples in train.*\n9 documents of rows in memory",
}
"""The scripts that build, and what they print."""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("build"))


def losses(script: str, build: Path, output: Path, steps: int, *, processes: int = 1, batch_size: int = 8) -> list[str]:
    """Run a script up to a number of steps, and return the lines it printed of its steps."""
    launch = [sys.executable]
    if script == "torchrun.py":
        launch += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    arguments = [str(build), "--output", str(output), "--steps", str(steps), "--batch-size", str(batch_size)]
    done = subprocess.run(
        [*launch, str(ROOT / "examples" / script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=output.parent,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return re.findall(r"step \d+ loss \d+\.\d+", done.stdout)


@pytest.mark.parametrize("script", [name for name in NEEDS if name != "numpy_batches.py"])
def test_a_worker_of_its_loader_does_not_begin_a_script_again(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDS[script]:
        pytest.importorskip(package)
    monkeypatch.setattr(sys, "argv", [script])  # whoever asks for its arguments misses some, and leaves
    contents = runpy.run_path(str(ROOT / "examples" / script), run_name="__mp_main__")
    assert callable(contents["main"])


def test_every_script_is_tested() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == {*NEEDS, *BUILDS}


SLOW = ("own_cleaner.py", "own_filter.py", "own_source.py")


@pytest.mark.costly
@pytest.mark.parametrize(
    "script", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in BUILDS]
)
def test_a_script_builds_with_what_is_its_own(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, str(ROOT / "examples" / script), str(tmp_path / "corpus")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(BUILDS[script], done.stdout), done.stdout
    monkeypatch.syspath_prepend(ROOT / "examples")
    use_plugins([script.removesuffix(".py")])
    verify(tmp_path / "corpus")


@pytest.mark.slow
@pytest.mark.parametrize("script", [name for name in NEEDS if name != "numpy_batches.py"])
def test_a_script_run_in_two_parts_gives_the_losses_of_one_run(script: str, build: Path, tmp_path: Path) -> None:
    for package in NEEDS[script]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    whole = losses(script, build, tmp_path / "whole", 7)
    parts = losses(script, build, tmp_path / "parts", 3) + losses(script, build, tmp_path / "parts", 7)
    assert len(whole) == 7
    assert parts == whole


@pytest.mark.slow
def test_a_torchrun_goes_on_with_another_number_of_processes(build: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    whole = losses("torchrun.py", build, tmp_path / "whole", 5, batch_size=8)
    parts = losses("torchrun.py", build, tmp_path / "parts", 2, processes=2, batch_size=4)
    parts += losses("torchrun.py", build, tmp_path / "parts", 5, processes=1, batch_size=8)
    assert [line.split()[:2] for line in parts] == [line.split()[:2] for line in whole]
    for ours, theirs in zip(parts, whole, strict=True):
        # A step of two ranks is the same rows; the loss is a mean of two means, over nearly as many predictions each.
        assert float(ours.split()[-1]) == pytest.approx(float(theirs.split()[-1]), rel=0.01)


@pytest.mark.costly
def test_the_numpy_script_goes_on_where_it_stopped(build: Path, tmp_path: Path) -> None:
    whole = losses("numpy_batches.py", build, tmp_path / "whole", 7)
    parts = losses("numpy_batches.py", build, tmp_path / "parts", 3)
    parts += losses("numpy_batches.py", build, tmp_path / "parts", 7)
    assert len(whole) == 7
    assert parts == whole
