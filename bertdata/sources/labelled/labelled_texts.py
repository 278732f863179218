"""Labelled texts and text pairs from the rows of files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from bertdata.errors import ConfigError, InputError, shortened
from bertdata.io.console import counted
from bertdata.sources.labelled.labelled_files import (
    KNOWN_COLUMNS,
    TABLES,
    Row,
    are_numbers,
    column_names,
    file_format,
    first_row,
    has_column,
    has_names,
    read_rows,
)
from bertdata.sources.labelled.labels import Label
from bertdata.sources.labelled.other_forms import unfolding
from bertdata.sources.labelled.unread_columns import require_whole_texts
from bertdata.sources.text_template import cell_at, names_in, value_at

LabelT = TypeVar("LabelT")


@dataclass(frozen=True)
class LabelledText(Generic[LabelT]):
    """A text in a file, with its second text and its label, None where there is none.

    left_out: how many damaged lines around it were left out; unlabelled: how many texts that have no label.
    """

    text: str
    pair: str | None
    label: LabelT
    place: str
    left_out: int = 0
    unlabelled: int = 0


def text_columns_in(path: str, text_columns: Sequence[str] = (), label_columns: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns of the texts of a file: the given ones, or the first of `KNOWN_COLUMNS` that it has."""
    there = column_names(path, header=has_names(path, text_columns, *label_columns))
    return tuple(text_columns) or next((names for names in KNOWN_COLUMNS if set(names) <= set(there)), ())


def read_texts(
    path: str,
    text_columns: Sequence[str] = (),
    label_columns: Sequence[str] = ("label",),
    *,
    unlabelled: bool = False,
    lenient: bool = False,
    label_of: Callable[[Row, str, str], LabelT],
) -> Iterator[LabelledText[LabelT]]:
    """Yield texts and labels; default `text_columns`: the first of `KNOWN_COLUMNS` that the file has.

    A text column may be a template, as `{word}: {text}`. label_of: returns the label of (row, place, path), of
    `label_columns`. With `unlabelled` there may be no labels. A CSV or TSV file has no line of names if all given
    columns are numbers and its first line has none of the known names. With `lenient`, lines of it without a field for
    each of these columns are left out, and counted in `left_out`. Raises ConfigError for a missing column, and for one
    that says what of a text is meant where `text_columns` are not given; InputError, with the line or row, where a text
    is not a string.
    """
    header, numbered = has_names(path, text_columns, *label_columns), are_numbers(path, text_columns)
    there = column_names(path, header=header)
    known_columns = next((names for names in KNOWN_COLUMNS if set(names) <= set(there)), ())
    if unlabelled and header and numbered and known_columns and not set(names_in(text_columns)) <= set(there):
        text_columns = known_columns
    columns = tuple(text_columns) or known_columns
    if not text_columns:
        require_whole_texts(path, columns, label_columns)
    missing = [name for name in names_in(columns, there) if not has_column(name, there, path)]
    if not 1 <= len(columns) <= 2 or missing:
        asked = f"no column {missing[0]!r}" if missing else "no text columns with known names"
        raise ConfigError(
            f"has {asked}; its columns are {', '.join(map(repr, there))}: "
            f"{unfolding(first_row(path, header=header)) or 'name one or two with --text-columns'}",
            path=path,
        )
    without = [name for name in label_columns if not has_column(name, there, path)]
    if without and not unlabelled:
        raise ConfigError(
            f"has no column {without[0]!r}; its columns are {', '.join(map(repr, there))}: name the one of the "
            "labels with --label-column",
            path=path,
        )
    needed = {*names_in(columns), *([] if without else label_columns)}
    lenient = lenient and file_format(path) in TABLES
    pending, left_out = None, 0
    for place, row in read_rows(path, header=header, lenient=lenient, needed=tuple(needed)):
        if lenient and not needed <= row.keys():
            left_out += 1
            continue
        if pending:
            yield pending
        text, pair = _texts(row, columns, place, path)
        pending, left_out = LabelledText(text, pair, label_of(row, place, path), place, left_out), 0
    if not pending:
        raise InputError("holds no rows; expected labelled texts", path=path)
    yield replace(pending, left_out=pending.left_out + left_out)


def _texts(row: Row, columns: Sequence[str], place: str, path: str) -> tuple[str, str | None]:
    text, *pair = (cell_at(row, column) for column in columns)
    for column, value in zip(columns, [text, *pair], strict=True):
        if value is None:
            raise InputError(f"{place} has no text in {column!r}; expected one: leave such rows out", path=path)
        if not isinstance(value, str):
            raise InputError(f"{place} has {value!r} in {column!r}; expected a text", path=path)
    return text, pair[0] if pair else None


def read_classes(
    path: str,
    text_columns: Sequence[str] = (),
    label_column: str = "label",
    *,
    unlabelled: bool = False,
    lenient: bool = False,
) -> Iterator[LabelledText[Label]]:
    """Yield texts with one label each, as `read_texts`; a list of one label is that label."""
    label_of = partial(_one_label, column=label_column)
    return read_texts(path, text_columns, (label_column,), unlabelled=unlabelled, lenient=lenient, label_of=label_of)


def _one_label(row: Row, place: str, path: str, *, column: str) -> Label:
    label = value_at(row, column)
    if isinstance(label, list) and len(label) != 1 and all(isinstance(name, str | int | float) for name in label):
        shares = len(label) > 1 and not any(isinstance(name, str) or name < 0 for name in label)
        if shares and math.isclose(sum(label), 1, abs_tol=1e-3):
            raise InputError(
                f"{place} has a list in {column!r} ({shortened(label)}), as of probabilities, or of 0 and 1 for "
                "each class; expected one label: the number of the most probable class, from 0, is taken by jq -c "
                f"'.{column} |= index(max)' FILE > NEW",
                path=path,
            )
        raise InputError(
            f"{place} has {counted(len(label), 'label')} ({shortened(label)}); expected one: --task "
            "multi-label-classification learns any number; of labels of several annotators the most frequent one is "
            f"taken by jq -c '.{column} |= (group_by(.) | max_by(length)[0])' FILE > NEW",
            path=path,
        )
    label = label[0] if isinstance(label, list) and label else label
    if not isinstance(label, str | int | float | None):
        raise InputError(f"{place} has the label {label!r}; expected a string or a number", path=path)
    return label
