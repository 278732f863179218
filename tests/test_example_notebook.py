"""The notebook in `examples/` runs from its first cell to its last, and what it shows is what it says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import bertdata

ROOT = Path(bertdata.__file__).parents[1]
NOTEBOOK = ROOT / "examples" / "first_steps.ipynb"

nbclient = pytest.importorskip("nbclient", reason="executing a notebook needs nbclient and ipykernel")
pytest.importorskip("ipykernel", reason="executing a notebook needs ipykernel")
pytest.importorskip("torch")


def shown(output: Any) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))


@pytest.mark.filterwarnings("ignore")  # of Jupyter's packages
def test_the_notebook_builds_looks_and_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=None, resources=resources).execute()
    outputs = ["".join(map(shown, cell.get("outputs", []))) for cell in notebook.cells if cell.cell_type == "code"]
    built, examples, figures, report, batch, trained, saved = outputs
    assert "BuiltCorpus('corpus'): " in built
    assert "[MASK→" in examples
    assert "% predicted" in figures
    assert "open report.html" in report
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert "'input_ids': (16, 64)" in batch
    assert "ShardDataset(corpus/train)" in batch
    assert "'steps': 10" in trained
    assert "model.safetensors" in saved


def test_the_notebook_is_kept_without_outputs() -> None:
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
