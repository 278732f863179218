"""FineWiki: the marks of Markdown are taken out of the text; its wikitext can be read in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.sources.wikipedia.published.form import ArticleRules, plain
from bertdata.sources.wikipedia.published.markdown import FINEWIKI, prose_of_markdown
from tests.sources.wikipedia.published.articles import finewiki, json_lines, notes, parquet, read


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("# Salt\nIt is old.\nIt is dear.\n\n## Uses\n\nFood.", "It is old.\n\nIt is dear.\n\nFood."),
        ("Salt:\n- rock\n* sea\n+ lake\n  1. one\n2) two\nThere.", "Salt:\n\nThere."),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nSalt.", "Salt."),
        ("Salt.\n## References ##\nNo.\n### More\nNo.\n## Age\nOld.", "Salt.\n\nOld."),
        ("Salt.\n## **See also**\nNo.\n# Other\nYes.", "Salt.\n\nYes."),
        ("**Salt** is __old__ and [dear](http://x).\n> Said *he*.\n---\n-", "Salt is old and dear.\n\nSaid *he*."),
        ("Before.\n```py\nx = 1\n```\nAfter.\n$$\n\\frac 1 2\n$$\nEnd.", "Before.\n\nAfter.\n\nEnd."),
        ("1990 was. -5 degrees. A #1 hit. 3.5 is.", "1990 was. -5 degrees. A #1 hit. 3.5 is."),
    ],
)
def test_lines_that_are_prose_are_kept(text: str, prose: str) -> None:
    assert plain(list(prose_of_markdown(text))) == prose


def test_formulas_are_taken_out_only_of_pages_that_have_some(tmp_path: Path) -> None:
    text = "So $\\frac{1}{2}$, or $x+1$, costs $5 and $6."
    shown = "So $$\\sum$$, or $$y+1$$, is."
    rows = [finewiki("A", text), finewiki("B", text, has_math=True), finewiki("C", shown, has_math=True)]
    documents, _ = read(json_lines(tmp_path / "a.jsonl", *rows))
    assert [row["text"] for row in documents] == [text, "So, or x+1, costs $5 and $6.", "So, or y+1, is."]


def test_rows_without_text_are_dropped(tmp_path: Path) -> None:
    _, counters = read(json_lines(tmp_path / "a.jsonl", {**finewiki("A", ""), "text": None}, finewiki("B", "# B")))
    assert counters.drops == {"no prose": 1, "no text": 1}


def test_a_row_is_an_article_with_the_id_of_its_page(tmp_path: Path) -> None:
    rows = [
        finewiki("Salt", "# Salt\nOld."),
        finewiki("Salt (disambiguation)", "x"),
        finewiki("List of salts", "x\n- y"),
    ]
    [row], counters = read(parquet(tmp_path / "a.parquet", *rows))
    assert (row["id"], row["title"], row["text"]) == ("enwiki:5", "Salt", "Old.")
    assert counters.drops == {"disambiguation": 1, "list": 1}


def test_its_wikitext_is_cleaned_where_it_is_asked_for(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", finewiki("Salt", "# Salt", wikitext="'''Salt''' is [[old]]."))
    assert read(path, "wikitext")[0][0]["text"] == "Salt is old."
    [note] = notes(path)
    assert "reads 'text' (finewiki); for the other give --text-column wikitext" in note


@pytest.mark.parametrize(("number", "expected"), [(7, "x:7"), (7.0, "x:7"), ("7", "x:7"), (float("nan"), "x/8")])
def test_the_number_of_a_page_may_be_a_float_or_text(number: object, expected: str) -> None:
    row = {"id": "x/8", "wikiname": "x", "page_id": number, "in_language": "en", "text": "It is.", "title": "A"}
    assert FINEWIKI.article(row, ArticleRules()).id == expected
