"""Structured exports: the paragraphs of sections become a document, everything else of them is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.sources.wikipedia.published import sections
from bertdata.sources.wikipedia.published.sections import section_paragraphs
from tests.sources.wikipedia.published.articles import json_lines, parquet, read, section, structured

LIST = {"type": "list", "has_parts": [{"type": "list_item", "value": "Rock salt"}]}
TABLE = {"type": "table", "value": "1 | 2"}
PICTURE = {"type": "image", "value": "A salt pan"}
SALT = structured(
    "Sel",
    section("Abstract", "Le sel\u00a0est vieux.", LIST, {"type": "field", "name": "Type", "value": "minéral"}),
    section("Usages", section("Cuisine", "On sale  la soupe.", TABLE), "Et la route.", PICTURE),
    section("Voir aussi", "Rien ici.", section("Livres", "Ni ici.")),
    section("Histoire", "( )", "On le vend."),
)
PROSE = "Le sel est vieux.\n\nOn sale la soupe.\n\nEt la route.\n\nOn le vend."


@pytest.mark.parametrize("write", [json_lines, parquet])
def test_paragraphs_of_all_sections_are_read_in_their_order(write: type, tmp_path: Path) -> None:
    [row], counters = read(write(tmp_path / "a.parquet" if write is parquet else tmp_path / "a.jsonl", SALT))
    assert (row["id"], row["title"], row["text"]) == ("frwiki:9", "Sel", PROSE)
    assert row["url"] == "https://fr.wikipedia.org/wiki/Sel"
    assert counters.drops == {}


def test_sections_may_be_a_list_in_place_of_its_json(tmp_path: Path) -> None:
    row = {**SALT, "sections": json.loads(SALT["sections"])}
    assert read(json_lines(tmp_path / "a.jsonl", row))[0][0]["text"] == PROSE


def test_what_is_no_article_is_counted_by_its_reason(tmp_path: Path) -> None:
    rows = [
        structured("Sel (homonymie)", section("Abstract", "Sel peut être :")),
        structured("Mercure", section("Abstract", "Il peut être :"), description="Page d’homonymie de Wikimedia"),
        structured("Liste des sels", section("Abstract", "Voici.", LIST)),
        structured("Vide", section("Abstract", LIST)),
        {**SALT, "sections": "[{"},
        {**SALT, "sections": None},
    ]
    documents, counters = read(json_lines(tmp_path / "a.jsonl", *rows))
    assert documents == []
    assert counters.drops == {"disambiguation": 2, "list": 1, "no prose": 1, "no sections": 2}
    assert counters.counts["rows"] == sum(counters.drops.values())


@pytest.mark.parametrize("description", sorted(sections._DISAMBIGUATIONS))
def test_disambiguation_pages_are_told_by_their_description(description: str, tmp_path: Path) -> None:
    rows = [structured(f"A{n}", section("Abstract", "It is."), description=text) for n, text in enumerate(
        [description, f" {description.upper()} ", f"{description} of salt"]
    )]  # fmt: skip
    documents, counters = read(json_lines(tmp_path / "a.jsonl", *rows))
    assert [row["title"] for row in documents] == ["A2"]
    assert counters.drops == {"disambiguation": 2}


def test_a_section_may_have_a_text_of_its_own() -> None:
    assert list(section_paragraphs([{"type": "section", "name": "A", "value": "It is."}])) == ["It is."]


def test_parts_nested_too_deep_leave_nothing_and_odd_parts_are_passed_over() -> None:
    deep = section("0", "deepest")
    for number in range(1, 200):
        deep = section(str(number), f"level {number}", deep)
    assert len(list(section_paragraphs([deep]))) == 99
    assert list(section_paragraphs([None, 3, {"type": "paragraph", "value": 3}, {"type": "section"}])) == []
