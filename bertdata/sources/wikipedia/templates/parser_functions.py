"""The parser functions and variables whose text is plain: `{{formatnum:}}`, `{{lc:}}`, `{{#if:}}`, `{{PAGENAME}}`.

Calls that need the wiki or the clock (`{{#invoke:}}`, `{{#ifexist:}}`, `{{CURRENTYEAR}}`) leave no text.
"""

from __future__ import annotations

import re

from bertdata.sources.wikipedia.character_references import undo_character_references
from bertdata.sources.wikipedia.dump.site_config import fold_prefix
from bertdata.sources.wikipedia.templates.expressions import evaluate, shown
from bertdata.sources.wikipedia.templates.locales.locale import ENGLISH, Numbers

_NUMBER = re.compile(r"[-+]?(?:\d{1,300}\.?\d{0,300}|\.\d{1,300})(?:[eE][-+]?\d{1,3})?", re.ASCII)
VARIABLES = frozenset(["pagename", "fullpagename", "basepagename", "subpagename"])
FUNCTIONS = VARIABLES | {
    *("formatnum", "lc", "uc", "lcfirst", "ucfirst", "#if", "#ifeq", "#switch", "#dateformat", "#formatdate"),
    *("#expr", "#ifexpr", "dateformat", "plural", "padleft", "padright"),
}


def render_parser_function(
    head: str, arguments: list[str], title: str, numbers: Numbers = ENGLISH.numbers
) -> str | None:
    """Return the text of a call, numbers written as `numbers` says; None where it leaves nothing.

    `head` is all before the first bar ("#if: x", "lc:ABC", "PAGENAME"), `title` the title of the page.

    >>> render_parser_function("formatnum:12345", [], ""), render_parser_function("#if: x", ["yes", "no"], "")
    ('12,345', 'yes')
    """
    name, _, first = head.partition(":")
    name, first = fold_prefix(name), first.strip()
    values = [argument.strip() for argument in arguments]
    match name:
        case "pagename" | "fullpagename" | "basepagename" | "subpagename":
            return title
        case "formatnum":
            return numbers.unformat(first) if values[:1] == ["R"] else numbers.format(first)
        case "lc":
            return first.lower()
        case "uc":
            return first.upper()
        case "lcfirst":
            return first[:1].lower() + first[1:]
        case "ucfirst":
            return first[:1].upper() + first[1:]
        case "#if":
            return _nth(values, 0 if first else 1)
        case "#ifeq":
            return _nth(values, 1 if _equal(first, _nth(values, 0)) else 2)
        case "#expr":
            value = evaluate(first)
            return "" if value is None else shown(value)
        case "#ifexpr":
            if first and evaluate(first) is None:
                return ""
            return _nth(values, 0 if evaluate(first) else 1)
        case "#switch":
            return _switch(first, values)
        case "#dateformat" | "#formatdate" | "dateformat":
            return first
        case "plural":
            return _nth(values, 0 if first == "1" else len(values) - 1)
        case "padleft" | "padright":
            return first
        case _:
            return None


def _nth(values: list[str], index: int) -> str:
    return values[index] if 0 <= index < len(values) else ""


def _equal(first: str, second: str) -> bool:
    """Compare as PHP does: numbers by their value, all else as text, character references undone.

    >>> _equal("01", "1.0"), _equal("a&amp;b", "a&b"), _equal("a", "A")
    (True, True, False)
    """
    return _comparable(first) == _comparable(second)


def _comparable(text: str) -> str | float:
    """Return what a text is compared by: the value of a number, else the text with its character references undone."""
    text = undo_character_references(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _switch(value: str, cases: list[str]) -> str:
    """Choose as `{{#switch:}}` does: cases without `=` fall through to the next one that has a result."""
    wanted, matched = _comparable(value), False
    default = ""
    for index, case in enumerate(cases):
        key, equals, result = (part.strip() for part in case.partition("="))
        matched = matched or _comparable(key) == wanted
        if equals and matched:
            return result
        if (equals and key == "#default") or (not equals and index == len(cases) - 1):
            default = result if equals else key
    return default
