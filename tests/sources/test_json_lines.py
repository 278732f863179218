"""Which columns a file of JSON lines has."""

from __future__ import annotations

from pathlib import Path

from bertdata.sources.json_lines import JSON_LINES


def _columns_there(path: Path, *names: str) -> list[str]:
    return [name for name in names if JSON_LINES.has_column(str(path), name)]


def test_a_column_is_that_of_an_object_and_not_a_word_of_another_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 1}\n["url", "object"]\n"a text about an \\"object\\""\n{"text": "the \\"url\\" here"}\n')
    assert JSON_LINES.columns_of(str(path)) == ["id", "text"]
    assert _columns_there(path, "id", "text", "url", "object") == ["id", "text"]
    path.write_text('{"id": 1}\n\n{"\\u00e4": 2}\n{"ö": 3}\n', encoding="utf-8")
    assert _columns_there(path, "ä", "ö", "o", "ü") == ["ä", "ö"]
