"""The label set of a task: names in a stable order, from the training data or given, and the ids of labels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from bertdata.errors import InputError

Label = str | int | float | bool | None
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_SHOWN = 12
_SEPARATORS = (",", ";", "|")
NO_LABEL = ("", "-", "-1", "-100")
"""What means that there is no label: SNLI and spaCy have "-", data set hubs -1, losses -100."""
_NOT_LABELS = "nothing, '-', -1 and -100 mean no label"
REMEDY = "--unlabelled leave-out leaves out what has none, and counts it"
FLOAT32 = (-3.0e38, 3.0e38)
"""The numbers that a float32 holds, or nearly all."""


def label_name(label: Label) -> str:
    """Return the name of a label in a file; a truth value is 0 or 1, and a number without a fraction is whole.

    >>> label_name("B-PER"), label_name(3), label_name(True), label_name(1.0), label_name(0.5)
    ('B-PER', '3', '1', '1', '0.5')
    """
    is_whole = isinstance(label, bool) or (isinstance(label, float) and label.is_integer())
    return str(int(label)) if is_whole and label is not None else str(label)


def label_set(names: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct names in order: whole numbers by value, others by code point.

    >>> label_set(["10", "9", "2", "2"]), label_set(["O", "I-PER", "B-PER", "O"])
    (('2', '9', '10'), ('B-PER', 'I-PER', 'O'))
    """
    distinct = set(names)
    if all(_WHOLE.fullmatch(name) for name in distinct):
        return tuple(sorted(distinct, key=int))
    return tuple(sorted(distinct))


def is_missing(label: Label) -> bool:
    """Tell whether a value means that there is no label: none, empty, "-", -1, or the -100 of losses.

    >>> [is_missing(label) for label in (None, "", "-", -1, "-1", -100, float("nan"), 0, "neutral", "--")]
    [True, True, True, True, True, True, True, False, False, False]
    """
    if label is None or (isinstance(label, float) and math.isnan(label)):
        return True
    return label_name(label).strip() in NO_LABEL


def find_labels(values: Iterable[Label], path: str) -> tuple[str, ...]:
    """Return the label set of a training file, without what means no label.

    Raises InputError for fewer than two labels, for fractions, and for names that differ in white space alone.
    """
    names = set()
    for value in values:
        if is_missing(value):
            continue
        if isinstance(value, float) and not value.is_integer():
            raise InputError(
                f"has labels that are not whole numbers, as {value}; give --task regression to learn numbers", path=path
            )
        names.add(label_name(value))
    labels = label_set(names)
    bare: dict[str, str] = {}
    for name in labels:
        if (alike := bare.setdefault(name.strip(), name)) != name:
            raise InputError(
                f"has the labels {alike!r} and {name!r}, which differ in white space alone; expected one name for each "
                "class: take the white space away, or, if both are classes, name the classes with --labels",
                path=path,
            )
    if len(labels) < 2:
        problem = f"all have the label {labels[0]!r}" if labels else "none has a label"
        raise InputError(
            f"has fewer than two labels: {problem}; expected two or more ({_NOT_LABELS}; if one of these is a class, "
            "name the classes with --labels)",
            path=path,
        )
    return labels


def require_single(labels: Sequence[str], path: str) -> None:
    """Raise InputError where the names of classes are lists of labels: `0,2` beside `0` and `2`, or `['a', 'b']`."""
    names, several = {*labels}, ""
    for name in labels:
        for separator in _SEPARATORS:
            parts = [part.strip() for part in name.split(separator)]
            several = several or (name if len(parts) > 1 and {*parts} <= names else "")
    if all(name.startswith("[") and name.endswith("]") for name in labels):
        several = next((name for name in labels if "," in name), labels[0])
    if several:
        raise InputError(
            f"has the label {several!r}, which is a list of labels; expected one class for each text: --task "
            "multi-label-classification learns any number of labels (--label-separator splits such cells); if it is a "
            "class, name the classes with --labels",
            path=path,
        )


def label_ids(
    values: Iterable[tuple[str, Label]], labels: Sequence[str], path: str, *, numbered: bool, unlabelled: bool
) -> list[int | None]:
    """Return the id of each label, given as (place, label); None where there is none, if `unlabelled` allows it.

    With `numbered` a label may also be an id. Raises InputError, with the place, for a label that is missing or not in
    the set.

    >>> label_ids([("line 1", "good"), ("line 2", 0)], ("bad", "good"), "x.csv", numbered=True, unlabelled=False)
    [1, 0]
    """
    ids = {name: number for number, name in enumerate(labels)}
    row_ids: list[int | None] = []
    for place, value in values:
        name = "" if value is None else label_name(value)
        number = ids.get(name)
        if number is None and numbered and _WHOLE.fullmatch(name) and 0 <= int(name) < len(labels):
            number = int(name)
        missing = number is None and is_missing(value)
        if number is None and not (missing and unlabelled):
            first_labels = ", ".join(labels[:_SHOWN]) + (", ..." if len(labels) > _SHOWN else "")
            if not missing:
                what = f"the label {value!r}, which the training file does not have; expected one of {first_labels}"
            else:
                what = f"no label{'' if name == '' else f' ({value!r})'}; expected one of {first_labels}: {REMEDY}"
                what += "" if name.strip() in ("", "nan") else f", or, if {value!r} is a class, name it in --labels"
            raise InputError(f"{place} has {what}", path=path)
        row_ids.append(number)
    return row_ids


def numbers(
    values: Iterable[tuple[str, Label]],
    path: str,
    *,
    unlabelled: bool,
    bounds: tuple[float, float] = FLOAT32,
    hint: str = "",
) -> list[float | None]:
    """Return the labels of regression as numbers; None where there is none, if `unlabelled` allows it.

    With `unlabelled`, -1 means none where it is not within `bounds`, as in the test files of data set hubs. Raises
    InputError, with the place and the `hint`, for a label that is not a number within `bounds`.

    >>> numbers([("line 2", "3.5"), ("line 3", -1)], "x.tsv", unlabelled=True, bounds=(0, 5))
    [3.5, None]
    """
    low, high = bounds
    expected = "a number" if bounds == FLOAT32 else f"a number from {low:g} to {high:g}"
    parsed: list[float | None] = []
    for place, value in values:
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = float("nan")
        if low <= number <= high:
            parsed.append(number)
        elif unlabelled and is_missing_number(value, bounds):
            parsed.append(None)
        else:
            remedy = f": {REMEDY}" if is_missing_number(value, bounds) else ""
            raise InputError(f"{place} has the label {value!r}; expected {expected}{hint}{remedy}", path=path)
    return parsed


def is_missing_number(value: Label, bounds: tuple[float, float] = FLOAT32) -> bool:
    """Tell whether a value means that there is no number: as `is_missing`, but -1 and -100 only outside the bounds.

    >>> is_missing_number("-1.000", (0, 5)), is_missing_number(-1, (-1, 1)), is_missing_number("")
    (True, False, True)
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return is_missing(value)
    return math.isnan(number) or (number in (-1, -100) and not bounds[0] <= number <= bounds[1])
