"""Documents may come from anyone: a record of theirs that lies is refused by its name, and names no file elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.beam.runner import Runner
from bertdata.documents import ROWS_OF, cut_ranges, read_range
from bertdata.engine.fingerprints import sealed
from bertdata.engine.run_stages import run_stages
from bertdata.errors import InputError
from bertdata.kernels.warmup import compiling_always
from bertdata.sources.finished import finished_parts
from bertdata.sources.inputs import find_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource

ROWS = [{"id": f"n{number}", "text": "It rained all day in the town. " * (1 + number)} for number in range(60)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folder of the documents of each kind of source that is read again."""
    place = tmp_path_factory.mktemp("given")
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    pq.write_table(pa.Table.from_pylist(ROWS), place / "rows.parquet", row_group_size=20)
    (place / "files").mkdir()
    for row in ROWS:
        (place / "files" / f"{row['id']}.txt").write_text(str(row["text"]))
    made = {}
    for name in ("rows.jsonl", "rows.parquet", "files"):
        made[name] = place / f"documents of {name}"
        config = CleaningConfig(whole_files=name == "files")
        stage = ReadSource("documents", find_documents([str(place / name)]), str(made[name]), config)
        with compiling_always():
            run_stages([stage], Runner(1, quiet=True))
    return made


def read(folder: Path) -> int:
    """Return how many documents a build that is given these reads."""
    parts = finished_parts([str(path) for path in folder.glob("*.parquet")])
    ranges = cut_ranges([(task.payload.path, record) for task, record in parts])
    return sum(len(table) for documents in ranges for table in read_range(documents))


def lie(folder: Path, change: Callable[[dict[str, Any]], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the record of the documents in a folder say something else, with the checksum of that."""
    [path] = folder.glob("*.json")
    values = json.loads(path.read_text())
    change(values)
    lying = json.dumps(sealed(values)).encode()
    monkeypatch.setattr("bertdata.engine.parts.files.read_if_there", lambda place: lying)


def of_rows(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda values: values["details"][ROWS_OF].update(fields)


def of_details(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda values: values["details"].update(fields)


PATHS = [
    "http://127.0.0.1:9/rows.jsonl",
    "s3://nobody/rows.jsonl",
    "rows.jsonl",
    "/a\0b",
    "",
    7,
    None,
    ["/etc/hostname"],
]
ANY_SOURCE = {
    **{f"the format {name!r}": of_rows(format=name) for name in ("this:X", ["x"], "wikipedia", "none", 5)},
    "no fields": lambda values: values["details"][ROWS_OF].clear(),
    "an unknown field": of_rows(unknown=1),
    "rows of a list": of_details(**{ROWS_OF: [1]}),
    "rows of a text": of_details(**{ROWS_OF: "x"}),
    "not read again": of_rows(again=False),
    "columns": of_rows(columns=True),
    **{
        f"row groups {rows}": of_details(row_groups=rows)
        for rows in (
            "x",
            [],
            [[-3, 5]],
            [[60]],
            [[10**30, 1]],
            [[1 << 62, 1]],
            [[59, 10]],
            [[60, 10], [5, 5]],
            {"a": 1},
        )
    },
    **{f"slots {rows}": of_details(slots=rows) for rows in ("x", [], [[-1, 60, 5]], [[1 << 16, 60, 5]], [[5, 60]])},
    **{f"dropped {rows}": of_details(dropped=rows) for rows in ([-1, 10**30], [10**9], "x")},
    "texts for counts": lambda values: values.update(counts={"documents": "x"}),
    "negative counts": lambda values: values["counts"].update(rows=-1),
    "huge drops": lambda values: values.update(drops={"empty": 10**30}),
    "a list of counts": lambda values: values.update(counts=[1]),
    "a number for a digest": lambda values: values.update(sha256=5),
    "a number for what is broken": of_details(broken=5),
    "numbers for what is broken": of_details(broken=[[1, 2]]),
    "texts for languages": of_details(languages={"en": "many"}),
    "huge languages": of_details(document_languages={"en": [10**30, 5]}),
    "numbers for samples": of_details(dropped_texts={"empty": 5}),
    "a number for the kind": of_details(kind=5),
}
TABLES = {
    **{f"the path {path!r}": of_rows(path=path) for path in PATHS},
    **{f"from {start!r} to {end!r}": of_rows(start=start, end=end) for start, end in (
        ("x", 5), (-5, 9), (9, 5), (10**30, 10**31), (0, 10**30), (0, 1.5), (True, 5), (None, None))},
    "a text column that is a number": of_rows(text_column=5),
    "a text column that is a template": of_rows(text_column="{id}{text}"),
    "an id column": of_rows(id_column="{title"),
    "columns of texts": of_rows(columns=["score"]),
    "a form of code": of_rows(form="this:X"),
    "rules": of_rows(rules={"min_words": "x"}),
    "an encoding": of_rows(encoding="rot13"),
    "a label that is a number": of_rows(label=5),
}  # fmt: skip
FILES = {
    **{f"the path {path!r}": of_rows(paths=[path] * 60) for path in PATHS},
    "one path": of_rows(paths=["/etc/hostname"]),
    "no paths": of_rows(paths=[], labels=[]),
    "a path": of_rows(paths="/etc/hostname"),
    "numbers for labels": of_rows(labels=[5] * 60),
    "encodings": of_rows(encodings=["rot13"] * 60),
}
LIES = [
    *((source, name) for source in ("rows.jsonl", "rows.parquet", "files") for name in ANY_SOURCE),
    *((source, name) for source in ("rows.jsonl", "rows.parquet") for name in TABLES),
    *(("files", name) for name in FILES),
]


@pytest.mark.parametrize("source", ["rows.jsonl", "rows.parquet", "files"])
def test_documents_of_others_are_read(source: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    lie(folders[source], lambda values: None, monkeypatch)
    assert read(folders[source]) == len(ROWS)


@pytest.mark.costly
@pytest.mark.parametrize(("source", "name"), LIES)
def test_a_record_that_lies_is_refused_by_its_name(
    source: str, name: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    lie(folders[source], (ANY_SOURCE | (FILES if source == "files" else TABLES))[name], monkeypatch)
    with pytest.raises(
        InputError,
        match=r"documents of [^:]*00000\.parquet: (its record does not say|the source format|there is no source)",
    ):
        read(folders[source])


@pytest.mark.parametrize("end", [0, 1, 3, 500])
def test_row_groups_that_are_not_there_are_refused(
    end: int, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    lie(folders["rows.parquet"], of_rows(start=0, end=end), monkeypatch)
    if end == 3:
        assert read(folders["rows.parquet"]) == len(ROWS)
        return
    with pytest.raises(InputError, match=r"rows\.parquet.*: "):
        read(folders["rows.parquet"])
