"""A condition that compares with a text that no document has, or with texts in another form, is warned of."""

from __future__ import annotations

import pyarrow as pa
import pytest

from bertdata.corpus.compared_values import count_compared, warnings_of_compared
from bertdata.curation.where import parse_condition
from bertdata.engine.parts import add_counts

COLUMNS = {
    "id": pa.array(["c1", "c2", "c3"]),
    "owner": pa.array(["kim", "lee", None]),
    "date": pa.array(["2016-01-02", "2017-05-03", None]),
    "size": pa.array(["9", "100", "25"]),
    "empty": pa.nulls(3),
    "tags": pa.array([["sea", "news", "sea"], [], None]),
}


def warned(where: str, columns: dict[str, pa.Array] = COLUMNS) -> list[str]:
    """Return the warnings of a condition on documents in two shards."""
    condition = parse_condition(where)
    shards = [{name: values[rows] for name, values in columns.items()} for rows in (slice(0, 2), slice(2, 3))]
    counts = add_counts(count_compared(condition, shard) for shard in shards)
    return [
        str(warning["found"]).removeprefix(f"--where {where!r} ") for warning in warnings_of_compared(where, counts)
    ]


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("owner != 'Lee'", "owner with 'Lee'"),
        ("owner is None or not owner == ' lee'", "owner with ' lee'"),
        ("owner is None or owner not in ('lee', 'Kim', 'bob')", "owner with 'Kim', 'bob'"),
        ("id not in ('c2', 'c9')", "id with 'c9'"),
        ("'x' != empty", "empty with 'x'"),
        ("'News' in tags or 'land' not in tags or 'sea' in tags", "tags with 'News', 'land'"),
    ],
)
def test_a_text_that_no_document_has_is_named(where: str, names: str) -> None:
    assert warned(where) == [f"compares {names}, which no document has"]


@pytest.mark.parametrize(
    "where",
    [
        "owner is None or owner != 'lee'",
        "id not in ('c1', 'c3')",
        "owner != id",
        "date < '2017'",
        "date >= '2016-06-30T00:00:00Z'",
        "'2016' <= date < '2018-01'",
        "owner > 'l'",
        "empty < '5'",
        "'sea' in tags and 'news' not in tags",
    ],
)
def test_texts_that_documents_have_and_dates_of_one_form_are_not_warned_of(where: str) -> None:
    assert warned(where) == []


@pytest.mark.parametrize(
    ("values", "where", "number"),
    [
        (["05.03.2015", "2016-01-02", None], "date < '2017-01-01'", "1 document has a value"),
        (["05.03.2015", "3/4/2016", "Mar 2016"], "not date >= '2017-01-01'", "3 documents have a value"),
        (["2016-1-2", "2016-01-02", "2016-01-02"], "date < '2016-01-31'", "1 document has a value"),
        (["9", "100", "25"], "date > '10'", "2 documents have a value"),
    ],
)
def test_texts_that_are_ordered_but_written_in_another_form_are_counted(
    values: list[str | None], where: str, number: str
) -> None:
    [warning] = warned(where, {"date": pa.array(values)})
    assert warning.startswith(f"orders date as text, and {number} that is not written as")


def test_shards_without_such_counts_and_long_lists_of_ids_are_not_warned_of() -> None:
    assert not [*warnings_of_compared("owner != 'Lee'", {})]
    assert not [*warnings_of_compared("", {})]
    assert not warned(f"id not in ({', '.join(repr(f'x{number}') for number in range(1001))})")
