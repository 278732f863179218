"""The revision of an entry of a registry: raising it writes anew what the entry's code decides, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bertdata import build
from bertdata.curation import FILTERS
from bertdata.masking import MASK_UNITS
from bertdata.objectives import OBJECTIVES
from bertdata.registry import Registry

TEXT = "Salt is white. Water is clear. Rivers run to the sea. The sea holds salt.\n\n"


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add an objective, a masking unit and a filter named `outside`."""
    for registry, model in ((OBJECTIVES, "doc-sentences"), (MASK_UNITS, "word"), (FILTERS, "max-symbol-ratio")):
        item: Any = registry[model]
        named = {"name": "outside"} if hasattr(item, "name") else {}
        monkeypatch.setitem(registry._items, "outside", replace(item, **named))


def written(folder: Path) -> dict[str, int]:
    """Return when each finished part of a build was written, by its path."""
    paths = [*folder.rglob("*-000*.arrow"), *folder.rglob("*-000*.parquet")]
    return {str(path.relative_to(folder)): os.stat(path).st_mtime_ns for path in paths}


@pytest.mark.parametrize(
    ("registry", "settings", "again"),
    [
        (OBJECTIVES, {"objective": "outside"}, {"train"}),
        pytest.param(MASK_UNITS, {"mask_unit": "outside", "masking": "static"}, {"train"}, marks=pytest.mark.slow),
        (MASK_UNITS, {"mask_unit": "outside", "masking": "dynamic"}, set()),
        (FILTERS, {"filter": "outside"}, {"stages/tables"}),
    ],
)
@pytest.mark.usefixtures("added")
def test_a_raised_revision_writes_anew_what_the_entry_decides_and_nothing_else(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    registry: Registry[Any],
    settings: Mapping[str, Any],
    again: set[str],
) -> None:
    (tmp_path / "text.txt").write_text(TEXT * 20)

    def parts() -> dict[str, int]:
        build(
            tmp_path / "corpus",
            documents=tmp_path / "text.txt",
            vocab="bertdata-30k-uncased",
            validation_fraction=0.0,
            max_seq_length=32,
            workers=1,
            **settings,
        )
        return written(tmp_path / "corpus")

    first = parts()
    assert parts() == first
    monkeypatch.setitem(registry._items, "outside", replace(registry["outside"], revision=2))
    second = parts()
    assert second.keys() == first.keys()
    assert {os.path.dirname(path) for path in second if second[path] != first[path]} == again
