from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from bertdata.errors import InputError
from bertdata.sources.kinds import find_kind
from bertdata.sources.settings import CleaningConfig
from tests.io.lying_arrow import LIES, write_strings
from tests.sources.planned import plan_rows
from tests.sources.read import documents_of

datasets = pytest.importorskip("datasets")
ROWS = [{"text": f"Salt {number}.", "score": number / 10} for number in range(2500)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of 2,500 rows in two files, as `datasets` saves it, with a cache beside them."""
    place = tmp_path_factory.mktemp("saved") / "salt"
    datasets.Dataset.from_list(ROWS).save_to_disk(str(place), num_shards=2)
    (place / "cache-0123.arrow").write_bytes((place / "data-00000-of-00002.arrow").read_bytes())
    return place


def test_a_saved_data_set_is_read_without_its_caches(folder: Path) -> None:
    paths = find_kind("documents", [str(folder)])
    assert [Path(path).name for path in paths] == ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    rows, _ = documents_of(paths)
    assert [row["text"] for row in rows] == [row["text"] for row in ROWS]
    assert rows[3]["id"] == "data-00000-of-00002.arrow:3"


def test_ranges_give_the_same_documents_as_the_whole(folder: Path) -> None:
    paths = find_kind("documents", [str(folder)])
    whole, parts = documents_of(paths)
    ranges, more_parts = documents_of(paths, target=1)
    assert ranges == whole
    assert len(parts) == 2 < len(more_parts)
    assert sum(more.counts["rows"] for more in more_parts) == 2500


def test_splits_are_read_together_and_said(tmp_path: Path) -> None:
    parts = {"train": datasets.Dataset.from_list(ROWS[:3]), "test": datasets.Dataset.from_list(ROWS[3:5])}
    datasets.DatasetDict(parts).save_to_disk(str(tmp_path / "both"))
    tasks, notes = plan_rows(find_kind("documents", [str(tmp_path / "both")]), CleaningConfig())
    assert len(tasks) == 2
    assert any("is of the split test; to take one split alone name its folder" in note for note in notes)
    assert len(find_kind("documents", [str(tmp_path / "both" / "train")])) == 1


def test_an_arrow_file_is_read_as_a_stream_is(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(ROWS[:5])
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as raw, pa.ipc.new_file(raw, table.schema) as writer:
        writer.write_table(table)
    rows, _ = documents_of([str(tmp_path / "a.arrow")], columns=("score",))
    assert [(row["text"], row["columns"]) for row in rows][3] == ("Salt 3.", '{"score": 0.3}')


def test_parts_of_bertdata_are_no_documents(tmp_path: Path) -> None:
    (tmp_path / "counts-00000.arrow").touch()
    (tmp_path / "counts-00000.json").touch()
    with pytest.raises(InputError, match="parts that bertdata wrote on its way"):
        find_kind("documents", [str(tmp_path)])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pa.table({"input_ids": [[1, 2]], "example_id": [1]}), "holds tokens .* and no text; expected documents"),
        (pa.table({"text": [[1, 2]]}), "the column 'text' holds list<.*expected strings"),
        (pa.table({"words": ["Salt"]}), "has no column 'text'; its columns are 'words'"),
    ],
)
def test_a_file_without_text_is_refused(table: pa.Table, words: str, tmp_path: Path) -> None:
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as raw, pa.ipc.new_stream(raw, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match=words):
        documents_of([str(tmp_path / "a.arrow")])


def test_a_file_that_was_cut_off_is_refused(folder: Path, tmp_path: Path) -> None:
    data = (folder / "data-00000-of-00002.arrow").read_bytes()
    (tmp_path / "cut.arrow").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="is not a whole Arrow file"):
        documents_of([str(tmp_path / "cut.arrow")])


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("stream", [True, False])
def test_offsets_that_point_elsewhere_are_an_error_that_names_the_file(lie: str, stream: bool, tmp_path: Path) -> None:
    path = write_strings(tmp_path / "lying.arrow", LIES[lie], stream=stream)
    with pytest.raises(InputError, match=r"lying\.arrow: is not a whole Arrow file"):
        documents_of([str(path)])


TEXTS = ["Salt is white.", "Iron rusts.", "Salt is white."]


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("name", ["rows.feather", "rows.bin", "rows", "rows.arrow", "table.odd", "stream.odd"])
def test_tables_are_known_by_their_first_bytes_where_their_name_says_nothing(
    tmp_path: Path, name: str, categories: bool
) -> None:
    """Categories are what pandas and polars write columns of few values as."""
    column = pa.array(TEXTS)
    table = pa.table({"text": column.dictionary_encode() if categories else column})
    path = tmp_path / name
    if name == "table.odd":
        pq.write_table(table, path)
    elif name == "stream.odd":
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
    else:
        feather.write_feather(table, path, compression="uncompressed" if name == "rows" else "zstd")
    rows, _ = documents_of([str(path)])
    assert [row["text"] for row in rows] == TEXTS


def test_categories_of_numbers_are_no_text(tmp_path: Path) -> None:
    feather.write_feather(pa.table({"text": pa.array([1, 2]).dictionary_encode()}), tmp_path / "rows.feather")
    with pytest.raises(InputError, match="the column 'text' holds int64"):
        documents_of([str(tmp_path / "rows.feather")])
