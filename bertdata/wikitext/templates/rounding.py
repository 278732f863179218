"""How `{{convert}}` rounds what it converts, and writes the numbers that come out.

Source: the functions default_precision, cvtround and format_number of Module:Convert.
"""

from __future__ import annotations

import math
import re

from bertdata.wikitext.templates.measurement_units import Unit
from bertdata.wikitext.templates.numbers import Number

MORE_PRECISE = frozenset(["ft", "lb"])
"""Outputs that are as precise as the SI unit of a whole number would be."""
LARGEST_IN_FULL, SMALLEST_IN_FULL = 1e9, 1e-4
"""From the first number on, and below the second one, a result is written as a power of ten."""
_POWER_OF_TEN = "×10"
_LARGEST_BESIDE_POWER, _SMALLEST_BESIDE_POWER = 1e3, 1e-2
"""The same where the number that was given is a power of ten."""
_SMALLEST_EXCEPTION = 1e9
MOST_FIGURES = 14
LOST, MOST_PLACES_OF_LOST = 2e-14, 8
"""What is added before a number is rounded to decimals, to at most so many."""
_LARGEST_FRACTION = 1e8
_MOST_PLACES = 300
_STEP = re.compile(r"\d{1,3}(\.\d{1,3})?")


def converted_numbers(
    numbers: list[Number], unit: Unit, target: Unit, places: int | None, options: dict[str, str]
) -> list[str]:
    """Convert and round; by default all the numbers of a range to the decimals of the most precise."""
    values = [(number.value * unit.scale + unit.offset - target.offset) / target.scale for number in numbers]
    in_powers = any(_POWER_OF_TEN in number.text for number in numbers)
    if "frac" in options and re.fullmatch(r"[1-9]\d{0,3}", options["frac"]) and int(options["frac"]) > 1:
        return [_fraction(value, int(options["frac"])) for value in values]
    step = options.get("round", "")
    if places is not None:
        decimals = [places] * len(values)
    elif "sigfig" in options and re.fullmatch(r"[1-9]\d?", options["sigfig"]):
        figures = min(int(options["sigfig"]), MOST_FIGURES)
        decimals = [figures - 1 - int(f"{value:.{figures - 1}e}".partition("e")[2]) for value in values]
    elif step and _STEP.fullmatch(step) and float(step) > 0:
        values = [math.floor(value / float(step) + 0.5) * float(step) for value in values]
        decimals = [int(float(step) < 1 and value != math.floor(value)) for value in values]
    else:
        pairs = zip(numbers, values, strict=True)
        decimals = [max(default_places(number, value, unit, target) for number, value in pairs)] * len(values)
    return [rounded(value, count, in_powers=in_powers) for value, count in zip(values, decimals, strict=True)]


def default_places(number: Number, value: float, unit: Unit, target: Unit) -> int:
    """As precise as the input, and never under two significant digits; a temperature's are those of its kelvins."""
    if unit.kind == "temperature":
        kelvins = abs(number.value * unit.scale + unit.offset)
        return max(number.decimals, 2 - _size(max(kelvins, 1.0)))
    if not value:
        return 0
    finer = 1 / unit.scale if is_more_precise(number.value, target) else abs(number.value / value)
    return max(math.floor(number.decimals + math.log10(2 * finer)), 1 - _size(value))


def is_more_precise(value: float, target: Unit) -> bool:
    """Tell whether a number is converted to this unit as if it were one of the SI unit."""
    return target.symbol in MORE_PRECISE and value == math.floor(value)


def rounded(value: float, places: int, *, in_powers: bool = False) -> str:
    """Write a number rounded to so many decimals; a very large or small one as a power of ten.

    >>> rounded(1234.567, 1), rounded(-1234.567, -2), rounded(4.04e13, -12), rounded(0.0000123, 6)
    ('1,234.6', '−1,200', '4.0×1013', '1.2×10−5')
    >>> rounded(1234.567, -2, in_powers=True)
    '1.2×103'
    """
    places = max(-_MOST_PLACES, min(places, 30))
    number = _nearest(abs(value), places)
    sign = "−" if value < 0 and number else ""
    largest, smallest = LARGEST_IN_FULL, SMALLEST_IN_FULL
    if in_powers:
        largest, smallest = _LARGEST_BESIDE_POWER, _SMALLEST_BESIDE_POWER
    is_exception = number == _SMALLEST_EXCEPTION and places == 0 and not in_powers
    if not number or (smallest <= number < largest) or is_exception:
        return f"{sign}{number:,.{max(0, places)}f}"
    power = _size(number)
    exponent = str(power).replace("-", "−")
    return f"{sign}{number / 10.0**power:.{max(0, min(power + places, MOST_FIGURES - 1))}f}{_POWER_OF_TEN}{exponent}"


def _nearest(value: float, places: int) -> float:
    """Round a number; one that lies between two goes to the even one, but for what its last bits may have lost."""
    if places < 0:
        return round(value / 10.0**-places) * 10.0**-places
    return round((value + (LOST if places <= MOST_PLACES_OF_LOST else 0.0)) * 10.0**places) / 10.0**places


def _size(value: float) -> int:
    """Return the power of ten of a number."""
    return math.floor(math.log10(abs(value)) + 1e-14)


def _fraction(value: float, below: int) -> str:
    """Write a number to the nearest fraction of a kind, as 3+1⁄4 where quarters are asked for.

    >>> _fraction(3.24, 4), _fraction(2.99, 4), _fraction(-0.5, 8)
    ('3+1⁄4', '3', '−1⁄2')
    """
    sign, value = ("−" if value < 0 else ""), abs(value)
    if not value or value > _LARGEST_FRACTION:
        return f"{value:,.2f}" if value else "0"
    whole, above = divmod(math.floor(value * below + 0.5 + 2e-14), below)
    shared = math.gcd(above, below)
    if not above:
        return f"{sign}{whole:,}"
    return f"{sign}{f'{whole:,}+' if whole else ''}{above // shared}⁄{below // shared}"
