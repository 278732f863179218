"""What kinds of values a manifest has at the places that are read, checked where it is opened.

A manifest may come from anyone. A missing value is an error only where it is read: earlier versions wrote fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertdata.errors import shortened

_COUNTED: dict[str, Any] = {"counts": {}, "drops": {}}
SHAPE: dict[str, Any] = {
    "bertdata": str,
    "info": {},
    "files": {"*": str},
    "versions": {},
    "settings": {},
    "phases": [str],
    "splits": {"*": _COUNTED | {"shards": [_COUNTED | {"file": str}]}},
    "sources": {"*": _COUNTED | {"inputs": [], "broken": [], "dropped_texts": {"*": [[]]}, "languages": {}}},
    "tokens": _COUNTED,
    "vocabulary": {"pieces": int, "asked": int},
    "warnings": [{"about": str, "found": str, "remedy": str}],
    "notes": [str],
    "mix": {"*": {}},
    "left_out": {},
    "decontamination": {"files": {"*": {"samples": [{}]}}},
    "dedup_spans": {"samples": [{}]},
}
"""An object for an object with at least these names, "*" for any name; a list for a list of such; else a type."""
_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}


def check_shape(value: Any, shape: Any = SHAPE, where: str = "") -> None:
    """Raise ValueError for the first value of a manifest that is of another kind than is read there.

    >>> check_shape({"bertdata": "0.1.0", "splits": {"train": {"counts": {"tokens": 9}}}, "other": None})
    >>> check_shape({"splits": {"train": {"shards": {}}}})
    Traceback (most recent call last):
    ValueError: splits.train.shards is {}, expected a list
    """
    kind: Any = shape if isinstance(shape, type) else type(shape)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{where or 'the manifest'} is {shortened(value)}, expected {_NAMES[kind]}")
    if isinstance(shape, list):
        for item in value if shape else ():
            check_shape(item, shape[0], where)
    elif isinstance(shape, Mapping):
        for name, inner in shape.items():
            for key in value if name == "*" else [name]:
                if key in value:
                    check_shape(value[key], inner, f"{where}.{key}".lstrip("."))
