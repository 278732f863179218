"""Articles of Wikimedia Enterprise: wikitext as in a dump, HTML where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.sources.settings import CleaningConfig
from bertdata.wikitext.clean import clean_wikitext
from tests.sources.wikipedia.published.articles import enterprise, json_lines, parquet, read

WIKITEXT = "{{Infobox|x=1}}'''Salt''' is {{convert|5|km}} old.<ref>x</ref>\n\n== See also ==\nSea.\n\n[[Category:Salt]]"


def test_wikitext_is_cleaned_as_that_of_a_dump(tmp_path: Path) -> None:
    [row], counters = read(json_lines(tmp_path / "a.ndjson", enterprise("Salt", WIKITEXT, "<p>Salt of HTML.</p>")))
    assert row["text"] == clean_wikitext(WIKITEXT, title="Salt") == "Salt is 5 kilometres (3.1 mi) old."
    assert (row["id"], row["title"]) == ("enwiki:7", "Salt")
    assert counters.counts["rows"] == counters.counts["documents"] == 1


def test_objects_may_be_json_text_as_in_parquet(tmp_path: Path) -> None:
    row = {
        name: json.dumps(value) if isinstance(value, dict) else value
        for name, value in enterprise("Salt", "Salt.").items()
    }
    assert read(parquet(tmp_path / "a.parquet", row))[0][0]["text"] == "Salt."
    assert read(parquet(tmp_path / "b.parquet", enterprise("Salt", "Salt.")))[0][0]["id"] == "enwiki:7"


def test_what_is_no_article_is_counted_as_for_dumps(tmp_path: Path) -> None:
    rows = [
        enterprise("Old salt", "#REDIRECT [[Salt]]"),
        enterprise("Talk:Salt", "Is it old?", namespace={"identifier": 1}),
        enterprise("Mercury", "Mercury may be:\n* a planet\n{{disambiguation}}"),
        enterprise("List of salts", "These are:\n* Halite\n* Sylvite"),
        enterprise("Salt", "It was.", event={"type": "delete"}),
        enterprise("Salt"),
        {**enterprise("Salt"), "article_body": None},
    ]
    documents, counters = read(json_lines(tmp_path / "a.ndjson", *rows))
    assert documents == []
    assert counters.drops == {
        "redirect": 1, "not an article": 1, "disambiguation": 1, "list": 1, "deleted": 1, "no text": 2
    }  # fmt: skip


def test_categories_of_any_wiki_are_hidden_by_the_name_that_its_records_give(tmp_path: Path) -> None:
    row = enterprise("Sāls", "Sāls ir sens.\n\n[[Kattegoorija:Sāls|Sāls]]", categories=[{"name": "Kattegoorija:Sāls"}])
    assert read(json_lines(tmp_path / "a.ndjson", row))[0][0]["text"] == "Sāls ir sens."
    del row["categories"]
    assert read(json_lines(tmp_path / "b.ndjson", row))[0][0]["text"] == "Sāls ir sens.\n\nSāls"


def test_lone_surrogates_are_replaced(tmp_path: Path) -> None:
    [row], _ = read(json_lines(tmp_path / "a.ndjson", enterprise("Salt \ud800", "Salt \ud800 is old.")))
    assert (row["title"], row["text"]) == ("Salt \ufffd", "Salt \ufffd is old.")


def test_a_users_templates_are_used(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("altitude = {1} m\n")
    path = json_lines(tmp_path / "a.ndjson", enterprise("Salt", "It is {{altitude|12}} high."))
    own = CleaningConfig(templates=str(tmp_path / "own.txt"))
    assert read(path, config=own)[0][0]["text"] == "It is 12 m high."
    (tmp_path / "own.txt").write_text("altitude = {1} metres\n")
    assert read(path, config=own)[0][0]["text"] == "It is 12 metres high."


def test_ids_follow_the_language_where_no_wiki_is_named(tmp_path: Path) -> None:
    rows = [
        {**enterprise("A", "A is."), "is_part_of": None, "in_language": {"identifier": "zh-yue"}},
        {**enterprise("B", "B is."), "is_part_of": None, "in_language": None},
        enterprise("C", "C is.", is_part_of={"identifier": ""}),
        enterprise("D", "D is.", is_part_of={"identifier": 3}),
        {**enterprise("E", "E is."), "identifier": None},
    ]
    documents, _ = read(json_lines(tmp_path / "a.ndjson", *rows))
    assert [row["id"] for row in documents][:4] == ["zh_yuewiki:7", "enwiki:7", "enwiki:7", "enwiki:7"]
    assert documents[4]["id"].startswith("a.ndjson:")


def test_numbers_may_be_floats_or_text_as_columns_with_gaps_have_them(tmp_path: Path) -> None:
    numbers = (7.0, "7", "7.0", float("nan"), 7.5, True)
    rows = [{**enterprise("A", "A is."), "identifier": number} for number in numbers]
    documents, _ = read(json_lines(tmp_path / "a.ndjson", *rows))
    assert [row["id"] for row in documents] == ["enwiki:7"] * 3 + [
        f"a.ndjson:{row['id'].split(':')[1]}" for row in documents[3:]
    ]
    others = [enterprise("A", "A is.", namespace={"identifier": number}) for number in (14, 14.0, "14", "14.0", -1.0)]
    articles = [enterprise("A", "A is.", namespace=value) for value in ({"identifier": 0.0}, {"identifier": "0"}, None)]
    documents, counters = read(json_lines(tmp_path / "b.ndjson", *others, *articles))
    assert (len(documents), counters.drops) == (3, {"not an article": 5})


def test_html_is_read_where_there_is_no_wikitext(tmp_path: Path) -> None:
    pytest.importorskip("selectolax")
    rows = [
        enterprise("Salt", html="<section><p>Salt is old.</p><ul><li>Rock</li></ul></section>"),
        enterprise("Mercury", html="<p>It may be:</p>", templates=[{"name": "Template:Disambiguation"}]),
        enterprise("Old salt", html='<link rel="mw:PageProp/redirect" href="./Salt"><p>x</p>'),
    ]
    documents, counters = read(json_lines(tmp_path / "a.ndjson", *rows))
    assert [row["text"] for row in documents] == ["Salt is old."]
    assert counters.drops == {"disambiguation": 1, "redirect": 1}
