"""What kinds of values a JSON file has at the places that are read, checked where it is opened.

A shape is an object for an object with at least these names, "*" for any name; a list for a list of such; else a type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertdata.errors import shortened

_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}


def check_shape(value: Any, shape: Any, name: str, where: str = "") -> None:
    """Raise ValueError for the first value that is of another kind than is read there; one that is missing is not.

    name: what the whole is called; where: the names on the way to a value in it.

    >>> check_shape({"counts": {"tokens": 9}, "other": None}, {"counts": {"*": int}}, "the record")
    >>> check_shape({"counts": {"tokens": "9"}}, {"counts": {"*": int}}, "the record")
    Traceback (most recent call last):
    ValueError: counts.tokens is '9', expected a whole number
    """
    kind: Any = shape if isinstance(shape, type) else type(shape)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{where or name} is {shortened(value)}, expected {_NAMES[kind]}")
    if isinstance(shape, list):
        for item in value if shape else ():
            check_shape(item, shape[0], name, where)
    elif isinstance(shape, Mapping):
        for key_of_shape, inner in shape.items():
            for key in value if key_of_shape == "*" else [key_of_shape]:
                if key in value:
                    check_shape(value[key], inner, name, f"{where}.{key}".lstrip("."))
