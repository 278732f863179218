"""Texts with any number of labels: lists of them, cells with a separator, a column for each label, lines of fastText.

{"text": "...", "labels": ["anger", "joy"]}     a list, in JSON or Parquet
text<tab>4,27                                   a cell, split by `separator`
text,toxic,insult                               a column for each label, with 0 and 1
__label__anger __label__joy text                fastText
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from bertdata.errors import InputError
from bertdata.sources.labelled.labelled_files import Row, column_names, has_column, has_names
from bertdata.sources.labelled.labelled_texts import LabelledText, read_texts
from bertdata.sources.labelled.labels import Label, is_missing, label_name
from bertdata.sources.text_template import value_at

COLUMNS = ("labels", "label")
"""The known names of a column of labels."""
_YES, _NO = ("1", "True", "true"), ("0", "False", "false")
LabelList = tuple[Label, ...]


def read_label_lists(
    path: str,
    text_columns: Sequence[str] = (),
    label_column: str | None = None,
    *,
    each_column: Sequence[str] = (),
    separator: str = "",
    unlabelled: bool = False,
) -> Iterator[LabelledText[LabelList | None]]:
    """Yield texts with the labels of each, an empty tuple of one that has none, and None where they are not known.

    each_column: columns that hold 0 or 1, each the name of a label. separator: what separates labels in a cell of text.
    Raises ConfigError for a missing column, and InputError, with the line or row, for a cell that is none of these.
    """
    if each_column:
        columns, labels_of = tuple(each_column), partial(_by_columns, names=tuple(each_column))
    else:
        column = label_column or known_column(path, text_columns)
        columns, labels_of = (column,), partial(_by_list, column=column, separator=separator)
    return read_texts(path, text_columns, columns, unlabelled=unlabelled, label_of=labels_of)


def known_column(path: str, text_columns: Sequence[str]) -> str:
    """Return the column of the labels: the first of `COLUMNS` that a file has, the last one where it has none."""
    there = column_names(path, header=has_names(path, text_columns, None))
    return next((name for name in COLUMNS if has_column(name, there, path)), COLUMNS[-1])


def _by_list(row: Row, place: str, path: str, *, column: str, separator: str) -> LabelList | None:
    value = value_at(row, column)
    if isinstance(value, str):
        if not separator:
            raise InputError(
                f"{place} has the text {value!r} in {column!r}; expected a list of labels: say what separates them, as "
                "--label-separator , or a sign that is not there, where each text has one",
                path=path,
            )
        value = [part.strip() for part in value.split(separator) if part.strip()]
    elif isinstance(value, int | float):
        value = [value]
    if value is None or [*map(is_missing, value)] == [True]:
        return None
    if not isinstance(value, list) or not all(isinstance(label, str | int) for label in value):
        raise InputError(f"{place} has {value!r} in {column!r}; expected a list of strings or whole numbers", path=path)
    before: set[Label] = set()
    for label in value:
        if is_missing(label):
            raise InputError(f"{place} has {label!r} among its labels; expected labels alone", path=path)
        if label in before:
            raise InputError(
                f"{place} has the label {label!r} twice in {column!r}; expected the labels of the text, each once",
                path=path,
            )
        before.add(label)
    return tuple(value)


def _by_columns(row: Row, place: str, path: str, *, names: Sequence[str]) -> LabelList | None:
    labels: list[Label] = []
    missing = 0
    for name in names:
        value = value_at(row, name)
        text = "" if value is None else label_name(value) if isinstance(value, str | int | float) else repr(value)
        if text.strip() in _YES:
            labels.append(name)
        elif text.strip() not in _NO:
            if value is not None and not is_missing(text):
                raise InputError(f"{place} has {value!r} in {name!r}; expected 0 or 1", path=path)
            missing += 1
    if missing and (labels or missing < len(names)):
        raise InputError(f"{place} has no 0 or 1 in some of {', '.join(names)}; expected it in all or none", path=path)
    return None if missing else tuple(labels)
