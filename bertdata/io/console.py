"""Text that commands print: numbers with their nouns, sizes, and tables of two columns."""

from __future__ import annotations

from bertdata.errors import printable

Row = tuple[str, str]
"""A name and its value."""


def counted(number: int, name: str) -> str:
    """Return a number and what it counts.

    >>> counted(1, "shard"), counted(1200, "shard")
    ('1 shard', '1,200 shards')
    """
    return f"{number:,} {name}" + ("" if number == 1 else "s")


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
