"""Rows of Parquet that are taken as columns are those that Python reads one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.kernels.warmup import compiling_always
from bertdata.sources import table_rows
from tests.generated import examples
from tests.sources.read import documents_of

words = st.text("ab\n\r \u3000é", max_size=8)
KINDS: dict[str, tuple[pa.DataType, Any]] = {
    "string": (pa.string(), words),
    "large": (pa.large_string(), words),
    "view": (pa.string_view(), words),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), words),
    "int64": (pa.int64(), st.integers(-(1 << 63), (1 << 63) - 1)),
    "uint8": (pa.uint8(), st.integers(0, 255)),
    "bool": (pa.bool_(), st.booleans()),
    "float": (pa.float64(), st.floats(allow_nan=False)),
    "date": (pa.date32(), st.dates()),
    "null": (pa.null(), st.none()),
}
TEXTS = ("string", "large", "view", "dictionary")


def both(path: Path, text_column: str, target: int) -> tuple[Any, Any]:
    """Return the documents of a file and what is counted, as columns and row by row."""
    by_rows = documents_of([str(path)], text_column, target)
    with compiling_always():
        by_columns = documents_of([str(path)], text_column, target)
    columns, rows = (
        (documents, [(counters.counts, counters.drops, counters.details) for counters in counted])
        for documents, counted in (by_columns, by_rows)
    )
    return columns, rows


@settings(deadline=None, max_examples=examples(60))
@given(
    st.data(),
    st.sampled_from(TEXTS),
    st.dictionaries(
        st.sampled_from(["id", "source", "title", "url", "other"]), st.sampled_from(sorted(KINDS)), max_size=4
    ),
)
def test_rows_as_columns_are_those_of_python(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, text: str, others: dict[str, str]
) -> None:
    number = data.draw(st.integers(1, 6))
    names = {"body": text} | others
    columns = {
        name: pa.array(
            data.draw(st.lists(st.none() | KINDS[kind][1], min_size=number, max_size=number)), KINDS[kind][0]
        )
        for name, kind in names.items()
    }
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=data.draw(st.integers(1, 4)))
    by_columns, by_rows = both(path, "body", data.draw(st.sampled_from([1, 1 << 30])))
    assert by_columns == by_rows


def test_a_large_file_makes_no_object_for_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"text": ["One.\nTwo.", "", "Three."], "id": [1, 2, None]}), path)
    by_columns, by_rows = both(path, "text", 1)
    assert by_columns == by_rows
    assert [row["id"] for row in by_rows[0]] == ["1", "rows.parquet:2"]
    monkeypatch.setattr(table_rows.Rows, "add", None)
    with compiling_always():
        assert documents_of([str(path)])[0] == by_rows[0]
