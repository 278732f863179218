"""Text that commands print: numbers with their nouns, sizes, and tables of two columns."""

from __future__ import annotations

from collections.abc import Mapping

from bertdata.errors import printable

Row = tuple[str, str]
"""A name and its value."""
MOST_SHOWN = 30
"""The sources that are shown one by one; the others are shown as one, and manifests have them all."""


def counted(number: int, name: str) -> str:
    """Return a number and what it counts.

    >>> counted(1, "shard"), counted(1200, "shard")
    ('1 shard', '1,200 shards')
    """
    return f"{number:,} {name}" + ("" if number == 1 else "s")


def largest(sizes: Mapping[str, float], most: int = MOST_SHOWN) -> tuple[list[str], list[str]]:
    """Return the names of the largest, `most` of them, and of the others, both in the order they are given in.

    >>> largest({"en": 9, "is": 1, "de": 5}, most=2)
    (['en', 'de'], ['is'])
    """
    chosen = set(sorted(sizes, key=lambda name: -sizes[name])[:most])
    return [name for name in sizes if name in chosen], [name for name in sizes if name not in chosen]


def byte_size(number: float) -> str:
    """Return a number of bytes with a decimal unit.

    >>> byte_size(999), byte_size(1_234_567)
    ('999 B', '1.2 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def table(rows: list[Row]) -> str:
    """Return rows as two aligned columns, control characters in them as escapes.

    >>> print(table([("pages", "12"), ("documents", "9")]))
    pages      12
    documents  9
    """
    shown = [(printable(left), printable(right)) for left, right in rows]
    width = max((len(left) for left, _ in shown), default=0)
    return "\n".join(f"{left:<{width}}  {right}" for left, right in shown)
