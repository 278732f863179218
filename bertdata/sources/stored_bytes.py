"""How many bytes rows have that become no document, so that what a source loses is known by its bytes."""

from __future__ import annotations

from typing import Any


class NoRow(str):
    """What stands in a file where a row should be, as the reason to drop it, with the bytes that it takes there."""

    size: int

    def __new__(cls, reason: str, size: int) -> NoRow:
        """Make one of the reason and the bytes."""
        row = super().__new__(cls, reason)
        row.size = size
        return row


def stored_bytes(value: Any) -> int:
    """Return the bytes in UTF-8 of the strings in a row, or in lists and objects in it; of a `NoRow` its own.

    >>> stored_bytes({"text": None, "title": "Öl", "parts": [{"text": "Salt"}, 3]})
    7
    >>> stored_bytes(NoRow("not UTF-8", 12))
    12
    """
    size, values = 0, [value]
    while values:
        value = values.pop()
        if isinstance(value, NoRow):
            size += value.size
        elif isinstance(value, str):
            size += len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
        elif isinstance(value, dict):
            values.extend(value.values())
        elif isinstance(value, list):
            values.extend(value)
    return size
