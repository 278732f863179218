"""Texts with any number of labels: lists of them, cells with a separator, a column for each label, lines of fastText.

{"text": "...", "labels": ["anger", "joy"]}     a list, in JSON or Parquet
{"text": "...", "labels": [1, 0, 1]}            a list of 0 and 1 for each label, in the order of their ids
text<tab>4,27                                   a cell, split by `separator`
text,toxic,insult                               a column for each label, with 0 and 1
__label__anger __label__joy text                fastText
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from bertdata.errors import InputError, shortened
from bertdata.sources.labelled.labelled_files import Row, column_names, has_column, has_names, read_rows
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
    flags: int = 0,
    unlabelled: bool = False,
) -> Iterator[LabelledText[LabelList | None]]:
    """Yield texts with the labels of each, an empty tuple of one that has none, and None where they are not known.

    each_column: columns that hold 0 or 1, each the name of a label. separator: what separates labels in a cell of text.
    flags: how many labels a list has 0 or 1 for, 0 where lists are of labels.
    Raises ConfigError for a missing column, and InputError, with the line or row, for a cell that is none of these.
    """
    if each_column:
        columns, labels_of = tuple(each_column), partial(_by_columns, names=tuple(each_column))
    else:
        column = label_column or known_column(path, text_columns)
        columns, labels_of = (column,), partial(_by_list, column=column, separator=separator, flags=flags)
    return read_texts(path, text_columns, columns, unlabelled=unlabelled, label_of=labels_of)


def known_column(path: str, text_columns: Sequence[str]) -> str:
    """Return the column of the labels: the first of `COLUMNS` that a file has, the last one where it has none."""
    there = column_names(path, header=has_names(path, text_columns, None))
    return next((name for name in COLUMNS if has_column(name, there, path)), COLUMNS[-1])


def number_of_flags(path: str, text_columns: Sequence[str], label_column: str | None) -> int:
    """Return for how many labels each list of a file has 0 or 1, 0 where the lists are of labels.

    Lists of labels have each label once, and a file where each text has two labels of two has nothing to learn.
    """
    column, width = label_column or known_column(path, text_columns), 0
    for _, row in read_rows(path, header=has_names(path, text_columns, label_column)):
        value = value_at(row, column)
        if value is None:
            continue
        if not isinstance(value, list) or len(value) < 2 or (width and len(value) != width):
            return 0
        if any(isinstance(flag, bool | float) for flag in value):
            return len(value)
        if not all(flag in (0, 1) for flag in value):
            return 0
        if len({*value}) < len(value):
            return len(value)
        width = len(value)
    return width


def _by_list(row: Row, place: str, path: str, *, column: str, separator: str, flags: int) -> LabelList | None:
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
    if flags and isinstance(value, list):
        if len(value) != flags or not all(flag in (0, 1) for flag in value):
            raise InputError(
                f"{place} has {shortened(value)} in {column!r}; expected {flags} times 0 or 1: of probabilities, take "
                f"those over a half, as by jq -c '.{column} |= map(if . > 0.5 then 1 else 0 end)' FILE > NEW",
                path=path,
            )
        return tuple(number for number, flag in enumerate(value) if flag)
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
