"""Rows of the published forms of Wikipedia, as files of them hold these, and the documents that are read of files."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bertdata.engine.parts import Counters
from bertdata.sources.formats import write_documents
from bertdata.sources.settings import CleaningConfig
from tests.sources.planned import plan_rows

Row = dict[str, Any]


def enterprise(title: str, wikitext: str = "", html: str = "", **others: Any) -> Row:
    """Return a line of Wikimedia Enterprise."""
    return {
        "name": title,
        "identifier": 7,
        "url": f"https://en.wikipedia.org/wiki/{title}",
        "namespace": {"identifier": 0},
        "in_language": {"identifier": "en"},
        "is_part_of": {"identifier": "enwiki"},
        "article_body": {"wikitext": wikitext, "html": html},
        **others,
    }


def section(name: str, *parts: Any) -> Row:
    """Return a section with parts, of which strings are paragraphs."""
    made = [{"type": "paragraph", "value": part} if isinstance(part, str) else part for part in parts]
    return {"type": "section", "name": name, "has_parts": made}


def structured(title: str, *sections: Row, **others: Any) -> Row:
    """Return a row of structured Wikipedia; its objects are JSON text, as in Parquet."""
    url = f"https://fr.wikipedia.org/wiki/{title}"
    return {"name": title, "identifier": 9, "url": url, "sections": json.dumps(sections), **others}


def finewiki(title: str, text: str, **others: Any) -> Row:
    """Return a row of FineWiki."""
    row = {"id": "enwiki/5", "wikiname": "enwiki", "page_id": 5, "title": title, "url": "", "in_language": "en"}
    return {**row, "text": text, "has_math": False, "wikitext": "", **others}


def json_lines(path: Path, *rows: Row) -> str:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def parquet(path: Path, *rows: Row) -> str:
    """Write rows as Parquet."""
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return str(path)


def read(
    path: str, column: str = "text", columns: tuple[str, ...] = (), config: CleaningConfig | None = None
) -> tuple[list[Row], Counters]:
    """Return the documents of a file that is one range, and what was counted."""
    [task], _ = plan_rows([path], config or CleaningConfig(), column, columns)
    file = io.BytesIO()
    counters = write_documents(task, file)
    rows: list[Row] = pq.read_table(pa.BufferReader(file.getvalue())).to_pylist()
    return rows, counters


def notes(path: str, column: str = "text") -> Sequence[str]:
    """Return what is said of a file when it is planned."""
    return plan_rows([path], CleaningConfig(), column)[1]
