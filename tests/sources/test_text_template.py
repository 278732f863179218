from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.sources.text_template import parse_template, text_at
from tests.sources.planned import plan_documents
from tests.sources.read import documents_of

CHAT = "{messages[]:{role}: {content}}"
ROWS: list[dict[str, Any]] = [
    {"title": "Salt", "meta": {"body": "It is white."}, "messages": [{"role": "user", "content": "Salt?"}]},
    {"title": "", "meta": {"body": "It flows."}, "messages": []},
    {
        "title": "",
        "meta": {"body": ""},
        "messages": [{"role": "a", "content": "One."}, {"role": "b", "content": "Two."}],
    },
]


@pytest.mark.parametrize(
    ("template", "row", "text"),
    [
        (r"{title}\n\n{body}", {"title": "Salt", "body": "White."}, "Salt\n\nWhite."),
        ("{title}: {body}", {"body": "White."}, ": White."),
        ("{title}", {"title": ""}, None),
        ("{{{n}}}", {"n": 3}, "{3}"),
        (r"{a}\t\\{b}", {"a": "x", "b": "y"}, "x\t\\y"),
        ("{a.b}", {"a": {"b": "deep"}}, "deep"),
        ("{a.b}", {"a.b": "flat", "a": {"b": "deep"}}, "flat"),
        ("{a}", {"a": ["no", "text"]}, None),
        ("{a}", {"a": True}, None),
        ("{p[]:{}}", {"p": ["One.", "", None, "Two."]}, "One.\n\nTwo."),
        ("{p[]:<{}>}", {"p": [1, 2.5]}, "<1>\n\n<2.5>"),
        ("{t}: {day}", {"t": "Salt", "day": date(2024, 5, 1)}, "Salt: 2024-05-01"),
        ("{t} {n}", {"t": "Salt", "n": float("nan")}, "Salt "),
        ("{t}{a}", {"t": "Salt", "a": []}, "Salt"),
        ("{c}{c[]:{text}}", {"c": "plain"}, "plain"),
        ("{c}{c[]:{text}}", {"c": [{"text": "in parts"}, {"image": "salt.png"}]}, "in parts"),
        ("{t[]:<{c[]:{x}}>}", {"t": [{"c": [{"x": "1"}, {"x": "2"}]}, {"c": []}]}, "<1\n\n2>"),
        (CHAT, {"messages": "not a list"}, None),
    ],
)
def test_a_template_makes_one_text_of_a_row(template: str, row: dict[str, Any], text: str | None) -> None:
    assert parse_template(template).text_of(row) == text


@pytest.mark.parametrize(
    ("template", "row", "reason"),
    [
        ("{title} {tags}", {"title": "Salt", "tags": ["sea"]}, "a list in tags"),
        ("{title} {meta}", {"title": "Salt", "meta": {"x": 1}}, "an object in meta"),
        ("{title} {meta.x}", {"title": "Salt", "meta": {"x": True}}, "true or false in meta.x"),
        ("{title} {raw}", {"title": "Salt", "raw": b"sea"}, "bytes in raw"),
        (CHAT, {"messages": "Salt?"}, "a string in messages"),
        (CHAT, {"messages": ["Salt?"]}, "a string in messages[]"),
        (CHAT, {"messages": [{"role": "user", "content": [{"text": "Salt?"}]}]}, "a list in messages[].content"),
        ("{p[]:{}}", {"p": ["Salt", {"text": "Sea"}]}, "an object in p[]"),
        ("{c}{c[]:{text}}", {"c": True}, "true or false in c"),
    ],
)
def test_a_row_whose_text_would_lack_a_part_has_none_and_the_reason_names_the_part(
    template: str, row: dict[str, Any], reason: str
) -> None:
    parsed = parse_template(template)
    assert (parsed.text_of(row), parsed.not_taken(row)) == (None, reason)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
def test_rows_that_a_template_would_leave_a_part_out_of_are_dropped_by_name(name: str, tmp_path: Path) -> None:
    rows = [{"title": "Salt", "tags": []}, {"title": "Sea", "tags": ["blue"]}]
    path = tmp_path / name
    if name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    documents, [counters] = documents_of([str(path)], "{title} {tags}")
    assert [row["text"] for row in documents] == ["Salt"]
    assert counters.drops == {"no text: a list in tags": 1}
    assert [row["reason"] for row in counters.details["broken"]] == ["no text: a list in tags"]
    documents, _ = documents_of([str(path)], "{title} {tags[]:{}}")
    assert [row["text"] for row in documents] == ["Salt", "Sea blue"]


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{title", "character 0: has a { that no } ends"),
        ("title}", "character 5: has a } without a {"),
        ("{}", "character 0: has a { without the name of a column"),
        ("{{title}}", "names no column"),
        ("{messages[]}", r"character 11: has no template for the items of messages\[\]"),
    ],
)
def test_what_is_no_template_is_refused_with_its_place(template: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_template(template)


def test_a_column_with_braces_in_its_name_is_a_column() -> None:
    assert text_at({"{a}": "as it is", "a": "other"}, "{a}") == "as it is"


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
@pytest.mark.parametrize(
    ("template", "texts"),
    [
        (r"{title}\n\n{meta.body}", ["Salt\n\nIt is white.", "It flows."]),
        (CHAT, ["user: Salt?", "a: One.\n\nb: Two."]),
    ],
)
def test_tables_are_read_by_a_template(name: str, template: str, texts: list[str], tmp_path: Path) -> None:
    path = tmp_path / name
    if name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    rows, [counters] = documents_of([str(path)], template)
    assert [row["text"] for row in rows] == texts
    assert (counters.counts["rows"], counters.drops) == (3, {"no text": 1})


def test_a_column_of_a_template_that_is_not_there_is_named_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"title": "Salt"}\n')
    with pytest.raises(InputError, match=r"has no column 'boddy', which .* names; its columns are 'title'"):
        plan_documents([str(tmp_path / "rows.jsonl")], "out", 1 << 20, "{title} {boddy}")


def test_a_list_in_the_place_of_a_text_is_told_of_templates(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=r"holds list.*; a list goes by a template, as \{messages\[\]:"):
        plan_documents([str(tmp_path / "rows.parquet")], "out", 1 << 20, "messages")


@pytest.mark.parametrize(
    ("column", "words"), [("messages", r"\{messages\[\]:\{role\}"), ("other", "name the one that")]
)
def test_a_chat_is_told_its_template(column: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(json.dumps({column: []}) + "\n")
    with pytest.raises(InputError, match=words):
        plan_documents([str(tmp_path / "chat.jsonl")], "out", 1 << 20)
