"""Which of the documents of a build are measured."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.inspect import text_figures
from bertdata.inspect.text_figures import spaced_parts


def write(folder: Path, *rows: int) -> None:
    folder.mkdir()
    for number, count in enumerate(rows):
        pq.write_table(pa.table({"text": ["It rains."] * count}), folder / f"part-{number}.parquet")
    (folder / "part-0.json").touch()


def test_a_folder_without_documents_gives_none(tmp_path: Path) -> None:
    write(tmp_path / "none")
    write(tmp_path / "empty", 0, 0)
    assert spaced_parts(str(tmp_path / "none")) == spaced_parts(str(tmp_path / "empty")) == []


def test_the_parts_with_documents_are_all_taken_or_the_first_of_each_run_of_a_large_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "parts", 2, 0, 0, 1, 1, 0, 0, 3)
    paths = [str(tmp_path / "parts" / f"part-{number}.parquet") for number in range(8)]
    assert spaced_parts(str(tmp_path / "parts")) == [paths[number] for number in (0, 3, 4, 7)]
    monkeypatch.setattr(text_figures, "READ_WHOLE", 0)
    monkeypatch.setattr(text_figures, "MOST_PARTS", 3)
    assert spaced_parts(str(tmp_path / "parts")) == [paths[number] for number in (0, 3, 7)]
