"""What estimates read of a task: its first documents, as the task itself gives them, by about so many stored bytes."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.engine.parts import Task
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.formats import write_documents
from bertdata.sources.settings import CleaningConfig
from tests.sources.planned import plan_documents, plan_rows

ROWS = [{"n": str(n), "text": f'It was "{n}".\n\nNobody came, {n} times.'} for n in range(2000)]
SIZE = 40_000


def separated(path: Path) -> list[Task]:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, ["n", "text"])
    writer.writeheader()
    writer.writerows(ROWS)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data, 0) if path.suffix == ".gz" else data)
    return [*plan_documents([str(path)], "out", 1 << 30)]


def lines(path: Path) -> list[Task]:
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return [*plan_documents([str(path)], "out", 1 << 30)]


def batches(path: Path) -> list[Task]:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, pa.Table.from_pylist(ROWS).schema) as writer:
        for start in range(0, len(ROWS), 100):
            writer.write_batch(pa.RecordBatch.from_pylist(ROWS[start : start + 100]))
    return [*plan_documents([str(path)], "out", 1 << 30)]


def row_groups(path: Path) -> list[Task]:
    pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=100)
    return [*plan_documents([str(path)], "out", 1 << 30)]


def text_files(folder: Path) -> list[Task]:
    folder.mkdir()
    for place, row in enumerate(ROWS):
        (folder / f"{place:04}.txt").write_text(row["text"])
    paths = [str(path) for path in sorted(folder.iterdir())]
    return [*plan_rows(paths, CleaningConfig(whole_files=True, range_bytes=1 << 30))[0]]


WAYS = {"a.csv": separated, "b.csv.gz": separated, "c.jsonl": lines, "d.arrow": batches, "e.parquet": row_groups}


def documents(task: Task) -> list[dict[str, Any]]:
    file = io.BytesIO()
    write_documents(task, file)
    return pq.read_table(io.BytesIO(file.getvalue())).to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", [*WAYS, "files"])
def test_a_beginning_has_the_first_documents(name: str, tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    [task] = WAYS.get(name, text_files)(tmp_path / name)
    size = min(SIZE, task.weight // 3)
    beginning = SOURCE_FORMATS[task.payload.format].beginning(task, size, str(tmp_path / "copies"))
    assert isinstance(beginning, Task)
    assert beginning.weight <= 8 * size
    first, every = ([row["text"] for row in documents(each_task)] for each_task in (beginning, task))
    assert len(every) == len(ROWS)
    assert 1 < len(first) < len(every)
    assert first == every[: len(first)]
    share = len(first) / len(every)
    assert beginning.weight / task.weight == pytest.approx(share, rel=0.5)


@pytest.mark.costly
@pytest.mark.parametrize("name", [*WAYS, "files"])
def test_a_small_task_is_its_own_beginning(name: str, tmp_path: Path) -> None:
    [task] = WAYS.get(name, text_files)(tmp_path / name)
    beginning = SOURCE_FORMATS[task.payload.format].beginning(task, task.weight, str(tmp_path))
    assert isinstance(beginning, Task)
    assert documents(beginning) == documents(task)


def test_rows_of_which_none_is_whole_have_no_beginning_and_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text('text\n"' + "It rained.\n" * 1000 + '"\n')
    [task] = plan_documents([str(path)], "out", 1 << 30)
    reason = SOURCE_FORMATS[task.payload.format].beginning(task, 500, str(tmp_path))
    assert reason == "long.csv has no row that ends in its first 500 B"


def test_of_text_that_is_stored_very_small_a_sample_has_a_bounded_part(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "It rained."}\n' * 1_000_000))
    [task] = plan_documents([str(path)], "out", 1 << 30)
    beginning = SOURCE_FORMATS[task.payload.format].beginning(task, task.weight // 2, str(tmp_path))
    assert isinstance(beginning, Task)
    copied = Path(beginning.payload.path).read_bytes()
    assert copied.endswith(b"}\n")
    assert len(copied) < 0.3 * 23_000_000
    assert beginning.weight / task.weight == pytest.approx(len(copied) / 23_000_000, rel=0.05)
