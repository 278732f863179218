"""Large local sources are read again where their texts are needed, and not stored; the documents are the same."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.beam.runner import Runner
from bertdata.documents import ROWS_OF, cut_ranges, read_range
from bertdata.engine.parts import PartResult
from bertdata.engine.run_stages import run_stages
from bertdata.errors import InputError
from bertdata.inspect.folders import describe
from bertdata.inspect.text_figures import measure_text, spaced_parts
from bertdata.kernels.warmup import compiling_always
from bertdata.sources import source_rows
from bertdata.sources.inputs import find_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource

SENTENCE = "The rain fell on the roofs of the old town, and nobody was out of doors. "
ROWS = [
    {"id": None if number % 5 == 4 else f"n{number}", "title": f"T{number}", "text": SENTENCE * (1 + number)}
    for number in range(250)
]
BROKEN = [b'{"text": 5}\n', b"no object\n", b'{"title": "no text"}\n', b'{"text": "  "}\n']


def json_lines(path: Path) -> None:
    lines = [json.dumps(row).encode() + b"\n" for row in ROWS]
    path.write_bytes(b"".join([*lines[:100], *BROKEN, *lines[100:]]))


def parquet(path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=40, compression="none", use_dictionary=False)


def whole_files(path: Path) -> None:
    path.mkdir()
    for number, row in enumerate(ROWS[:200]):
        (path / f"{number}.txt").write_text(str(row["text"]).replace(". ", ".\n\n"))


MAKERS: dict[str, Callable[[Path], None]] = {"rows.jsonl": json_lines, "rows.parquet": parquet, "files": whole_files}


@pytest.fixture(scope="module", params=list(MAKERS))
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / str(request.param)
    MAKERS[request.param](path)
    return path


def read(path: Path, into: Path, *, large: bool = True, **settings: object) -> Sequence[PartResult]:
    """Return the parts of documents of a source, which is read as one that is `large`."""
    config = CleaningConfig(whole_files=path.name == "files", **settings)  # type: ignore[arg-type]
    stage = ReadSource("documents", find_documents([str(path)]), str(into), config)
    with compiling_always() if large else nullcontext():
        return run_stages([stage], Runner(1, quiet=True)).documents


def documents(parts: Sequence[PartResult]) -> list[dict[str, str]]:
    ranges = cut_ranges([(task.path, record) for task, record in parts])
    return [row for part in ranges for table in read_range(part) for row in table.to_pylist()]


@pytest.mark.costly
@pytest.mark.parametrize("filters", [(), ("min-characters=9000", "gopher-quality=min_words:200")])
def test_documents_are_those_of_parts_that_have_their_texts(
    source: Path, filters: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = read(source, tmp_path / "again", filter=filters)
    assert all(ROWS_OF in record.details for _, record in parts)
    size = sum(os.path.getsize(task.path) for task, _ in parts)
    monkeypatch.setattr("bertdata.sources.formats.are_read_again", lambda task: False)
    stored = read(source, tmp_path / "stored", filter=filters)
    assert not any(ROWS_OF in record.details for _, record in stored)
    assert size < sum(os.path.getsize(task.path) for task, _ in stored) / 20
    assert documents(parts) == documents(stored)
    for (_, one), (_, other) in zip(parts, stored, strict=True):
        assert (one.fingerprint, one.counts, one.drops) == (other.fingerprint, other.counts, other.drops)
        assert {**one.details, ROWS_OF: None} == {**other.details, ROWS_OF: None}


def test_a_source_that_changed_without_a_time_is_refused_until_it_is_as_it_was(source: Path, tmp_path: Path) -> None:
    parts = read(source, tmp_path / "parts")
    expected = documents(parts)
    path = source / "17.txt" if source.is_dir() else source
    before, times = path.read_bytes(), path.stat()
    place = before.index(b"nobody was out", len(before) // 2)
    path.write_bytes(before[:place] + b"nobody got out" + before[place + 14 :])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(InputError, match=r"parquet: (the rows of|row group).*"):
        documents(parts)
    path.write_bytes(before)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert documents(parts) == expected


def test_a_source_that_was_moved_is_read_where_it_is_now(source: Path, tmp_path: Path) -> None:
    parts = read(source, tmp_path / "parts")
    expected = documents(parts)
    moved = tmp_path / "elsewhere" / source.name
    moved.parent.mkdir()
    source.rename(moved)
    try:
        times = {task.path: os.stat(task.path).st_mtime_ns for task, _ in parts}
        kept = read(moved, tmp_path / "parts")
        assert {task.path: os.stat(task.path).st_mtime_ns for task, _ in kept} == times
        assert documents(kept) == expected
        with pytest.raises(InputError):
            documents(parts)
    finally:
        moved.rename(source)


def test_such_parts_are_documents_of_another_build_and_are_shown_with_their_texts(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    expected = documents(read(source, folder))
    given = find_documents([str(folder)])
    parts = run_stages(
        [ReadSource("documents", given, str(tmp_path / "other"), CleaningConfig())], Runner(1, quiet=True)
    ).documents
    assert documents(parts) == expected
    shown = describe(str(folder))
    assert shown is not None
    assert any("The rain fell on the roofs" in sample for sample in shown.shown)
    figures = measure_text(spaced_parts(str(folder)), None)
    assert figures is not None
    assert figures.longest[0].characters == max(len(row["text"]) for row in expected)


def test_documents_whose_source_is_gone_are_not_shown(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    json_lines(tmp_path / "rows.jsonl")
    number = sum(record.counts["documents"] for _, record in read(tmp_path / "rows.jsonl", tmp_path / "parts"))
    (tmp_path / "rows.jsonl").unlink()
    assert measure_text(spaced_parts(str(tmp_path / "parts")), None) is None
    assert "the documents of this part are not shown: " in caplog.text
    shown = describe(str(tmp_path / "parts"))
    assert shown is not None
    assert (shown.rows[0], shown.shown) == (("documents", str(number)), [])


def test_rules_and_large_parts_have_their_texts_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl"
    json_lines(path)
    stores: list[dict[str, Any]] = [{"filter": ("c4-quality",)}, {"clean": ("nfc",)}, {"language_model": "source"}]
    for number, settings in enumerate(stores):
        parts = read(path, tmp_path / f"{number}", **settings)
        assert not any(ROWS_OF in record.details for _, record in parts)
    monkeypatch.setattr("bertdata.sources.formats.MOST_BYTES", 1 << 20)
    parts = read(path, tmp_path / "parts", range_bytes=3 << 19)
    assert [ROWS_OF in record.details for _, record in parts] == [False, True]
    assert documents(parts) == documents(read(path, tmp_path / "small", large=False))


def test_compressed_and_small_files_have_their_texts_stored(tmp_path: Path) -> None:
    json_lines(tmp_path / "rows.jsonl")
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress((tmp_path / "rows.jsonl").read_bytes(), 1))
    for name, large in (("rows.jsonl.gz", True), ("rows.jsonl", False)):
        parts = read(tmp_path / name, tmp_path / f"{name} parts", large=large)
        assert not any(ROWS_OF in record.details for _, record in parts)


def test_a_part_whose_record_does_not_say_where_its_rows_are_is_refused(tmp_path: Path) -> None:
    json_lines(tmp_path / "rows.jsonl")
    [(_, record), *_] = read(tmp_path / "rows.jsonl", tmp_path / "parts")
    for value in ({"format": "json-lines"}, {"path": "x"}, {"format": "json-lines", "unknown": 1}):
        changed = source_rows.with_recorded_rows
        with pytest.raises(InputError, match=r"p\.parquet: its record does not say where the texts are"):
            changed(record.__class__(**{**vars(record), "details": {**record.details, ROWS_OF: value}}), "p.parquet")


OTHERS: dict[str, Callable[[Path], object]] = {
    "fewer row groups": lambda path: pq.write_table(pa.Table.from_pylist(ROWS), path),
    "no text": lambda path: pq.write_table(pa.table({"title": ["x"] * 250}), path, row_group_size=40),
    "no columns": lambda path: pq.write_table(pa.table({}), path),
    "numbers for texts": lambda path: pq.write_table(pa.table({"text": [5] * 250}), path, row_group_size=40),
    "lists for texts": lambda path: pq.write_table(pa.table({"text": [["x"]] * 250}), path, row_group_size=40),
    "bytes for texts": lambda path: pq.write_table(pa.table({"text": [b"\xff"] * 250}), path, row_group_size=40),
    "numbers for ids": lambda path: pq.write_table(
        pa.table({"id": range(250), "text": [row["text"] for row in ROWS]}), path, row_group_size=40
    ),
    "nulls": lambda path: pq.write_table(
        pa.table({"text": pa.array([None] * 250, pa.string())}), path, row_group_size=40
    ),
    "no rows": lambda path: pq.write_table(pa.table({"text": pa.array([], pa.string())}), path),
    "no Parquet": lambda path: path.write_bytes(b"PAR1" + bytes(999)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_parquet_in_the_place_of_other_parquet_is_refused(name: str, tmp_path: Path) -> None:
    parquet(path := tmp_path / "rows.parquet")
    parts = read(path, tmp_path / "parts", range_bytes=1 << 20)
    assert len(parts) > 1
    OTHERS[name](path)
    for part in parts:
        with pytest.raises(InputError, match=r"\.parquet: .*(are others now than|expected|is not)"):
            documents([part])
