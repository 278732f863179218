"""Books as a source: what the tasks of files and of large archives write."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pyarrow.parquet as pq

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
