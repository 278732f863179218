"""Text that commands print: numbers with their nouns, sizes, and tables of two columns."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence

from bertdata.errors import printable

Row = tuple[str, str]
"""A name and its value."""
_LEAST_ROOM = 18
MOST_SHOWN = 30
"""The sources that are shown one by one; the others are shown as one, and manifests have them all."""


_SINGULAR_VERBS = {"are": "is", "were": "was", "have": "has", "do": "does", "go": "goes"}


def counted(number: float, name: str, verb: str = "") -> str:
    """Return a number and what it counts, and the verb after them: `name` in the singular, `verb` in the plural.

    >>> counted(1, "shard"), counted(1200, "shard"), counted(2, "batch"), counted(2, "epoch")
    ('1 shard', '1,200 shards', '2 batches', '2 epochs')
    >>> counted(1, "text", "have"), counted(3, "text", "have")
    ('1 text has', '3 texts have')
    """
    if number == 1:
        text, verb = f"1 {name}", _SINGULAR_VERBS.get(verb, f"{verb}s") if verb else ""
    else:
        text = f"{number:,} {name}" + ("es" if name.endswith(("tch", "sh", "ss", "x")) else "s")
    return f"{text} {verb}" if verb else text


def figure(value: float) -> str:
    """Return a measured number with four digits, large ones whole.

    >>> figure(0.0393243), figure(3.333e-05), figure(17361.7)
    ('0.03932', '3.333e-05', '17,362')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


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


def table(rows: Sequence[Row], columns: int | None = None) -> str:
    """Return rows as two aligned columns, control characters in them as escapes.

    Values are wrapped at words where they pass `columns`: those of the terminal, 80 where it does not say, unless
    standard output is none, so that a pipe gets each row in a line (`columns` 0).

    >>> print(table([("pages", "12"), ("documents", "9")]))
    pages      12
    documents  9
    >>> print(table([("labels", "one two three four five six")], 26))
    labels  one two three four
            five six
    """
    cells = [(printable(left), printable(right)) for left, right in rows]
    width = max((len(left) for left, _ in cells), default=0)
    columns = terminal_columns() if columns is None else columns
    room = max(columns - width - 2, _LEAST_ROOM)
    lines = []
    for left, right in cells:
        fits = not columns or len(right) <= room
        parts = [right] if fits else textwrap.wrap(right, room, break_long_words=False, break_on_hyphens=False)
        names = [left, *[""] * len(parts)]
        lines += [f"{name:<{width}}  {part}" for name, part in zip(names, parts, strict=False)]
    return "\n".join(lines)


def wrapped(text: str, indent: str = "", hanging: str | None = None, columns: int | None = None) -> list[str]:
    """Return a text as lines that begin with `indent`, the later ones with `hanging`, wrapped at words as a table's.

    >>> wrapped("one two three four five six", "  ", columns=20)
    ['  one two three four', '  five six']
    """
    columns = terminal_columns() if columns is None else columns
    if not columns:
        return [f"{indent}{text}"]
    hanging = indent if hanging is None else hanging
    return textwrap.wrap(
        text,
        max(columns, len(hanging) + _LEAST_ROOM),
        initial_indent=indent,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def terminal_columns() -> int:
    """Return the columns of standard output, 80 where a terminal does not say, 0 where it is none."""
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 0
