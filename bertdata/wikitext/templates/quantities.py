"""Quantities as `{{convert}}` writes them: numbers, the words between those of a range, units in words or symbols."""

from __future__ import annotations

import re
from typing import NamedTuple

from bertdata.wikitext.templates.measurement_units import Unit
from bertdata.wikitext.templates.numbers import Number
from bertdata.wikitext.templates.spelled_numbers import spelled

NAMED = frozenset(["acre", "long ton", "short ton", "million acre", "fathom", "furlong"])
"""Units that are written out where others are abbreviated."""
MULTIPLES = {"3": "thousand", "6": "million", "9": "billion", "12": "trillion"}
"""The words for powers of ten that stand before a unit, as in `e6acre`."""
_AMERICAN = re.compile(r"(met|lit)re")
_FOUR_DIGITS = re.compile(r"[+−]?\d,\d{3}(?:\.\d*)?")


class Quantity(NamedTuple):
    """What a call gives: numbers with the words between them, a unit, smaller units (5 ft 10 in), the other fields."""

    numbers: list[Number]
    joints: list[str]
    code: str
    smaller: list[tuple[Number, Unit]]
    rest: list[str]
    times: bool


class Style(NamedTuple):
    """How the given or the converted quantity is written.

    words: units in words, or in symbols; None writes none. temperatures: those in words, too. adjective: "-" makes an
    adjective, other words come before the unit. millions: in words also beside symbols. commas: "off" for none, "5"
    for none in four digits. in_letters: the numbers are spelled.
    """

    words: bool | None
    adjective: str = ""
    american: bool = False
    temperatures: bool = False
    millions: bool = False
    commas: str = ""
    in_letters: bool = False

    def number(self, text: str) -> str:
        """Write a number that is in digits and commas."""
        words = spelled(text, american=self.american) if self.in_letters else None
        if words is not None:
            return words.replace(" ", "-") if self.is_adjective else words
        if self.commas in ("off", "gaps") or (self.commas == "5" and _FOUR_DIGITS.fullmatch(text)):
            return text.replace(",", "")
        return text

    @property
    def is_adjective(self) -> bool:
        """Whether words are joined to one adjective."""
        return self.adjective.startswith("-")


def series(quantity: Quantity, numbers: list[Number], unit: Unit, style: Style) -> str:
    """Write the numbers of a range with their unit, which symbols have after each number of `5 m × 6 m`."""
    if quantity.times and style.words is not None and not _in_words(unit, style):
        return " × ".join(phrase(each.text, each.value, unit, style) for each in numbers)
    texts = [style.number(number.text) + _power(unit, style) for number in numbers]
    as_one = join(quantity, texts, style, words=_in_words(unit, style))
    return _with_unit(as_one, _is_many(numbers[-1].text, numbers[-1].value), unit, style)


def join(quantity: Quantity, texts: list[str], style: Style, *, words: bool) -> str:
    """Write what is in a range, with hyphens where words make an adjective of it."""
    written = texts[0]
    for joint, text in zip(quantity.joints, texts[1:], strict=False):
        if joint == "–" and text.startswith("−"):
            between = " – "
        elif joint == " by " and quantity.times and style.words is None:
            between = " × "
        else:
            between = joint.replace(" ", "-") if words and style.is_adjective else joint
        written += between + text
    return written


def compound_phrase(parts: list[tuple[str, float, Unit]], style: Style) -> str:
    """Write a quantity of several units: 5 feet 10 inches, a 5-foot-10-inch wall."""
    hyphen = "-" if style.is_adjective and style.words else ""
    each = style._replace(words=bool(style.words), adjective=hyphen)
    texts = [phrase(text, value, unit, each) for text, value, unit in parts]
    texts[-1] += style.adjective[1:] if hyphen else ""
    return (hyphen or " ").join(texts)


def phrase(text: str, value: float, unit: Unit, style: Style) -> str:
    """Put a number and its unit together."""
    return _with_unit(style.number(text) + _power(unit, style), _is_many(text, value), unit, style)


def unit_alone(value: float, unit: Unit, style: Style) -> str:
    """Write a unit without its number."""
    return _with_unit("", value != 1, unit._replace(sign="", power=""), style).lstrip(" -")


def _is_many(text: str, value: float) -> bool:
    """Tell whether a number takes the plural: not 1, nor a fraction of 1."""
    return abs(value) != 1 and not ("⁄" in text and abs(value) < 1)


def _in_words(unit: Unit, style: Style) -> bool:
    return unit.symbol in NAMED or bool(style.words and (style.temperatures or not unit.kind.startswith("temperature")))


def _power(unit: Unit, style: Style) -> str:
    """Return the power of ten of a unit of millions, where it stands in digits."""
    return f"×10{unit.power}" if unit.power and not (style.words or style.millions) else ""


def _with_unit(text: str, many: bool, unit: Unit, style: Style) -> str:
    text, adjective = unit.sign + text, style.adjective.replace("&nbsp;", " ")
    if unit.power and (style.words or style.millions):
        text += ("-" if style.is_adjective else " ") + MULTIPLES[unit.power]
    if style.words is None:
        return text
    if not _in_words(unit, style):
        symbol = unit.symbol.replace("US ", "U.S. ") if style.american else unit.symbol
        before = f" {adjective.strip()}" if adjective and not style.is_adjective else ""
        return text + before + symbol if symbol.startswith("/") else f"{text}{before} {symbol}"
    name = unit.plural if (many or unit.power) and not style.is_adjective else unit.singular
    if style.american:
        name = _AMERICAN.sub(r"\1er", name).replace("US ", "U.S. ")
    if style.is_adjective:
        return f"{text}-{name.replace(' ', '-')}{adjective[1:]}".rstrip()
    return f"{text} {adjective.strip()} {name}" if adjective else f"{text} {name}"
