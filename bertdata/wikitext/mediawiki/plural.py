"""Which form of a word goes with a number: the rules of CLDR, as MediaWiki has them, `{{plural:}}`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_RELATION = re.compile(
    r"([nivwftce])\s*+(?:(?:mod|%)\s*+(\d+)\s*+)?(=|!=|is not|is|not in|in|not within|within)\s*+([\d.,~ ]+)"
)
_EXPLICIT = re.compile(r"(\d+)=(.*)", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][-+]?\d{1,2})?", re.ASCII)


def choose_form(number: str, forms: Sequence[str], rules: Sequence[str]) -> str:
    """Return the form for a number; one written `12=dozen` is for that number alone.

    >>> russian = ["v = 0 and i % 10 = 1 and i % 100 != 11", "v = 0 and i % 10 = 2..4 and i % 100 != 12..14"]
    >>> [choose_form(number, ["страница", "страницы", "страниц"], russian) for number in ("21", "3", "5")]
    ['страница', 'страницы', 'страниц']
    >>> choose_form("12", ["12=dozen", "one", "more"], ["n = 1"])
    'dozen'
    """
    usual = []
    for form in forms:
        explicit = _EXPLICIT.fullmatch(form)
        if explicit is None:
            usual.append(form)
        elif explicit[1] == _plain(number):
            return explicit[2]
    return usual[min(_form_number(number, tuple(rules)), len(usual) - 1)] if usual else ""


def _plain(number: str) -> str:
    """Return a number as PHP writes it: 0 where a text is none.

    >>> _plain("007"), _plain("2.50"), _plain("x")
    ('7', '2.5', '0')
    """
    if number.isascii() and number.isdigit():
        return str(int(number)) if len(number) < 20 else number
    match = _NUMBER.match(number)
    return f"{float(match[0]):.14g}" if match else "0"


@lru_cache(maxsize=1024)
def _form_number(number: str, rules: tuple[str, ...]) -> int:
    """Return which form a number takes: the first whose rule holds, else the one after the last."""
    text = _plain(number).lstrip("-")
    values = _operands(text)
    return next((place for place, rule in enumerate(rules) if _holds(rule, values)), len(rules))


def _operands(text: str) -> dict[str, float]:
    """Return the numbers that rules speak of: the value, its whole part, its decimals, how many these are."""
    if "e" in text:
        text = f"{float(text):f}".rstrip("0").rstrip(".")
    whole, _, decimals = text.partition(".")
    bare = decimals.rstrip("0")
    return {
        "n": float(text or "0"), "i": int(whole or "0"), "v": len(decimals), "w": len(bare),
        "f": int(decimals or "0"), "t": int(bare or "0"), "c": 0, "e": 0,
    }  # fmt: skip


def _holds(rule: str, values: dict[str, float]) -> bool:
    return any(
        all(_relation_holds(relation, values) for relation in alternative.split(" and "))
        for alternative in rule.split("@", maxsplit=1)[0].split(" or ")
    )


def _relation_holds(relation: str, values: dict[str, float]) -> bool:
    match = _RELATION.fullmatch(relation.strip())
    if match is None:
        return False
    value = values[match[1]] % int(match[2]) if match[2] else values[match[1]]
    within = "within" in match[3]
    inside = False
    for part in match[4].split(","):
        first, _, last = part.strip().replace("~", "..").partition("..")
        low, high = float(first), float(last or first)
        inside = inside or (low <= value <= high and (within or value == int(value)))
    return inside != (match[3] == "!=" or "not" in match[3])
