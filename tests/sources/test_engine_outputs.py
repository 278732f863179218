"""What engines write is read as documents: empty parts, marks beside them, JSON lines named .json, keys in folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import bertdata
from bertdata.errors import InputError
from bertdata.io.patterns import expand
from bertdata.sources.inputs import Sources
from bertdata.sources.path_columns import path_columns

SETTINGS: dict[str, Any] = {
    "vocab": "bertdata-30k-uncased",
    "objective": "full-sentences",
    "quiet": True,
    "workers": 1,
    "validation_fraction": 0,
}


def rows(name: str, number: int) -> str:
    return "".join(f'{{"id": "{name}{n}", "text": "Salt is white. It is {n} years old."}}\n' for n in range(number))


def spark_output(folder: Path) -> None:
    """Write what `df.write.json` leaves: parts, checksums, its mark, and a part that was not committed."""
    for name, text in {
        "part-00000-1f.c000.json": rows("a", 9),
        "part-00001-1f.c000.json": "",
        "part-00002-1f.c000.json": rows("b", 9),
        ".part-00000-1f.c000.json.crc": "crc",
        "_SUCCESS": "",
        "_temporary/0/task_1/part-00003-1f.c000.json": rows("c", 9),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("given", ["", "*", "part-*"])
def test_the_folder_of_spark_is_its_rows_wherever_it_is(given: str, tmp_path: Path) -> None:
    spark_output(tmp_path)
    memory = fsspec.filesystem("memory")
    memory.put(f"{tmp_path}/", "/spark/", recursive=True)
    try:
        for root in (str(tmp_path), "memory://spark"):
            inputs = Sources(documents=(f"{root}/{given}".rstrip("/"),)).inputs()
            assert [Path(path).name for path in inputs.paths()] == [
                "part-00000-1f.c000.json",
                "part-00002-1f.c000.json",
            ]
            assert [note.partition(" ")[2] for note in inputs.notes if "empty" in note] == [
                "is empty, as engines write for partitions without rows: left out, of 3 files"
            ]
    finally:
        memory.rm("/spark", recursive=True)


def test_an_empty_text_file_is_not_said_to_be_what_an_engine_wrote(tmp_path: Path) -> None:
    for name, text in (("a", ""), ("b", "Salt is white."), ("c", "")):
        (tmp_path / f"{name}.txt").write_text(text)
    notes = Sources(documents=(str(tmp_path),)).inputs().notes
    assert [note for note in notes if "empty" in note] == [
        f"{tmp_path}/a.txt and 1 other file are empty: left out, of 3 files"
    ]


def test_a_build_of_what_beam_wrote_has_all_rows(tmp_path: Path) -> None:
    beam = pytest.importorskip("apache_beam")
    lines = rows("a", 2).splitlines()
    with beam.Pipeline("FnApiRunner") as pipeline:
        made = pipeline | beam.Create(lines)
        made | beam.io.WriteToText(str(tmp_path / "in" / "docs"), file_name_suffix=".jsonl", num_shards=5)
    assert sum(path.stat().st_size == 0 for path in (tmp_path / "in").iterdir()) >= 3
    built = bertdata.build(tmp_path / "out", documents=tmp_path / "in", **SETTINGS)
    assert built["sources"]["documents"]["counts"]["rows"] == 2


def test_an_empty_file_that_is_named_and_folders_of_empty_ones_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").touch()
    (tmp_path / "b.jsonl").write_text(rows("b", 3))
    for given in ([tmp_path / "in"], [tmp_path / "in" / "a.jsonl", tmp_path / "b.jsonl"]):
        with pytest.raises(InputError, match=r"a\.jsonl: this file is empty"):
            bertdata.build(tmp_path / "out", documents=given, **SETTINGS)


def test_one_json_value_is_not_taken_for_lines(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"text": "Salt."}]))
    with pytest.raises(InputError, match="expected JSON lines"):
        Sources(documents=(str(tmp_path),)).inputs()
    (tmp_path / "a.json").write_text(json.dumps({"rows": [{"text": "Salt."}]}, indent=1))
    with pytest.raises(InputError, match="expected JSON lines"):
        Sources(documents=(str(tmp_path),)).inputs()


@pytest.mark.parametrize(
    ("log", "kind"),
    [("_delta_log/0.json", "Delta Lake"), (".hoodie/a", "Hudi"), ("metadata/v1.metadata.json", "Iceberg")],
)
@pytest.mark.parametrize("above", ["", "sales"])
def test_a_table_with_former_versions_in_it_is_refused(log: str, kind: str, above: str, tmp_path: Path) -> None:
    for name in (log, "data/part-0.parquet"):
        (tmp_path / above / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / above / name).write_bytes(b"1")
    memory = fsspec.filesystem("memory")
    memory.put(f"{tmp_path}/", "/table/", recursive=True)
    try:
        for root in (str(tmp_path), "memory://table"):
            with pytest.raises(InputError, match=f"is a table of {kind}, whose files may hold rows that are no longer"):
                expand([root], (".parquet",))
    finally:
        memory.rm("/table", recursive=True)


def test_a_glob_of_files_beside_the_log_of_a_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").mkdir()
    pq.write_table(pa.table({"text": ["Salt."]}), tmp_path / "part-0.parquet")
    with pytest.raises(InputError, match=r"names files of .*, which is a table of Delta Lake"):
        expand([str(tmp_path / "*.parquet")], (".parquet",))
    assert expand([str(tmp_path / "part-0.parquet")], (".parquet",)) == [str(tmp_path / "part-0.parquet")]


def test_keys_of_folders_are_those_that_pyarrow_reads(tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": ["Salt is white."] * 4,
            "year": [2024, 2024, -1, None],
            "place": ["New York", "São/Paulo", "a=b", "7"],
        }
    )
    ds.write_dataset(table, tmp_path, format="parquet", partitioning=["year", "place"], partitioning_flavor="hive")
    read = ds.dataset(tmp_path, partitioning="hive")
    for fragment in read.get_fragments():
        expected = ds.get_partition_keys(fragment.partition_expression)
        keys = path_columns(fragment.path)
        assert {name: str(value) for name, value in keys.items()} == {
            name: str(value) for name, value in expected.items() if value is not None
        }
        assert all(isinstance(value, int) for name, value in keys.items() if name == "year")


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_selections_go_by_the_keys_of_folders(kind: str, tmp_path: Path) -> None:
    for year in (2023, 2024):
        folder = tmp_path / "in" / f"year={year}" / "language=de"
        folder.mkdir(parents=True)
        text = [f"Salt is white. It is {n} years old in {year}." for n in range(5)]
        if kind == "parquet":
            pq.write_table(pa.table({"text": text}), folder / "part-0.parquet")
        else:
            (folder / "part-0.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in text))
    chosen = bertdata.build(
        tmp_path / "chosen", documents=tmp_path / "in", where="year == 2024 and language == 'de'", **SETTINGS
    )
    assert chosen["left_out"] == {"where": {"documents": {"documents": 5, "of": 10}}}
    assert chosen["splits"]["train"]["counts"]["documents"] == 5
    (tmp_path / "in" / "year=2023").rename(tmp_path / "in" / "year=2024b")
    with pytest.raises(bertdata.errors.BertDataError):
        bertdata.build(tmp_path / "none", documents=tmp_path / "in", where="year == 2023", **SETTINGS)
