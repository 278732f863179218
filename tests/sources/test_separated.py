from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.documents import paragraphs
from bertdata.engine.parts import Task
from bertdata.errors import InputError
from bertdata.io import bounded_lines, separated_lines
from bertdata.io.separated_lines import rows_of
from bertdata.sources import json_lines
from bertdata.sources.formats import write_documents
from bertdata.sources.separated import CSV
from bertdata.sources.settings import CleaningConfig
from tests.sources.planned import plan_rows
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


@pytest.mark.parametrize("quotes", separated_lines.QUOTES)
def test_a_line_that_declares_the_separator_is_no_row_and_counts_as_a_line(quotes: str) -> None:
    lines = ["sep=;\n", "n;text, or none\n", "\n", "1;Salt\n"]
    assert list(rows_of(iter(lines), "rows.csv", quotes=quotes)) == [(2, ["n", "text, or none"]), (4, ["1", "Salt"])]
    assert list(rows_of(iter(lines[:1]), "rows.csv", quotes=quotes)) == []
    assert list(rows_of(iter([]), "rows.csv", quotes=quotes)) == []
    assert list(rows_of(iter(["sep=;x\n"]), "rows.csv", quotes=quotes)) == [(1, ["sep=", "x"])]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"text\nSalt.\n"),
        ("a.CSV", b"\xef\xbb\xbftext\r\nSalt.\r\n"),
        ("a.csv", b"n;text\n1;Salt.\n"),
        ("a.csv", b"n|text\n1|Salt.\n"),
        ("a.csv", b"sep=;\r\nn;text\r\n1;Salt.\r\n"),
        ("a.csv", b'\xef\xbb\xbf"sep=\t"\nn\ttext\n1\t"Salt."\n'),
        ("a.csv", b"SEP=,\nn,text\n1,Salt.\n"),
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
        documents, [counters] = documents_of([str(path)])
        lines = [json.dumps({"title": title, "text": text}) + "\n" for title, text in rows]
        (as_json := Path(folder) / "rows.jsonl").write_text("".join(['{"text": ""}\n', *lines]))
        expected, [_] = documents_of([str(as_json)])
    assert [(row["title"], row["text"]) for row in documents] == [(row["title"], row["text"]) for row in expected]
    assert counters.counts.get("rows", 0) == len(rows)


def test_a_line_with_other_fields_is_dropped_and_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("n,text\n1,Salt.\n2\n3,a,b\n\n4,Water.\n")
    rows, [counters] = documents_of([str(path)])
    assert [row["text"] for row in rows] == ["Salt.", "Water."]
    assert counters.drops == {"a line with more or fewer fields than the first": 2}
    assert [entry["place"] for entry in counters.details["broken"]] == [2, 3]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'text,n\n"Salt.,1\nWater.,2\n', "cannot be read after line .*quotes in them written twice"),
        (b'text\n"Salt" and more\n', "cannot be read after line"),
        (b"text\nCaf\xe9\n", r"is not UTF-8 \(byte 0xe9\), it fits cp1252; `encoding` cp1252 reads"),
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


def rows_with(path: Path, quotes: str) -> tuple[Task, list[dict[str, Any]]]:
    """Return the task of a file whose quotes are read in this way, and its documents."""
    [task] = plan_rows([str(path)], CleaningConfig(csv_quotes=quotes))[0]
    write_documents(task, file := io.BytesIO())
    return task, pq.read_table(io.BytesIO(file.getvalue())).to_pylist()


def unquoted(separator: str, columns: int, quoted: dict[int, str], rows: int = 300) -> str:
    """Return a table of rows without quotes but in the fields of `quoted`, which are at the end of their rows."""
    names = [*(f"c{number}" for number in range(columns - 1)), "text"]
    lines = [separator.join(names)]
    for number in range(rows):
        text = quoted.get(number, f"it rained on day {number}")
        lines.append(separator.join([*(f"{number}" for _ in range(columns - 1)), text]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("name", "separator"), [("a.tsv", "\t"), ("a.csv", ","), ("b.csv", ";")])
@pytest.mark.parametrize("columns", [2, 3, 6])
def test_stray_quotes_that_would_make_one_field_of_many_rows_are_refused_by_their_line(
    name: str, separator: str, columns: int, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(unquoted(separator, columns, {20: '"Yes he said', 270: 'and no more"'}))
    with pytest.raises(
        InputError, match=r"begins with a double quote in line 22 holds lines that .* `csv_quotes` none;"
    ):
        texts_of(path)
    task, rows = rows_with(path, "none")
    assert len(rows) == 300
    assert rows[20]["text"] == '"Yes he said'
    assert rows[270]["text"] == 'and no more"'
    other, rows = rows_with(path, "unchecked")
    assert other.fingerprint != task.fingerprint
    assert len(rows) == 50


LIST = "Paris, France\nRome, Italy\nBerlin, Germany\nMadrid, Spain\nLisbon, Portugal\nOslo, Norway\n" * 3
PROSE = "It rained, and nobody went out.\nThe clock, which was old, struck.\n\nHe rose.\n" * 200


@pytest.mark.parametrize("text", [LIST, PROSE, "One\nword\na\nline\n" * 99, 'He said "no",\nand left.\n' * 99])
@pytest.mark.parametrize(("name", "separator"), [("a.tsv", "\t"), ("a.csv", ",")])
def test_a_field_of_many_lines_is_read(text: str, name: str, separator: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerows([["id", "text"], *([number, f"{number} {text}"] for number in range(20))])
    assert texts_of(path) == [paragraphs(f"{number} {text}") for number in range(20)]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_quotes_inside_of_a_field_are_text(name: str, tmp_path: Path) -> None:
    separator = "\t" if name == "a.tsv" else ","
    (tmp_path / name).write_text(f'id{separator}text\n1{separator}a 5" nail and a 6" one\n2{separator}it "rained"\n')
    assert texts_of(tmp_path / name) == ['a 5" nail and a 6" one', 'it "rained"']


def test_names_in_quotes_are_those_of_the_file_without_quotes(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('id\t"text"\n1\tSalt.\n')
    with pytest.raises(InputError, match=r"""has no column 'text'; its columns are 'id', '"text"'"""):
        rows_with(tmp_path / "a.tsv", "none")


@given(st.lists(st.tuples(FIELD, FIELD, FIELD), max_size=8), st.sampled_from([",", "\t"]))
def test_rows_are_those_of_csv_and_pyarrow(rows: list[tuple[str, str, str]], separator: str) -> None:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([("a", "b", "c"), *rows])
    text = buffer.getvalue()
    by_us = [fields for _, fields in rows_of(iter(io.StringIO(text, newline="")), "a.csv", separator)]
    assert by_us == [list(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator)]
    options = pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    convert = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys("abc", pa.string()), strings_can_be_null=False)
    table = pyarrow.csv.read_csv(io.BytesIO(text.encode()), parse_options=options, convert_options=convert)
    assert [list(row.values()) for row in table.to_pylist()] == by_us[1:]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.csv.gz", "a.jsonl.gz", "b.jsonl"])
@pytest.mark.parametrize("filler", [b"\0", b"x"])
def test_a_file_without_line_ends_is_refused_with_its_line(
    name: str, filler: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_lines, "LONGEST", 1 << 16)
    for module in (separated_lines, json_lines):
        monkeypatch.setattr(module, "LONGEST", 1 << 16)
    start = b'{"text": "Salt."}\n' if name == "b.jsonl" else b""
    data = start + filler * (1 << 18)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    line = 2 if start else 1
    problem = f"{name}: what begins in line {line} goes on for over 0 MiB; expected"
    if filler == b"\0" and "json" not in name:  # lines of JSON are looked at one by one, other text as a whole
        problem = rf"{name}, byte 0: is not UTF-8 \(many bytes are NUL, as in UTF-16\), and fits no encoding"
    with pytest.raises(InputError, match=problem):
        documents_of([str(tmp_path / name)])


def test_a_row_of_many_lines_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separated_lines, "LONGEST", 1 << 10)
    (tmp_path / "a.csv").write_text('text,n\nSalt.,1\n"' + "It rained.\n" * 200 + '",2\n')
    with pytest.raises(InputError, match="what begins in line 3 goes on for over"):
        texts_of(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "text",
    ['1, "a", "b, c"\n', 'a,b\n1, "x"\n', 'a;b\n1; "x; y"\n', ' "a",b\n1,2\n'],
    ids=["all", "one", "semicolons", "names"],
)
def test_a_space_before_quotes_is_refused_and_the_command_of_the_message_takes_it_away(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"has a space before a quote \(' \"") as caught:
        list(rows_of(iter(text.splitlines(keepends=True)), "x.csv"))
    program = re.findall(r'python -c "(.*)" < FILE > NEW', str(caught.value))[0]
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    exec(program, {})
    written = capsys.readouterr().out
    meant = list(csv.reader(io.StringIO(text), delimiter=";" if ";" in text else ",", skipinitialspace=True))
    assert [fields for _, fields in rows_of(iter(written.splitlines(keepends=True)), "new.csv")] == meant


@pytest.mark.parametrize("value", [' "x"', ' "x" and, "y"', 'He said, "x', ", ", ' a, "', ' "'])
def test_a_quoted_field_may_hold_a_space_and_a_quote(value: str) -> None:
    file = io.StringIO()
    csv.writer(file).writerows([["a", "b"], [value, "1"], ["2", value]])
    rows = rows_of(iter(file.getvalue().splitlines(keepends=True)), "x.csv")
    assert [fields for _, fields in rows] == [["a", "b"], [value, "1"], ["2", value]]
