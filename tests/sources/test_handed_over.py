"""Rows in memory become a file beside a build, written once, and are built as that file is."""

from __future__ import annotations

import datetime
import json
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bertdata
from bertdata.errors import BertDataError, ConfigError, InputError
from bertdata.io import files
from bertdata.sources.handed_over import handed_over
from tests.pipelines.builds import digests
from tests.shards.build import text_of

ROWS = [{"id": f"d{number}", "text": text_of(number), "score": number % 5} for number in range(60)]
SETTINGS: dict[str, Any] = {"vocab": "bertdata-30k-uncased", "workers": 1, "max_seq_length": 64}


def paths_of(given: Any, output: str, text_column: str = "text") -> list[str]:
    """Write rows, and return the paths that documents are given by."""
    paths = handed_over(given, output, text_column)
    with paths.written(text_column) as keep:
        keep()
    return paths.paths


def dataset(rows: list[dict[str, Any]]) -> Any:
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset.from_list(rows)


def shuffled(rows: list[dict[str, Any]]) -> Any:
    return dataset(rows[::-1]).select(range(len(rows) - 1, -1, -1))


def frame(rows: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(rows)


def reader(rows: list[dict[str, Any]]) -> pa.RecordBatchReader:
    return pa.Table.from_pylist(rows).to_reader(max_chunksize=7)


def generator(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield from rows


@pytest.mark.parametrize("make", [dataset, shuffled, frame, pa.Table.from_pylist, reader])
def test_tables_are_written_as_parquet_with_their_columns(
    make: Callable[[list[dict[str, Any]]], Any], tmp_path: Path
) -> None:
    [path] = paths_of(make(ROWS), str(tmp_path / "corpus"))
    assert path == str(tmp_path / "corpus-documents" / "documents.parquet")
    assert pq.read_table(path).to_pylist() == ROWS


@pytest.mark.parametrize("make", [list, generator])
def test_rows_of_python_are_written_as_json_lines(make: Callable[[list[dict[str, Any]]], Any], tmp_path: Path) -> None:
    [path] = paths_of(make(ROWS), f"{tmp_path}/corpus/")
    assert path == str(tmp_path / "corpus-documents" / "documents.jsonl")
    assert [json.loads(line) for line in Path(path).read_text().splitlines()] == ROWS


def test_a_text_is_a_row_and_dates_and_numbers_of_numpy_are_plain(tmp_path: Path) -> None:
    [path] = paths_of(iter(["Salt.", {"body": "Sea.", "on": datetime.date(2024, 2, 1), "n": np.int64(3)}]), "c", "body")
    try:
        rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    finally:
        os.unlink(path)
        os.rmdir("c-documents")
    assert rows == [{"body": "Salt."}, {"body": "Sea.", "on": "2024-02-01", "n": 3}]


def test_paths_stay_and_sources_and_lists_have_files_of_their_own(tmp_path: Path) -> None:
    given = {"news": ["a.jsonl", Path("b.parquet"), pa.table({"text": ["Salt."]})], "web": ROWS[:2]}
    assert paths_of(given, f"{tmp_path}/c") == [
        "news=a.jsonl",
        "news=b.parquet",
        f"news={tmp_path}/c-documents/news.2.parquet",
        f"web={tmp_path}/c-documents/web.jsonl",
    ]
    assert paths_of("a/*.jsonl", "c") == ["a/*.jsonl"]
    assert paths_of(["a.txt", "web=b.txt"], "c") == ["a.txt", "web=b.txt"]


@pytest.mark.parametrize(
    "kind", [iter, set, lambda paths: dict.fromkeys(paths).keys(), lambda paths: (path for path in paths)]
)
def test_an_iterator_or_a_set_of_paths_gives_paths_and_not_texts(kind: Callable[..., Any], tmp_path: Path) -> None:
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file in files:
        file.write_text("Salt.\n")
    of_each_kind: list[list[Any]] = [[*map(str, files)], files, ["s3://bucket/a.txt"]]
    for given in of_each_kind:
        assert sorted(paths_of(kind(given), f"{tmp_path}/c")) == sorted(map(str, given))
    assert not (tmp_path / "c-documents").exists()


def test_texts_that_begin_with_a_url_or_are_long_stay_texts(tmp_path: Path) -> None:
    for text in ("https://a.b/c has a page.", "Salt. " * 2000, ""):
        [path] = paths_of(iter([text, "Sea."]), f"{tmp_path}/c")
        assert json.loads(Path(path).read_text().splitlines()[0]) == {"text": text}


def test_paths_of_an_iterable_that_is_no_iterator_are_refused(tmp_path: Path) -> None:
    class Paths:
        def __iter__(self) -> Iterator[str]:
            return iter([str(tmp_path)])

    with pytest.raises(
        ConfigError, match=r"documents is Paths and gives the path .* as its first row; expected a list"
    ):
        paths_of(Paths(), f"{tmp_path}/c")


@pytest.mark.parametrize("given", [[], (), {}, {"web": []}, {"web": [], "news": ["Salt is old."]}])
def test_no_rows_are_refused(given: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no rows"):
        paths_of(given, str(tmp_path / "out"))
    with pytest.raises(ConfigError, match=r"documents has the source '../web'"):
        paths_of({"../web": ["Salt."]}, str(tmp_path / "out"))
    assert not [*tmp_path.rglob("*")]


def test_the_same_rows_are_not_written_again_and_others_are(tmp_path: Path) -> None:
    [path] = paths_of(iter(ROWS), f"{tmp_path}/c")
    os.utime(path, ns=(1, 1))
    paths_of(iter(ROWS), f"{tmp_path}/c")
    assert os.stat(path).st_mtime_ns == 1
    paths_of(iter(ROWS[1:]), f"{tmp_path}/c")
    assert os.stat(path).st_mtime_ns > 1
    assert os.listdir(tmp_path / "c-documents") == ["documents.jsonl"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (3, ConfigError, r"documents is int; expected paths, an Arrow table, a dataset, or an iterable"),
        (iter([3]), ConfigError, r"row 1 of documents is int; expected a dict, or a text"),
        ([{"text": "a"}, {"text": {1}}], ConfigError, r"row 2 of documents cannot be written as JSON \(it holds set\)"),
        (iter([]), InputError, r"documents.jsonl: there are no rows"),
        (pa.table({"text": pa.array([], pa.string())}), InputError, r"documents.parquet: there are no rows"),
    ],
)
def test_what_is_no_documents_is_refused_and_leaves_no_file(
    given: Any, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        paths_of(given, f"{tmp_path}/c")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_paths_among_rows_lines_of_json_and_open_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"body": "Salt is white."}\n{"body": "Water is clear."}\n')
    row = {"text": "Salt is white."}
    with path.open() as file:
        cases: list[tuple[Any, str]] = [
            ([row, str(path)], r"row 2 of documents, .* is a path; rows and paths are sources of their own"),
            ([str(path), row], r"item 2 of documents is dict in a list of paths.*a mapping takes both"),
            (
                (line for line in path.read_text().splitlines()),
                r"row 1 of documents, .* is a JSON object; give json.loads",
            ),
            ([file], r"documents is an open file, whose lines would be the texts; give its path, .*rows.jsonl"),
            (file, r"documents is an open file, whose lines would be the texts; give its path, .*rows.jsonl"),
            ([("a", "Salt is white."), ("b", "Water is clear.")], r"item 1 of documents is tuple of strings"),
            ([["id", "text"], ["a", "Salt is white."]], r"item 1 of documents is list of strings"),
            (["Is salt white?\nIt dissolves in water."], r"the string .*, which is no path; texts are given as rows"),
            ("Salt is white, and it dissolves in water very well.", r"the string .*, which is no path"),
            ({"a": ["Salt is white.\n\nIt dissolves."]}, r"the string .*, which is no path"),
        ]
        for given, message in cases:
            with pytest.raises(ConfigError, match=message):
                paths_of(given, f"{tmp_path}/c")
    assert [*tmp_path.iterdir()] == [path]


def test_a_text_like_a_path_or_json_is_given_in_a_dict_and_one_in_braces_is_a_text(tmp_path: Path) -> None:
    texts = [str(tmp_path), '{"a": 1}']
    [path] = paths_of([{"text": text} for text in texts], f"{tmp_path}/c")
    assert [json.loads(line)["text"] for line in Path(path).read_text().splitlines()] == texts
    [path] = paths_of(iter(["{} is empty.", "{it} is not."]), f"{tmp_path}/d")
    assert len(Path(path).read_text().splitlines()) == 2


def test_rows_are_not_written_for_a_build_that_is_refused(tmp_path: Path) -> None:
    settings: dict[str, Any] = SETTINGS | {"max_seq_lenght": 64}
    with pytest.raises(ConfigError, match="did you mean 'max_seq_length'"):
        bertdata.build(tmp_path / "c", documents=ROWS, **settings)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_seq_length": 4}, "`max_seq_length` is 4"),
        ({"mix": {"books": 1}}, "`mix` names books"),
        ({"vocab": "no-such-vocabulary"}, "no-such-vocabulary"),
        ({"where": "scoer > 1"}, "did you mean 'score'"),
        ({"sources": ["web"]}, "`sources` names web"),
    ],
)
def test_a_refused_call_leaves_the_rows_and_the_build_of_an_earlier_one(
    wrong: dict[str, Any], message: str, tmp_path: Path
) -> None:
    [path] = paths_of(ROWS, f"{tmp_path}/c")
    before = {str(path): path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(BertDataError, match=message):
        bertdata.build(tmp_path / "c", documents=ROWS[1:], **SETTINGS | wrong)
    assert {file: os.stat(file).st_mtime_ns for file in before if file == path} == {path: before[path]}
    assert {str(path) for path in tmp_path.rglob("*")} == {*before}
    assert [json.loads(line) for line in Path(path).read_text().splitlines()] == ROWS


def test_rows_that_fail_on_the_way_put_all_files_back(tmp_path: Path) -> None:
    paths_of({"a": ROWS, "b": ROWS}, f"{tmp_path}/c")
    first, second = (f"{tmp_path}/c-documents/{name}.jsonl" for name in "ab")
    before = [(os.stat(path).st_mtime_ns, Path(path).read_bytes()) for path in (first, second)]
    with pytest.raises(ConfigError, match="row 2 of documents is int"):
        paths_of({"a": ROWS[1:], "b": iter([ROWS[0], 3]), "d": ROWS}, f"{tmp_path}/c")
    assert [(os.stat(path).st_mtime_ns, Path(path).read_bytes()) for path in (first, second)] == before
    assert sorted(os.listdir(tmp_path / "c-documents")) == ["a.jsonl", "b.jsonl"]


def test_a_call_that_was_killed_before_it_was_accepted_is_undone_by_the_next(tmp_path: Path) -> None:
    [path] = paths_of(ROWS, f"{tmp_path}/c")
    os.utime(path, ns=(1, 1))
    killed = handed_over(ROWS[1:], f"{tmp_path}/c")
    next(iter(killed.written().gen))
    killed._before.clear()
    paths_of(ROWS, f"{tmp_path}/c")
    assert os.stat(path).st_mtime_ns == 1
    assert os.listdir(tmp_path / "c-documents") == ["documents.jsonl"]


def test_rows_at_a_url_are_put_back_too() -> None:
    output = f"memory://{uuid.uuid4().hex}/c"
    [path] = paths_of(ROWS, output)
    paths = handed_over(ROWS[1:], output)
    with paths.written():
        assert len(files.open_raw(path).read().splitlines()) == len(ROWS) - 1
    assert len(files.open_raw(path).read().splitlines()) == len(ROWS)


@pytest.mark.parametrize("row", [{"text": "Salt is white."}, {"text": "Salt is white." * 50, "id": "a", "score": 3}])
def test_one_row_in_the_place_of_a_list_is_told(row: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"in which 'text' is 'Salt is .*expected a list of rows, as \[\{...\}\]"):
        bertdata.build(tmp_path / "c", documents=row, **SETTINGS)
    (tmp_path / "a.jsonl").write_text("{}")
    assert paths_of({"text": f"{tmp_path}/a.jsonl"}, f"{tmp_path}/c") == [f"text={tmp_path}/a.jsonl"]


def test_a_build_of_rows_is_that_of_the_same_file(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "documents.parquet")
    expected = bertdata.build(
        tmp_path / "file", documents=tmp_path / "documents.parquet", where="score > 1", **SETTINGS
    )
    corpus = bertdata.build(tmp_path / "rows", documents=dataset(ROWS), where="score > 1", **SETTINGS)
    assert digests(tmp_path / "rows") == digests(tmp_path / "file")
    assert corpus["info"] == expected["info"]


def test_a_later_build_in_the_output_takes_the_rows_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bertdata.build(tmp_path / "c", documents={"news": ROWS}, **SETTINGS)
    bertdata.build(tmp_path / "c", documents={"news": iter(ROWS)}, **SETTINGS)
    capsys.readouterr()
    corpus = bertdata.build(tmp_path / "c", mask_unit="word", **SETTINGS)
    assert list(corpus["sources"]) == ["news"]
    assert "read documents" not in capsys.readouterr().err
