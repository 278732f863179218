"""Labelled texts and text pairs, from the columns of JSON lines, CSV, TSV and Parquet files.

Columns that are not given have the names of public data sets. In CSV and TSV files without a line of names (as CoLA's)
columns are given by number, from 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bertdata.errors import ConfigError, InputError
from bertdata.finetune.files import TABLES, column_names, file_format, read_rows
from bertdata.finetune.labels import Label

KNOWN_COLUMNS = (
    ("text", "text_pair"),
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("question", "sentence"),
    ("text",),
    ("sentence",),
)
_KNOWN_NAMES = {"label", "labels", *(name for names in KNOWN_COLUMNS for name in names)}


@dataclass(frozen=True)
class LabelledText:
    """A text in a file, with its second text and its label, None where there is none."""

    text: str
    pair: str | None
    label: Label
    place: str


def read_texts(
    path: str, text_columns: Sequence[str] = (), label_column: str = "label", *, unlabelled: bool = False
) -> Iterator[LabelledText]:
    """Yield texts and labels; default `text_columns`: the first of `KNOWN_COLUMNS` that the file has.

    With `unlabelled` there may be no labels. A CSV or TSV file has no line of names if all given columns are numbers
    and its first line has none of the known names. Raises ConfigError for a missing column, InputError, with the line
    or row, where a text is not a string.
    """
    numbers = [name for name in (*text_columns, label_column) if name.isdecimal()]
    numbered = bool(text_columns) and set(text_columns) <= set(numbers) and file_format(path) in TABLES
    header = not (numbered and _without_names(path, numbers))
    there = column_names(path, header=header)
    known = next((names for names in KNOWN_COLUMNS if set(names) <= set(there)), ())
    if unlabelled and header and numbered and known and not set(text_columns) <= set(there):
        text_columns = known
    columns = tuple(text_columns) or known
    missing = [name for name in columns if name not in there]
    if not 1 <= len(columns) <= 2 or missing:
        asked = f"no column {missing[0]!r}" if missing else "no text columns with known names"
        raise ConfigError(
            f"has {asked}; its columns are {', '.join(map(repr, there))}: name one or two with --text-columns",
            path=path,
        )
    if label_column not in there and not unlabelled:
        raise ConfigError(
            f"has no column {label_column!r}; its columns are {', '.join(map(repr, there))}: name the one of the "
            "labels with --label-column",
            path=path,
        )
    empty = True
    for place, row in read_rows(path, header=header):
        text, label = row.get(columns[0]), row.get(label_column)
        if not isinstance(text, str):
            raise InputError(f"{place} has {text!r} in {columns[0]!r}; expected a text", path=path)
        if not isinstance(label, str | int | float | None):
            raise InputError(f"{place} has the label {label!r}; expected a string or a number", path=path)
        pair = row.get(columns[1]) if len(columns) == 2 else None
        if not isinstance(pair, str | None):
            raise InputError(f"{place} has {pair!r} in {columns[1]!r}; expected a text", path=path)
        yield LabelledText(text, pair, label, place)
        empty = False
    if empty:
        raise InputError("holds no rows; expected labelled texts", path=path)


def _without_names(path: str, numbers: Sequence[str]) -> bool:
    """Return whether the first line of a table is an example: no known name, and not all the numbers as names."""
    first = set(next((row for _, row in read_rows(path, header=False)), {}).values())
    return not _KNOWN_NAMES & first and not set(numbers) <= first
