from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.sources.separated import CSV
from tests.sources.read import documents_of

FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)


def texts_of(path: Path) -> list[str]:
    return [row["text"] for row in documents_of([str(path)])[0]]


def test_a_row_is_a_document_by_the_columns_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('id,title,text\n7,Salt,"It is white, and ""old"".\n\nIt dissolves."\n,Water,It flows.\n')
    rows, [counters] = documents_of([str(path)])
    assert [(row["id"], row["title"], row["text"]) for row in rows] == [
        ("7", "Salt", 'It is white, and "old".\n\nIt dissolves.'),
        ("rows.csv:2", "Water", "It flows."),
    ]
    assert (counters.counts["rows"], counters.counts["documents"], counters.drops) == (2, 2, {})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"text\nSalt.\n"),
        ("a.CSV", b"\xef\xbb\xbftext\r\nSalt.\r\n"),
        ("a.csv", b"n;text\n1;Salt.\n"),
        ("a.tsv", b"n\ttext\n1\tSalt.\n"),
        ("a.csv.gz", gzip.compress(b"text,n\nSalt.,1\n", mtime=0)),
    ],
)
def test_separators_marks_and_compressions_are_known(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert texts_of(tmp_path / name) == ["Salt."]


def test_a_file_is_one_range_however_large(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("text\n" + "It rained.\n" * 1000)
    assert list(CSV.ranges(str(path), 100, "text")) == [(0, 11_005, 11_005)]


def test_a_web_page_under_the_name_of_a_table_is_refused_by_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("<!DOCTYPE html>\n<p>text, and more\n")
    with pytest.raises(InputError, match="is HTML; expected text"):
        documents_of([str(tmp_path / "rows.csv")])


@given(st.lists(st.tuples(FIELD, FIELD), max_size=8))
def test_what_csv_writes_is_read(rows: list[tuple[str, str]]) -> None:
    import tempfile

    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["title", "text"])
    writer.writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "rows.csv").write_text(file.getvalue(), newline="")
        found, [counters] = documents_of([str(path)])
        lines = [json.dumps({"title": title, "text": text}) + "\n" for title, text in rows]
        (as_json := Path(folder) / "rows.jsonl").write_text("".join(['{"text": ""}\n', *lines]))
        expected, [_] = documents_of([str(as_json)])
    assert [(row["title"], row["text"]) for row in found] == [(row["title"], row["text"]) for row in expected]
    assert counters.counts.get("rows", 0) == len(rows)


def test_a_line_with_other_fields_is_dropped_and_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("n,text\n1,Salt.\n2\n3,a,b\n\n4,Water.\n")
    rows, [counters] = documents_of([str(path)])
    assert [row["text"] for row in rows] == ["Salt.", "Water."]
    assert counters.drops == {"a line with more or fewer fields than the first": 2}
    assert [one["place"] for one in counters.details["broken"]] == [2, 3]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'text,n\n"Salt.,1\nWater.,2\n', "cannot be read after line .*quotes in them written twice"),
        (b'text\n"Salt" and more\n', "cannot be read after line"),
        (b"text\nCaf\xe9\n", r"is not UTF-8 \(byte 0xe9\); convert it, as with: iconv"),
        (b"text,text\na,b\n", "several columns of the name 'text' in its first line"),
        (b"words,n\na,1\n", r"has no column 'text'; its columns are 'words', 'n'"),
    ],
)
def test_what_cannot_be_read_is_told(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(InputError, match=words):
        documents_of([str(tmp_path / "rows.csv")])


def test_a_column_of_numbers_holds_numbers_for_conditions(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("text,score,part\nSalt.,3,7\nWater.,,b\nSea.,-.5,8\n")
    rows, _ = documents_of([str(tmp_path / "rows.csv")], columns=("score", "part"))
    kept = [json.loads(row["columns"]) for row in rows]
    assert kept == [{"score": 3, "part": "7"}, {"part": "b"}, {"score": -0.5, "part": "8"}]


def test_a_word_after_a_thousand_numbers_is_refused_with_its_row(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("text,score\n" + "Salt.,3\n" * 1000 + "Water.,many\n")
    with pytest.raises(InputError, match=r"'score' holds 'many' in row 1,001, and numbers in the rows before"):
        documents_of([str(tmp_path / "rows.csv")], columns=("score",))
