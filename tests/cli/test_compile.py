"""`bertdata compile` compiles kernels once; what it is compared with are the kernels that a build uses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bertdata.beam.runner import COMPILING
from bertdata.cli import compile as module
from bertdata.cli.main import main
from bertdata.curation import FILTERS
from bertdata.kernels.hash_table import empty_table
from bertdata.kernels.warmup import COMPILED_FROM, compiling_always, compiling_pays

ROOT = Path(__file__).resolve().parents[2]


def test_little_work_runs_compiled_only_where_all_of_it_does() -> None:
    assert not compiling_pays(10, None)
    with compiling_always():
        assert compiling_pays(10, None)
        assert not compiling_pays(COMPILED_FROM, False)
    assert not compiling_pays(10, None)


def test_the_kernels_of_all_filters_with_rules_are_compiled() -> None:
    with_rules = {name for name in FILTERS if FILTERS[name].judge is not None}
    assert with_rules == set(module.FILTERS)
    assert any(settings.get("filter") == module.FILTERS for settings in module.BUILDS)


@pytest.mark.costly
def test_every_group_of_settings_is_built_and_the_number_of_kernels_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "BUILDS", ({"objective": "single-segment", "vocab": "bertdata-30k-uncased"},))
    built: list[dict[str, Any]] = []
    original = module._build

    def noted(folder: str, settings: dict[str, Any]) -> None:
        built.append(settings)
        original(folder, settings)

    tables: list[Any] = []
    monkeypatch.setattr(module, "_build", noted)
    monkeypatch.setattr(module, "rehash", lambda *types: tables.append(types))
    assert main(["compile", "--vocab", "bertdata-30k-cased"]) == 0
    assert [arguments.get("vocab", "") for arguments in built] == [
        "bertdata-30k-uncased",
        "bertdata-30k-cased",
        "bertdata-30k-uncased",
    ]
    assert built[-1]["decontaminate"]
    [(old, new)] = tables  # no table of the sample grows, as one of a trained vocabulary does
    assert type(old) is type(new) is type(empty_table(1))
    assert len(new) > len(old)
    assert old.dtype == new.dtype == empty_table(1).dtype
    assert re.fullmatch(r"compiled \d+ kernels in \d+ s; they are kept in /.*\n", capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_build_after_it_compiles_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}

    def bertdata(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "bertdata", *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)

    done = bertdata("compile")
    assert int(done.stdout.split()[1]) > 20
    assert bertdata("compile").stdout.startswith("compiled 0 kernels")
    for settings in (["--mask-unit", "word", "--dedup", "near"], ["--model", "bpe", "--objective", "full-sentences"]):
        done = bertdata("build", "--output", str(tmp_path / settings[-1]), "--workers", "1", *settings)
        assert COMPILING not in done.stderr
