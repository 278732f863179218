"""Conditions on columns: what they hold for, and what is refused."""

from __future__ import annotations

import operator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.curation.where import parse_condition
from bertdata.errors import ConfigError

ROWS: dict[str, Any] = {
    "score": pa.array([3.5, None, 1.0, -2.0]),
    "language": pa.array(["en", "en", "de", None]),
    "tokens": pa.array([5, 100, 2000, 7]),
    "clean": pa.array([True, False, None, True]),
    "metadata.score": pa.array([1, 2, 3, 4]),
    "tags": pa.array([["news", "sea"], None, [], ["news", None]]),
    "years": pa.array([[1999], [2001, 1999], None, []]),
    "no_tags": pa.nulls(4),
    "Assigned to": pa.array(["kim", "lee", None, "O'Brien"]),
    "from": pa.array(["kim", None, None, "lee"]),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tokens >= 100", [0, 1, 1, 0]),
        ("tokens >= 10 and language in ('en', 'fr')", [0, 1, 0, 0]),
        ("not score > 2", [0, 0, 1, 1]),
        ("score is None", [0, 1, 0, 0]),
        ("language is not None and score is not None", [1, 0, 1, 0]),
        ("1 <= score < 3", [0, 0, 1, 0]),
        ("score == -2 or language == 'de'", [0, 0, 1, 1]),
        ("language not in ('en',)", [0, 0, 1, 0]),
        ("language != 'en'", [0, 0, 1, 0]),
        ("clean == True", [1, 0, 0, 1]),
        ("metadata.score > 2", [0, 0, 1, 1]),
        ("tokens > metadata.score", [1, 1, 1, 1]),
        ("(score > 3 or tokens > 50) and not language == 'de'", [1, 1, 0, 0]),
        ("'news' in tags", [1, 0, 0, 1]),
        ("'sea' not in tags", [0, 0, 1, 1]),
        ("not 'sea' in tags", [0, 0, 1, 1]),
        ("tags is None or 'sea' in tags", [1, 1, 0, 0]),
        ("1999 in years", [1, 1, 0, 0]),
        ("column('Assigned to') == 'kim'", [1, 0, 0, 0]),
        ('column("Assigned to") in ("lee", "O\'Brien")', [0, 1, 0, 1]),
        ("column('from') is None or column('from') != 'kim'", [0, 1, 1, 1]),
        ("column('metadata').score > 2 and column('tokens') > 7", [0, 0, 1, 0]),
        ("'news' in column('tags')", [1, 0, 0, 1]),
        ("'news' in no_tags or 'news' not in no_tags", [0, 0, 0, 0]),
    ],
)
def test_a_condition_holds_as_in_sql_where_a_value_is_missing(text: str, expected: list[int]) -> None:
    assert parse_condition(text).holds(ROWS).tolist() == list(map(bool, expected))


@pytest.mark.parametrize(
    ("text", "can"),
    [
        ("score > 2", False),
        ("score is None", True),
        ("score is not None or tokens > 4", True),
        ("tokens > 4 and score != 3", False),
        ("not (tokens > 4 and score == 3)", True),
        ("not (score < 2 or score > 7)", False),
        ("1 < score < tokens", False),
        ("3 < tokens", True),
        ("score not in (1, 2)", False),
        ("score is None or score != 2", True),
    ],
)
def test_whether_a_condition_can_hold_without_a_column_is_known_before(text: str, can: bool) -> None:
    condition = parse_condition(text)
    assert condition.can_hold({"score"}) is can
    rows = {"score": pa.nulls(40), "tokens": pa.array(range(40))}
    assert condition.holds(rows).any() == can


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5))), st.integers(-5, 5), st.sampled_from(["<", "<=", "==", "!="]))
def test_comparisons_are_those_of_python(values: list[int | None], limit: int, sign: str) -> None:
    compare = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne}[sign]
    held_rows = parse_condition(f"x {sign} {limit}").holds({"x": pa.array(values, pa.int64())}).tolist()
    assert held_rows == [value is not None and compare(value, limit) for value in values]


def test_the_columns_are_those_that_not_every_document_has() -> None:
    condition = parse_condition("tokens > 3 and metadata.score > 1 and source == 'web' and language == 'en'")
    assert condition.names == ("language", "metadata.score", "source", "tokens")
    assert condition.columns == ("language", "metadata.score")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("score = 3", "equality is =="),
        ("score => 3", "write >= for =>; expected"),
        ("score =< 3", "write <= for =<; expected"),
        ("score <> 3", "write != for <>; expected"),
        ("score > 3 && tokens > 2", "write and for &&; expected"),
        ("score > 3 || tokens > 2", "write or for ||; expected"),
        ("score >", "cannot be parsed (invalid syntax); expected"),
        ("", "cannot be parsed"),
        ("from != 'kim'", "(invalid syntax); a column whose name has blanks or signs, or is a word of Python"),
        ("Assigned to == 'kim'", "is written column('Assigned to'); expected"),
        ("`from` != 'kim'", "is written column('Assigned to'); expected"),
        ("created-at > '2017'", "nor a constant; a column whose name has blanks or signs"),
        ("column(name) == 'kim'", "compares what is neither a column nor a constant; expected"),
        ("column('a', 'b') == 'kim'", "compares what is neither"),
        ("score", "is not a comparison"),
        ("f(x) > 3", "compares what is neither a column nor a constant"),
        ("score + 1 > 2", "compares what is neither a column nor a constant"),
        ("__import__('os').system('ls') == 0", "compares what is neither a column nor a constant"),
        ("language in ('en')", "has one value, and no list after `in`; write language == 'en'; expected"),
        ("language not in 'en'", "write language != 'en'; expected"),
        ("language in en", "of one type"),
        ("language in ('a', 3)", "of one type"),
        ("language in ()", "of one type"),
        ("score is 3", "is not as `score is None`"),
        ("3 > 2", "names no column"),
        ("score > 3 if clean else 2", "is not a comparison"),
    ],
)
def test_what_is_not_a_condition_is_refused_with_an_example(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_condition(text)
    assert problem in str(caught.value)
    assert "expected a condition as" in str(caught.value) or "column's type" in str(caught.value)


@pytest.mark.parametrize("text", ["score > 'a'", "language >= 3", "clean == 1", "language in (1, 2)"])
def test_values_of_two_types_are_not_compared(text: str) -> None:
    with pytest.raises(ConfigError, match="compare with a value of the column's type"):
        parse_condition(text).holds(ROWS)


def test_what_every_document_has_is_not_asked_of_the_files() -> None:
    names = ["source", "id", "title", "url", "characters", "sentences", "tokens"]
    assert [name for name in names if parse_condition(f"{name} == 'a'").columns] == []
    assert parse_condition(" and ".join(f"{name} == score" for name in names)).columns == ("score",)
