"""What kinds of values a manifest has at the places that are read, checked where it is opened.

A manifest may come from anyone. A missing value is an error only where it is read: earlier versions wrote fewer.
"""

from __future__ import annotations

from typing import Any

from bertdata.io.json_shape import check_shape

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
"""As `bertdata.io.json_shape` takes it."""


def check_values(manifest: Any) -> None:
    """Raise ValueError for the first value of a manifest that is of another kind than is read there.

    >>> check_values({"bertdata": "0.1.0", "splits": {"train": {"counts": {"tokens": 9}}}, "other": None})
    >>> check_values({"splits": {"train": {"shards": {}}}})
    Traceback (most recent call last):
    ValueError: splits.train.shards is {}, expected a list
    """
    check_shape(manifest, SHAPE, "the manifest")
