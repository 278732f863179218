"""Handlers for many templates, which write a template's text: an argument kept, fixed text, arguments joined.

`wikitext/symbol_table` reads the fields of some, for kernels that write the same. The handlers of one template each are
in `templates/functions`; `templates/table` says which template uses which.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bertdata.wikitext.templates.convert import Arguments

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


def nothing(arguments: Arguments) -> None:
    """Write nothing."""


class Kept:
    """Keeps the first of these arguments that is not blank as it is, spaces included."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(self, arguments: Arguments) -> str | None:
        return next((arguments[name] for name in self.names if arguments.get(name, "").strip()), None)


@dataclass(frozen=True)
class Literal:
    """Writes the same text whatever the arguments."""

    text: str

    def __call__(self, arguments: Arguments) -> str:
        return self.text


@dataclass(frozen=True)
class Wrapped:
    """Puts fixed text around the first of these arguments that is not blank."""

    before: str
    after: str = ""
    names: tuple[str, ...] = ("1",)

    def __call__(self, arguments: Arguments) -> str | None:
        text = get(arguments, *self.names)
        return f"{self.before}{text}{self.after}" if text else None


def joined(separator: str = "", *, most: int | None = None) -> Handler:
    """Join the positional arguments, at most `most` of them."""
    return lambda arguments: separator.join(positional(arguments)[:most]) or None


def pattern(text: str) -> Handler:
    """Write a text in which {1} stands for an argument, {1|text} for the first of these that is not blank.

    >>> pattern("{1|name} m")({"name": "12"}), pattern("")({"1": "a"})
    ('12 m', None)
    """
    return lambda arguments: _ARGUMENT.sub(lambda match: get(arguments, *match[1].split("|")), text) or None


def written(text: str) -> Handler:
    """Write a text with at most one {1}, an argument, or {1|text}, the first of these that is not blank.

    >>> written("née {1}")({"1": " Ann "}), written("{2|text}")({"text": " Ann "}), written("–")({})
    ('née Ann', ' Ann ', '–')
    """
    before, *argument = _ARGUMENT.split(text)
    if not argument:
        return Literal(before)
    names, after = argument[0].split("|"), argument[1]
    return Wrapped(before, after, tuple(names)) if before or after else Kept(*names)
