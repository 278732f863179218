"""Columns that the folders of a path give, as `year=2024/language=de/part-0.parquet`: engines partition tables so."""

from __future__ import annotations

import re
from urllib.parse import unquote

from bertdata.io.paths import folder, naming_part

_KEY = re.compile(r"([^=/]+)=([^/]*)")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
_NULL = "__HIVE_DEFAULT_PARTITION__"
"""What Hive, Spark and pyarrow call the folder of rows without a value."""


def path_columns(path: str) -> dict[str, int | str]:
    """Return the values that the folders of a path give by their names: whole numbers, or else text; none for null.

    >>> path_columns("s3://bucket/posts/year=2024/place=New%20York/part-0.parquet")
    {'year': 2024, 'place': 'New York'}
    """
    folders = naming_part(folder(path)).partition("://")[2] or folder(path)
    pairs = (match.groups() for part in folders.split("/") if (match := _KEY.fullmatch(part)))
    return {
        unquote(name): int(value) if _WHOLE_NUMBER.fullmatch(value) else unquote(value)
        for name, value in pairs
        if value != _NULL
    }
