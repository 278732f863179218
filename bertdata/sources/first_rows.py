"""What the first rows of sources hold in the columns that are kept: settings are tried on it before any work."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from bertdata.engine.parts import Task
from bertdata.errors import BertDataError
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.formats import FileRange
from bertdata.sources.kept_values import kept_values
from bertdata.sources.path_columns import path_columns
from bertdata.sources.tabular import TableFormat

TRIED = 100
"""How many rows of each source are looked at."""


def first_values(tasks: Iterable[Task], source_of: Mapping[str, str], columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return what the first rows of each source have in some columns, by column, None where a row has nothing.

    tasks: those of reading files, of which the first of each source is looked at. Raises InputError for a column that
    holds what cannot be kept; a row that cannot be read is left to the reading of all rows.
    """
    first_of: dict[str, FileRange] = {}
    for task in tasks:
        first_of.setdefault(source_of[task.payload.path], task.payload)
    values: dict[str, list[Any]] = {name: [] for name in columns}
    for chosen in first_of.values():
        for row in _first_rows(chosen):
            of_row = json.loads(kept_values(row, replace(chosen, columns=tuple(columns))))
            for name, of_column in values.items():
                of_column.append(of_row.get(name))
    return values


def _first_rows(chosen: FileRange) -> list[dict[str, Any]]:
    source_format, rows = SOURCE_FORMATS[chosen.format], []
    if isinstance(source_format, TableFormat):
        of_path = path_columns(chosen.path)
        try:
            for _, row in islice(source_format.rows(chosen), TRIED):
                rows += [of_path | row] if isinstance(row, dict) else []
        except BertDataError:
            pass
    return rows
