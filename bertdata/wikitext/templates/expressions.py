"""Arithmetic of `{{#expr:}}`: https://www.mediawiki.org/wiki/Help:Extension:ParserFunctions#expr."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

_LONGEST, _DEEPEST = 1000, 50
_TOKEN = re.compile(r"\s*(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[a-z]+|<>|!=|<=|>=|[-+*/^()=<>])", re.ASCII)
_UNARY: dict[str, Callable[[float], float]] = {
    **{"not": lambda x: float(not x), "ceil": math.ceil, "floor": math.floor, "trunc": math.trunc, "abs": abs},
    **{"exp": math.exp, "ln": math.log, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan},
    **{"+": lambda x: x, "-": lambda x: -x},
}


def _round(x: float, places: float) -> float:
    shift = 10.0 ** int(places)
    return math.copysign(math.floor(abs(x) * shift + 0.5) / shift, x)


# the operators from the loosest to the tightest
_BINARY: list[dict[str, Callable[[float, float], float]]] = [
    {"or": lambda x, y: float(bool(x) or bool(y))},
    {"and": lambda x, y: float(bool(x) and bool(y))},
    {
        **{"=": lambda x, y: float(x == y), "<>": lambda x, y: float(x != y), "!=": lambda x, y: float(x != y)},
        **{"<": lambda x, y: float(x < y), ">": lambda x, y: float(x > y)},
        **{"<=": lambda x, y: float(x <= y), ">=": lambda x, y: float(x >= y)},
    },
    {"round": _round},
    {"+": lambda x, y: x + y, "-": lambda x, y: x - y},
    {
        **{"*": lambda x, y: x * y, "/": lambda x, y: x / y, "div": lambda x, y: x / y},
        **{"mod": lambda x, y: math.fmod(int(x), int(y)), "fmod": math.fmod},
    },
    {"^": math.pow},
]


def evaluate(expression: str) -> float | None:
    """Return the value of an expression, None where it is blank or has none.

    >>> [evaluate(text) for text in ("2 + 3 * 2", "7 div 2 round 0", "not 1 or 3 > 2", "1 +", "1 / 0")]
    [8.0, 4.0, 1.0, None, None]
    """
    tokens = _tokens(expression)
    if not tokens:
        return None
    try:
        value, rest = _read(tokens, 0, 0, 0)
    except (ArithmeticError, ValueError, IndexError):
        return None
    return value if rest == len(tokens) and math.isfinite(value) else None


def shown(value: float) -> str:
    """Return a number as `{{#expr:}}` prints it.

    >>> shown(8.0), shown(0.1 + 0.2), shown(-0.0), shown(1e20)
    ('8', '0.3', '0', '1.0E+20')
    """
    if value == 0:
        return "0"
    text = f"{value:.14G}"
    mantissa, power, exponent = text.partition("E")
    if not power:
        return text
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent):+d}"


def _tokens(expression: str) -> list[str]:
    """Return the tokens of an expression, none where something else is in it."""
    text = expression.replace("−", "-").strip().lower()
    tokens, position = [], 0
    while position < len(text) <= _LONGEST:
        token = _TOKEN.match(text, position)
        if token is None:
            return []
        tokens.append(token[1])
        position = token.end()
    return tokens


def _read(tokens: list[str], place: int, level: int, depth: int) -> tuple[float, int]:
    """Return the value of the operators of a level and those that bind tighter, and where it ends.

    Raises ValueError or IndexError where there is none.
    """
    if level == len(_BINARY):
        return _operand(tokens, place, depth)
    value, place = _read(tokens, place, level + 1, depth)
    while place < len(tokens) and (operator := _BINARY[level].get(tokens[place])):
        right, place = _read(tokens, place + 1, level + 1, depth)
        value = operator(value, right)
    return value, place


def _operand(tokens: list[str], place: int, depth: int) -> tuple[float, int]:
    if depth > _DEEPEST:
        raise ValueError
    token = tokens[place]
    if token == "(":
        value, place = _read(tokens, place + 1, 0, depth + 1)
        if tokens[place] != ")":
            raise ValueError
        return value, place + 1
    if token in _UNARY:
        value, place = _operand(tokens, place + 1, depth + 1)
        return float(_UNARY[token](value)), place
    if token in ("pi", "e"):
        return (math.pi if token == "pi" else math.e), place + 1
    return float(token), place + 1
