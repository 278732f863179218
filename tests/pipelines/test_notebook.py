"""A build in a notebook that is executed: bars, functions of its cells, and builds that are done again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertdata.io.progress_bar import NO_WIDGETS
from tests.pipelines.builds import ROOT
from tests.shards.build import text_of

nbclient = pytest.importorskip("nbclient", reason="executing a notebook needs nbclient and ipykernel")
for name in ("ipykernel", "ipywidgets"):
    pytest.importorskip(name, reason="executing a notebook needs ipykernel and ipywidgets")

BUILD = "corpus = bertdata.build('corpus', documents='texts.jsonl', vocab='bertdata-30k-uncased', workers={}, {})"


def executed(folder: Path, *cells: str) -> list[str]:
    """Execute a notebook in a folder and return what each cell shows, its errors too."""
    import nbformat

    paths = f"import sys; sys.path[:0] = [{str(folder / 'without')!r}, {str(ROOT)!r}]"
    code = [nbformat.v4.new_code_cell(cell) for cell in [paths, *cells]]
    notebook = nbformat.v4.new_notebook(cells=code)
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=None, resources=resources, allow_errors=True).execute()
    return ["".join(map(shown, cell.outputs)) for cell in notebook.cells[1:]]


def shown(output: Any) -> str:
    return str(output.get("text") or output.get("evalue") or output.get("data", {}).get("text/plain", ""))


@pytest.mark.filterwarnings("ignore")  # of Jupyter's packages
@pytest.mark.parametrize(("without", "workers"), [((), 2), (("pandas", "ipywidgets"), 1)])
def test_a_notebook_builds_with_and_without_pandas_and_widgets(
    without: tuple[str, ...], workers: int, tmp_path: Path
) -> None:
    (tmp_path / "without").mkdir()
    for name in without:
        (tmp_path / "without" / f"{name}.py").write_text("raise ImportError('not installed')")
    rows = [{"id": str(number), "text": text_of(number)} for number in range(60)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    cells = [
        "import bertdata",
        "def sweet(text):\n    return text.replace('salt', 'sugar')",
        BUILD.format(workers, "clean=sweet, filter=lambda text: len(text) > 300"),
        "corpus",
        BUILD.format(workers, "clean=sweet, filter=lambda text: len(text) > 300"),
        "def sweet(text):\n    return text.replace('salt', 'honey')",
        BUILD.format(workers, "clean=sweet, filter=lambda text: len(text) > 300"),
        "from bertdata.masking import units\n" + BUILD.format(1, "mask_unit=units.MaskUnit('mine', 'words')"),
    ]
    _, _, built, corpus, again, _, changed, refused = executed(tmp_path, *cells)
    assert "write shards" in built
    assert (NO_WIDGETS in built) == ("ipywidgets" in without)
    assert corpus.startswith("BuiltCorpus('corpus'): ")
    assert again == ""
    assert "changed --clean" in changed
    assert "read documents" in changed
    assert "%%writefile my_objects.py" in refused
