"""What a benchmark needs of the package is still there; the peers are not installed here."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_the_benchmark_of_examples_makes_the_shards_that_it_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    examples = importlib.import_module("examples")
    examples.prepare(str(tmp_path), 20_000)
    assert {path.parent.name for path in tmp_path.rglob("manifest.json")} == {"dynamic"}
    assert (tmp_path / "work.pickle").is_file()
