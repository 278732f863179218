"""Books as a source: what the tasks of files and of large archives write."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pyarrow.parquet as pq

from bertdata.documents import BYTES_LEFT_OUT
from bertdata.engine.parts import run_once
from bertdata.sources.formats import write_documents
from bertdata.sources.settings import CleaningConfig
from tests.sources.books.bookish import FIRST
from tests.sources.planned import plan_books


def test_each_book_of_an_archive_that_several_tasks_read_is_one_document(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(12):
            archive.writestr(f"{number:02}.txt", f"{FIRST}\n\n{os.urandom(600).hex()}\n")
    tasks = plan_books([str(path)], str(tmp_path / "out"), CleaningConfig(range_bytes=path.stat().st_size // 4))
    records = [run_once(task, write_documents) for task in tasks]
    assert len(tasks) > 2
    assert sum(record.counts["books"] for record in records) == 12
    ids = [row["id"] for task in tasks for row in pq.read_table(task.path).to_pylist()]
    assert ids == [f"many.zip:many/{number:02}" for number in range(12)]


def test_bytes_that_become_no_document_are_counted_by_reason(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"CHAPTER I\n\n{FIRST}\n\n\n\nThe end, of this volume,\n\n1  |  2  |  3\n")
    (tmp_path / "b.txt").write_text("CHAPTER I\n\nTHE SEA\n")
    (tmp_path / "c.txt").write_bytes(bytes(500))
    paths = [str(tmp_path / name) for name in ("a.txt", "b.txt", "c.txt")]
    [task] = plan_books(paths, str(tmp_path / "out"), CleaningConfig())
    counts = run_once(task, write_documents).counts
    left_out = {name: number for name, number in counts.items() if name.startswith(BYTES_LEFT_OUT)}
    assert left_out.pop("bytes left out, broken: not text") == 500
    assert left_out.pop("bytes left out, no prose") == len("CHAPTER I\n\nTHE SEA\n\n")
    assert set(left_out) == {"bytes left out, headings and tables"}
    sizes = sum((tmp_path / name).stat().st_size for name in ("a.txt", "b.txt", "c.txt"))
    assert counts["book_bytes"] == sizes
