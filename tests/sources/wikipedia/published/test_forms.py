"""The form of a file is told by its columns, and what could be read otherwise is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.wikipedia.published.form import Article, ArticleRules, Form
from bertdata.sources.wikipedia.published.forms import FORMS
from tests.generated import examples
from tests.sources.planned import plan_rows
from tests.sources.wikipedia.published.articles import (
    Row,
    enterprise,
    finewiki,
    json_lines,
    notes,
    parquet,
    read,
    section,
    structured,
)

BOTH = enterprise("Salt", "Salt of the wikitext.", sections=[section("Abstract", "Salt of the sections.")])


def test_a_file_with_two_forms_says_which_it_reads_and_how_to_get_the_other(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "a.ndjson", BOTH)
    assert notes(path) == [
        "a.ndjson: has the columns 'article_body' and 'sections': reads 'article_body' (enterprise); for the other "
        "give --text-column sections"
    ]
    assert read(path)[0][0]["text"] == "Salt of the wikitext."
    assert read(path, "sections")[0][0]["text"] == "Salt of the sections."
    assert notes(path, "sections") == []


def test_a_text_column_is_read_as_it_is_beside_a_form_which_is_named(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "a.ndjson", {**BOTH, "text": "# Salt of the text."})
    assert read(path)[0][0]["text"] == "# Salt of the text."
    [note] = notes(path)
    assert "reads 'text' (as it is); for another give --text-column" in note


def test_other_tables_are_read_as_they_were_and_say_nothing(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "a.jsonl", {"text": "# Salt", "sections": "[]", "id": "1"})
    assert read(path)[0][0]["text"] == "# Salt"
    assert notes(path) == []
    with pytest.raises(InputError, match="has no column 'text'; its columns are 'sections', 'name'"):
        notes(json_lines(tmp_path / "b.jsonl", {"sections": [], "name": "Salt"}))


class Noting(dict[str, Any]):
    """A row that notes which columns are asked for."""

    def __init__(self, row: Row) -> None:
        super().__init__(row)
        self.asked = set[str]()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a column."""
        self.asked.add(name)
        return super().get(name, default)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_names_every_column_that_it_reads(form: str) -> None:
    for row in map(Noting, ROWS.get(form, ROWS["finewiki"])):
        FORMS[form].article(row, ArticleRules())
        assert FORMS[form].text_column in row.asked
        assert row.asked <= {*FORMS[form].columns}


def test_articles_with_few_words_are_stubs_in_every_form(tmp_path: Path) -> None:
    long, short = "It has a great many words in it.", "It is short."
    for number, (words_of_form, two) in enumerate(
        [
            (enterprise("A", long), enterprise("B", short)),
            (structured("A", section("Abstract", long)), structured("B", section("Abstract", short))),
            (finewiki("A", long), finewiki("B", short)),
        ]
    ):
        path = json_lines(tmp_path / f"{number}.jsonl", words_of_form, two)
        rows, counters = read(path, config=CleaningConfig(min_words=5))
        assert [row["title"] for row in rows] == ["A"]
        assert counters.drops == {"stub": 1}
        assert counters.counts["rows"] == 2


ROWS = {
    "enterprise": [
        enterprise("A", "It is.\n\n[[Kattegooria2:B]]", categories=[{"name": "Kattegooria2:B"}]),
        enterprise("B", "It is.", namespace={"identifier": 2}),
        enterprise("C", "It is.", event={"type": "delete"}),
        enterprise("D", "Es ist {{formatnum:12345}}.", in_language={"identifier": "de"}, is_part_of=None),
        {**enterprise("E", "Es {{lang-en|is}}."), "is_part_of": None, "in_language": None, "url": "https://de.wikipedia.org/wiki/E"},
    ],
    "structured": [
        structured("A", section("Abstract", "It is."), description="x", is_part_of=json.dumps({"identifier": "xwiki"})),
        structured("B", section("Abstract", "It is."), description="Wikimedia disambiguation page"),
        structured("C", section("Abstract", "It is."), in_language=json.dumps({"identifier": "nds-nl"})),
    ],
    "finewiki": [
        finewiki("A", "It is $\\frac 12$ so.", has_math=True, url="https://x"),
        finewiki("List of As", "It is.\n- A1 and others"),
        finewiki("B", "It is.", page_id=None, id="own/7"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("form", ROWS)
def test_parquet_and_json_lines_of_the_same_rows_are_the_same_documents(form: str, tmp_path: Path) -> None:
    path = json_lines(tmp_path / "a.jsonl", *ROWS[form])
    names = dict.fromkeys(name for row in ROWS[form] for name in row)
    table = parquet(tmp_path / "a.parquet", *({name: row.get(name) for name in names} for row in ROWS[form]))
    (rows, counters), (others, other_counters) = read(path), read(table)
    assert rows == others
    assert counters.drops == other_counters.drops
    assert counters.details["languages"] == other_counters.details["languages"]
    assert {"enterprise": 3, "structured": 2, "finewiki": 2}[form] == len(rows)
    texts, ids = [row["text"] for row in rows], [row["id"] for row in rows]
    expected = {
        "enterprise": (["It is.", "Es ist 12.345.", "Es englisch is."], ["enwiki:7", "dewiki:7", "dewiki:7"]),
        "structured": (["It is.", "It is."], ["xwiki:9", "nds_nlwiki:9"]),
        "finewiki": (["It is so.", "It is."], ["enwiki:5", "own/7"]),
    }
    assert (texts, ids) == expected[form]


def test_columns_for_where_are_kept_of_a_form(tmp_path: Path) -> None:
    row = structured("Sel", section("Abstract", "Le sel."), version={"score": 3})
    assert read(json_lines(tmp_path / "a.jsonl", row), columns=("version.score",))[0][0]["columns"] == (
        '{"version.score": 3}'
    )
    assert read(parquet(tmp_path / "a.parquet", row), columns=("version.score",))[0][0]["columns"] == (
        '{"version.score": 3}'
    )


def test_articles_are_counted_by_the_language_of_their_wiki(tmp_path: Path) -> None:
    rows = [enterprise("A", "It is."), enterprise("B", "Es ist.", in_language={"identifier": "de"}), enterprise("C")]
    assert read(json_lines(tmp_path / "a.jsonl", *rows))[1].details["languages"] == {"en": 1, "de": 1}
    assert read(json_lines(tmp_path / "b.jsonl", finewiki("A", "It is.")))[1].details["languages"] == {"en": 1}
    assert "languages" not in read(json_lines(tmp_path / "c.jsonl", {"text": "It is."}))[1].details


def test_templates_are_those_of_the_language_of_the_row(tmp_path: Path) -> None:
    row = enterprise("A", "Соль ({{lang-de|Salz}}) стара.", in_language={"identifier": "ru"})
    assert read(json_lines(tmp_path / "a.jsonl", row))[0][0]["text"] == "Соль (нем. Salz) стара."
    wiki = finewiki("A", "x", wikitext="Sal ({{lang-de|Salz}}).", in_language="es")
    assert read(json_lines(tmp_path / "b.jsonl", wiki), "wikitext")[0][0]["text"] == "Sal (en alemán: Salz)."


def test_parts_depend_on_the_rules_only_where_a_form_reads_them(tmp_path: Path) -> None:
    form, table = json_lines(tmp_path / "a.jsonl", BOTH), json_lines(tmp_path / "b.jsonl", {"text": "Salt."})
    made_of = {
        (path, words): plan_rows([path], CleaningConfig(min_words=words))[0][0].fingerprint
        for path in (form, table)
        for words in (0, 5)
    }
    assert made_of[form, 0] != made_of[form, 5]
    assert made_of[table, 0] == made_of[table, 5]


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["[{", "{}", "[1]"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "name", "value", "has_parts", "identifier", "wikitext"]), inner)
    ),
    max_leaves=12,
)


@pytest.mark.costly
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_rows_of_any_shape_are_articles_or_dropped(form: Form, data: st.DataObject) -> None:
    row = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(form.columns, _JSON)))
    article = form.article(row, ArticleRules(min_words=1))
    assert isinstance(article, Article)
    assert all(isinstance(value, str) for value in article)
    assert bool(article.text) or article.reason
