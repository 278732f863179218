"""Functions that make the functions which write a template's text: an argument kept, fixed text, arguments joined.

`wikitext/symbol_table` reads back what each made, where the kernels write the same. The functions for one template each
are in `templates/functions`; `templates/table` says which template uses which.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from bertdata.sources.wikipedia.templates.convert import Arguments

Handler = Callable[[Arguments], str | None]

_ARGUMENT = re.compile(r"\{([^{}]*)\}")


def get(arguments: Arguments, *names: str, default: str = "") -> str:
    """Return the first of these arguments that is there and not blank, stripped.

    >>> get({"1": " ", "text": " x "}, "1", "text")
    'x'
    """
    for name in names:
        if value := arguments.get(name, "").strip():
            return value
    return default


def positional(arguments: Arguments, start: int = 1) -> list[str]:
    """Return the arguments `start`, `start + 1`, ... that are not blank, stripped.

    >>> positional({"1": "a", "2": " ", "3": " b ", "x": "c"})
    ['a', 'b']
    """
    values = []
    number = start
    while (value := arguments.get(str(number))) is not None:
        values.append(value.strip())
        number += 1
    return [value for value in values if value]


def kept(*names: str) -> Handler:
    """Keep the first of these arguments that is not blank as it is, spaces included."""
    return partial(_kept, names)


def _kept(names: tuple[str, ...], arguments: Arguments) -> str | None:
    return next((arguments[name] for name in names if arguments.get(name, "").strip()), None)


def literal(text: str) -> Handler:
    """Write the same text whatever the arguments."""
    return partial(_literal, text)


def _literal(text: str, _: Arguments) -> str:
    return text


def kept_position(handler: Handler) -> int:
    """Return which argument a call leaves as it is where all are unnamed and this one is not blank; 0: none."""
    first = handler.args[0][0] if isinstance(handler, partial) and handler.func is _kept else ""
    return int(first) if first in ("1", "2", "3", "4") else 0


def literal_text(handler: Handler) -> str | None:
    """Return the text of a handler that `literal` made, else None."""
    return handler.args[0] if isinstance(handler, partial) and handler.func is _literal else None


def pattern(text: str) -> Handler:
    """Write a text in which {1} stands for an argument, {1|text} for the first of these that is not blank.

    >>> pattern("{1|name} m")({"name": "12"}), pattern("")({"1": "a"})
    ('12 m', None)
    """

    def handler(arguments: Arguments) -> str | None:
        return _ARGUMENT.sub(lambda match: get(arguments, *match[1].split("|")), text) or None

    return handler


def joined(separator: str = "", *, start: int = 1, most: int | None = None) -> Handler:
    """Join the positional arguments from `start` on, at most `most` of them."""
    return partial(_joined, separator, start, most)


def _joined(separator: str, start: int, most: int | None, arguments: Arguments) -> str | None:
    return separator.join(positional(arguments, start)[:most]) or None


def wrapped(before: str, after: str = "", names: tuple[str, ...] = ("1",)) -> Handler:
    """Put fixed text around the first of these arguments that is not blank."""
    return partial(_wrapped, before, after, names)


def _wrapped(before: str, after: str, names: tuple[str, ...], arguments: Arguments) -> str | None:
    text = get(arguments, *names)
    return f"{before}{text}{after}" if text else None


def wrapping(handler: Handler) -> tuple[str, str] | None:
    """Return what a handler that `wrapped` made puts before and after the first argument, else None."""
    if not (isinstance(handler, partial) and handler.func is _wrapped):
        return None
    return handler.args[0], handler.args[1]
