"""Numbers as a wiki writes and reads them: `{{formatnum:}}`, after MediaWiki's `Language::formatNum`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NUMBER = re.compile(r"(-(?=[\d.]))?(?:\d{1,1000}|(?=\.\d))(?:\.\d{0,1000})?(?:[eE][-+]?\d{1,4})?", re.ASCII)
_NUMERIC = re.compile(r"\s*[-+]?(?:\d{1,1000}(?:\.\d{0,1000})?|\.\d{1,1000})(?:[eE][-+]?\d{1,4})?\s*", re.ASCII)
_MINUS = "−"
_DIGITS = "0123456789"
_LARGEST_POWER = 300
_EXACT_DIGITS = 15
"""A number of so many signs or fewer is the same as a float."""
_USUAL_GROUPS = 4


@dataclass(frozen=True)
class Numbers:
    """How numbers are written: the sign between groups, the decimal sign, from how many digits on they are grouped.

    `pairs` groups all but the last three digits by two, `digits` are the ten that are written, "" the usual ones,
    `plain_digits` those of a number without separators where they are others. `read` says what the signs of a written
    number stand for.

    >>> Numbers(".", ",").format("-12345.6"), Numbers(" ", ",", 5).format("1234"), Numbers().format("MMXX")
    ('−12.345,6', '1234', 'MMXX')
    >>> Numbers(pairs=True).format("1234567"), Numbers(".", ",").format("12345", separators=False)
    ('12,34,567', '12345')
    """

    group: str = ","
    decimal: str = "."
    group_from: int = 4
    pairs: bool = False
    digits: str = ""
    plain_digits: str = ""
    read: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Numbers:
        """Return the numbers of a language, by its facts."""
        group, decimal, group_from, pairs, digits, *plain_digits = facts["write"]
        return cls(group, decimal, group_from, bool(pairs), digits, "".join(plain_digits), facts["read"])

    def format(self, text: str, *, separators: bool = True) -> str:
        """Write a number as `{{formatnum:}}` does, and each number of a text that is more than one."""
        if text in {"INF", "-INF"}:
            return text.replace("-", _MINUS).replace("INF", "∞")
        if _NUMERIC.fullmatch(text):
            return self._written(text.strip(), separators)
        return _NUMBER.sub(lambda number: self._written(number[0], separators), text)

    def unformat(self, text: str) -> str:
        """Return the number that a text stands for, as `{{formatnum:|R}}` does.

        >>> Numbers(read={".": ",", ",": "."}).unformat("1.234,5")
        '1234.5'
        """
        text = text.replace(_MINUS, "-").replace("∞", "INF")
        return "".join(self.read.get(sign, sign) for sign in text).replace(",", "")

    def _written(self, number: str, separators: bool) -> str:
        grouped = separators and bool(self.group) and not self._is_left_short(number)
        if grouped:
            number = number.removeprefix("+")
            number = _without_exponent(number) if "e" in number.lower() else _as_float(number)
        sign, number = (_MINUS, number[1:]) if number.startswith("-") else ("", number)
        number = number.replace("-", _MINUS)
        whole, point, rest = number.partition(".")
        if separators:
            number = (self._grouped(whole) if grouped else whole) + (self.decimal if point else "") + rest
        digits = self.digits if separators else self.plain_digits or self.digits
        return sign + (number.translate(str.maketrans(_DIGITS, digits)) if digits else number)

    def _is_left_short(self, number: str) -> bool:
        """Tell whether a number has too few digits for groups where the wiki leaves four together: `1e5` stays."""
        whole = number.removeprefix("-")
        return self.group_from > _USUAL_GROUPS and not whole[: self.group_from].isdecimal()

    def _grouped(self, whole: str) -> str:
        if not self.group or len(whole) < max(_USUAL_GROUPS, self.group_from):
            return whole
        head, size = whole[:-3], 2 if self.pairs else 3
        parts = [head[max(0, end - size) : end] for end in range(len(head), 0, -size)]
        return self.group.join([*reversed(parts), whole[-3:]])


def _as_float(number: str) -> str:
    """Return a number with the digits that a float keeps, as many decimals as before, as MediaWiki's formatter does.

    >>> _as_float("1234567890.123456789"), _as_float("12345678901234567890"), _as_float("1.50")
    ('1234567890.123456700', '12345678901234567000', '1.50')
    """
    if len(number) <= _EXACT_DIGITS or not math.isfinite(float(number)):
        return number
    from decimal import Decimal

    return f"{Decimal(repr(float(number))):.{len(number.partition('.')[2])}f}"


def _without_exponent(number: str) -> str:
    """Write a number that has an exponent without it, to three decimals, as MediaWiki's formatter does.

    >>> _without_exponent("1.5e3"), _without_exponent("-2E-2"), _without_exponent("1.0E+25")
    ('1500', '-0.02', '10000000000000000000000000')
    """
    value = float(number)
    if abs(value) >= 10.0**_LARGEST_POWER:
        return number
    from decimal import Decimal

    text = f"{Decimal(repr(value)):.3f}"
    return text.rstrip("0").rstrip(".")
