"""Rows of an Arrow batch as the columns that documents are made of, where their types allow it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from bertdata.documents import SCHEMA

NAMES = tuple(name for name in SCHEMA.names if name != "text")
"""The columns that documents take beside the text, in the order of `SCHEMA`."""


def document_columns(batch: pa.RecordBatch, text_column: str) -> list[pa.StringArray] | None:
    """Return the columns of `NAMES`, "" where a row has none, and that of the text, null where a row has none.

    Returns None where one holds what is written in Python only as `str` does, such as fractions or dates.

    >>> batch = pa.RecordBatch.from_pydict({"body": ["Salt.", None], "id": [7, None]})
    >>> [column.to_pylist() for column in document_columns(batch, "body")]
    [['7', ''], ['', ''], ['', ''], ['', ''], ['Salt.', None]]
    """
    columns = []
    for name in (*NAMES, text_column):
        column = batch.column(name) if name in batch.schema.names else pa.nulls(len(batch), pa.string())
        strings = _strings(column, numbers=name != text_column)
        if strings is None:
            return None
        columns.append(strings if name == text_column else strings.fill_null(""))
    return columns


def _strings(column: Any, *, numbers: bool) -> pa.StringArray | None:
    """Return a column as strings, also whole numbers where these may be `numbers`; None for other types."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if not (texts or pa.types.is_null(kind) or (numbers and pa.types.is_integer(kind))):
        return None
    return column.cast(pa.string())
