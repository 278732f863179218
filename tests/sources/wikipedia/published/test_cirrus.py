"""The dump of a search index, in two lines for each page, is read as articles: their text, or their wikitext."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.errors import InputError
from bertdata.sources.formats import write_documents
from tests.sources.planned import plan_documents
from tests.sources.wikipedia.published.articles import Row, enterprise, json_lines, notes, read


def index_dump(path: Path, *rows: Row, kind: str = "_doc") -> str:
    """Write rows as the dumps of CirrusSearch have them: before each a line with its id."""
    lines = [
        line for number, row in enumerate(rows, 12) for line in ({"index": {"_type": kind, "_id": str(number)}}, row)
    ]
    return json_lines(path, *lines)


def page(title: str, text: str, **others: object) -> Row:
    return {"namespace": 0, "wiki": "enwiki", "title": title, "language": "en", "text": text, **others}


def test_a_page_is_its_text_with_the_id_of_the_line_before_it(tmp_path: Path) -> None:
    path = index_dump(
        tmp_path / "c.json",
        page("Rome", "Rome is a city.  It is old."),
        page("Ostia", "Ostia is a port.", page_id=7),
        page("Talk:Rome", "Hello.", namespace=1),
        page("List of ports", "Ostia."),
        {**page("None", ""), "text": None},
    )
    rows, counters = read(path)
    assert [(row["id"], row["title"], row["text"]) for row in rows] == [
        ("enwiki:12", "Rome", "Rome is a city. It is old."),
        ("enwiki:7", "Ostia", "Ostia is a port."),
    ]
    assert counters.counts["rows"] == 5
    assert counters.drops == {"not an article": 1, "list": 1, "no text": 1}


def test_the_wikitext_is_cleaned_in_the_language_of_the_page(tmp_path: Path) -> None:
    source = "'''Olinda''' é um município. [[Arquivo:A.jpg|miniatura|Rua]] É antiga."
    path = index_dump(tmp_path / "c.json", page("Olinda", "x", source_text=source, language="pt", wiki="ptwiki"))
    assert read(path, "source_text")[0][0]["text"] == "Olinda é um município. É antiga."
    [note] = notes(path)
    assert "reads 'text' (cirrus); for the other give --text-column source_text" in note


def test_each_cut_of_the_file_gives_each_page_with_its_id(tmp_path: Path) -> None:
    path = index_dump(tmp_path / "c.jsonl", *(page(f"Town {n}", f"It is town {n}. " * 9) for n in range(40)))
    whole = [row["id"] for row in read(path)[0]]
    assert whole == [f"enwiki:{number}" for number in range(12, 52)]
    for size in (300, 777, 2000):
        ids: list[str] = []
        for task in plan_documents([path], "out", size, "text"):
            file = io.BytesIO()
            write_documents(task, file)
            ids += pq.read_table(pa.BufferReader(file.getvalue()))["id"].to_pylist()
        assert sorted(ids) == sorted(whole)


def test_rows_of_an_index_of_something_else_are_read_too(tmp_path: Path) -> None:
    path = index_dump(tmp_path / "c.jsonl", {"body": "It rained."}, kind="page")
    assert read(path, "body")[0][0]["text"] == "It rained."
    with pytest.raises(InputError, match="has no column 'text'; its columns are 'body': name"):
        notes(path)


def test_a_short_first_row_does_not_hide_the_form_of_a_file(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "e.ndjson", {"name": "x"}, enterprise("Salt", "'''Salt''' is old."))
    assert read(path)[0][0]["text"] == "Salt is old."
    assert json.loads(Path(path).read_text().splitlines()[0]) == {"name": "x"}
