"""Flags of documents by which none of the files that are given is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, InputError
from bertdata.sources.kinds import settings_read

ROW = json.dumps({"text": "A lamp."})
ARTICLE = json.dumps({"name": "Lamp", "identifier": 1, "article_body": {"html": "<p>A lamp.</p>"}, "url": "u"})


@pytest.mark.parametrize(
    ("name", "content", "flags", "read_by"),
    [
        ("a.jsonl", ROW, ["--min-words", "5"], "tables of Wikipedia's articles.* --where 'tokens >= 100'"),
        ("a.jsonl", ROW, ["--keep-lists"], "tables of Wikipedia's articles"),
        ("a.jsonl", ROW, ["--whole-files"], "plain text, as .txt"),
        ("a.jsonl", ROW, ["--csv-quotes", "none"], "tables as .csv and .tsv"),
        ("a.csv", "text\nA lamp.\n", ["--variant", "zh-hant"], "tables of Wikipedia's articles"),
        ("a.txt", "A lamp.\n", ["--text-column", "body"], "tables"),
    ],
)
def test_a_flag_for_other_files_is_refused(
    name: str, content: str, flags: list[str], read_by: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    build = ["build", "--documents", str(tmp_path / name), "--output", str(tmp_path / "out"), *flags]
    why = f"{flags[0]} has no effect: it is for {read_by}.*no file of --documents is one"
    with pytest.raises(ConfigError, match=why):
        dispatch(build)
    assert not (tmp_path / "out").exists()


def test_a_flag_that_one_of_several_files_is_read_by_is_taken(tmp_path: Path) -> None:
    for name, content in {"article.jsonl": ARTICLE, "row.jsonl": ROW, "text.txt": "A lamp.\n"}.items():
        (tmp_path / name).write_text(content)
    article, row, text = (str(tmp_path / name) for name in ("article.jsonl", "row.jsonl", "text.txt"))
    assert {"min_words", "keep_lists", "text_column"} <= settings_read("documents", [row, article])
    assert not {"min_words", "keep_lists"} & settings_read("documents", [row, text])
    assert "whole_files" in settings_read("documents", [row, text])


def test_a_flag_of_dumps_is_taken_beside_documents(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(ROW)
    (tmp_path / "a.xml").write_text("<mediawiki></mediawiki>")
    inputs = ["--documents", str(tmp_path / "a.jsonl"), "--wikipedia", str(tmp_path / "a.xml")]
    with pytest.raises(InputError, match="there is no such tokenizer"):  # the next thing that is looked at
        dispatch(["build", *inputs, "--output", str(tmp_path / "out"), "--min-words", "5", "--vocab", "nowhere"])
