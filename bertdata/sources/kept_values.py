"""The columns of a row that are kept beside its text: strings, numbers, true and false, and lists of these."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any

from bertdata.curation.languages import LANGUAGE
from bertdata.errors import InputError
from bertdata.sources.formats import FileRange
from bertdata.sources.text_template import kind_of

_KEPT = (str, int, float, bool, type(None))


def kept_values(row: Mapping[str, Any], chosen: FileRange) -> str:
    """Return the columns of a row that are kept, as a JSON object; raises InputError for objects, and lists of them."""
    values = {name: _kept(_at(row, place), name, chosen.path) for name, place in chosen.places.items()}
    return json.dumps({name: value for name, value in values.items() if value is not None})


def _at(row: Mapping[str, Any], place: str) -> Any:
    """Return what a row has at a place: in a column, in an object or a map, or in each object of a list.

    >>> _at({"authors": [{"name": "Kim"}, {"name": "Lee"}]}, "authors.name")
    ['Kim', 'Lee']
    >>> _at({"codes": [("iso", "de")]}, "codes.iso")
    'de'
    """
    if place in row:
        return row[place]
    value: Any = row
    for key in place.split("."):
        value = _inside(value, key)
    return value


def _inside(value: Any, key: str) -> Any:
    if isinstance(value, list):
        if value and all(isinstance(item, tuple) and len(item) == 2 for item in value):  # a map of Arrow
            return dict(value).get(key)
        values = [_inside(item, key) for item in value]
        return values if any(item is not None for item in values) else None
    return value.get(key) if isinstance(value, Mapping) else None


def _kept(value: Any, name: str, path: str, *, inside: bool = False) -> Any:
    """Return a value as it is kept, None for none: a day or a time as it is written, no language but a string."""
    if isinstance(value, list) and name != LANGUAGE and not inside:
        return [_kept(item, name, path, inside=True) for item in value]
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if not isinstance(value, _KEPT):
        raise InputError(
            f"the column {name!r} holds {kind_of(value)}; expected strings, numbers, true and false, or lists of these",
            path=path,
        )
    return None if isinstance(value, float) and math.isnan(value) else value
