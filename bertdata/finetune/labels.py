"""The label set of a task: names in a stable order, from the training data or given, and the ids of labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bertdata.errors import InputError

Label = str | int | float | bool | None
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_SHOWN = 12
FLOAT32 = (-3.0e38, 3.0e38)
"""The numbers that a float32 holds, or nearly all."""


def label_name(label: Label) -> str:
    """Return the name of a label in a file; a truth value is 0 or 1.

    >>> label_name("B-PER"), label_name(3), label_name(True)
    ('B-PER', '3', '1')
    """
    return str(int(label)) if isinstance(label, bool) else str(label)


def label_set(names: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct names in order: whole numbers by value, others by code point.

    >>> label_set(["10", "9", "2", "2"]), label_set(["O", "I-PER", "B-PER", "O"])
    (('2', '9', '10'), ('B-PER', 'I-PER', 'O'))
    """
    distinct = set(names)
    if all(_WHOLE.fullmatch(name) for name in distinct):
        return tuple(sorted(distinct, key=int))
    return tuple(sorted(distinct))


def find_labels(values: Iterable[Label], path: str) -> tuple[str, ...]:
    """Return the label set of a training file; raises InputError for fewer than two labels, or for fractions."""
    names = set()
    for value in values:
        if isinstance(value, float):
            raise InputError(
                f"has labels that are not whole numbers, as {value}; give --task regression to learn numbers", path=path
            )
        if value is not None:
            names.add(label_name(value))
    labels = label_set(names)
    if len(labels) < 2:
        found = f"all have the label {labels[0]!r}" if labels else "none has a label"
        raise InputError(f"has fewer than two labels: {found}; expected two or more", path=path)
    return labels


def label_ids(
    values: Iterable[tuple[str, Label]], labels: Sequence[str], path: str, *, numbered: bool, unlabelled: bool
) -> list[int | None]:
    """Return the id of each label, given as (place, label); None where there is none, if `unlabelled` allows it.

    With `numbered` a label may also be an id, and -1 means none. Raises InputError, with the place, for a label that
    is missing or not in the set.

    >>> label_ids([("line 1", "good"), ("line 2", 0)], ("bad", "good"), "x.csv", numbered=True, unlabelled=False)
    [1, 0]
    """
    ids = {name: number for number, name in enumerate(labels)}
    found: list[int | None] = []
    for place, value in values:
        name = "" if value is None else label_name(value)
        number = ids.get(name)
        if number is None and numbered and _WHOLE.fullmatch(name) and -1 <= int(name) < len(labels):
            number = int(name) if name != "-1" else None
            missing = number is None
        else:
            missing = value is None or (name == "" and number is None) or (unlabelled and name == "-1")
        if number is None and not (missing and unlabelled):
            shown = ", ".join(labels[:_SHOWN]) + (", ..." if len(labels) > _SHOWN else "")
            what = "no label" if missing else f"the label {value!r}, which the training file does not have"
            raise InputError(f"{place} has {what}; expected one of {shown}", path=path)
        found.append(number)
    return found


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
    found: list[float | None] = []
    for place, value in values:
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = float("nan")
        if unlabelled and (value in (None, "") or number == -1 < low):
            found.append(None)
        elif low <= number <= high:
            found.append(number)
        else:
            raise InputError(f"{place} has the label {value!r}; expected {expected}{hint}", path=path)
    return found
