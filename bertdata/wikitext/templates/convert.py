"""Renders `{{convert}}` and `{{cvt}}`: a quantity, its unit in words or symbols, the converted value in parentheses.

Covers ranges, compound inputs (5 ft 10 in), several outputs and the default rounding of Wikipedia's Module:Convert.
A call that names an unknown unit keeps its own number and unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

from bertdata.wikitext.templates.measurement_units import UNITS, Unit
from bertdata.wikitext.templates.numbers import Number, read_number
from bertdata.wikitext.templates.quantities import (
    MULTIPLES,
    Quantity,
    Style,
    compound_phrase,
    join,
    series,
    unit_alone,
)
from bertdata.wikitext.templates.rounding import converted_numbers, default_places

Arguments = Mapping[str, str]

_COMPOUND = {
    "ftin": ("ft", "in"),
    "ft in": ("ft", "in"),
    "stlb": ("st", "lb"),
    "st lb": ("st", "lb"),
    "lboz": ("lb", "oz"),
}
_MULTIPLE = re.compile(rf"e({'|'.join(MULTIPLES)})([^/]+)")
FEET_AND_INCHES_UNDER = 3
"""Fewer metres are converted to feet and inches, more to feet."""
_CURRENCIES = frozenset(["$", "US$", "£", "€", "A$", "CA$", "¥"])
_RANGES = {
    "to": " to ", "to(-)": " to ", "till": " to ", "to about": " to about ", "-": "–", "–": "–", "—": "–",
    "and": " and ", "and(-)": " and ", "&": " and ", "or": " or ",
    "by": " by ", "x": " by ", "×": " × ", "xx": " × ", "*": " × ",
    "+/-": " ± ", "±": " ± ", ",": ", ", ", and": ", and ", ", or": ", or ", "/": "/", "+": " + ",
}  # fmt: skip
# abbr= -> is the given unit in words, is the converted one; None writes no unit at all
_IN_WORDS: dict[str, tuple[bool | None, bool | None]] = {
    "on": (False, False), "sym": (False, False), "comma": (False, False), "in": (False, True), "off": (True, True),
    "values": (None, None), "none": (None, None), "unit": (False, False),
}  # fmt: skip
_OUTPUT_ALONE = ("number", "output number only", "out", "output only", "unit2")
_JOINED = {"or": " or ", "comma": ", ", "slash": " / "}
_RANGE_IN_ONE = re.compile(r"([^ –-]*\d)\s*(–|-|to|and|×|x|±)\s*([\d.].*)")
_LONGEST_RANGE = 400
_POSITIONS = [str(number) for number in range(1, 32)]


def convert(arguments: Arguments, *, abbreviate: bool = False) -> str | None:
    """Render the arguments of `{{convert}}`, units as symbols where `abbreviate`; None where they hold no number.

    >>> convert({"1": "5", "2": "ft", "3": "10", "4": "in", "5": "m"})
    '5 feet 10 inches (1.78 m)'
    >>> convert({"1": "5", "2": "to", "3": "10", "4": "km", "5": "mi"}, abbreviate=True)
    '5 to 10 km (3.1 to 6.2 mi)'
    """
    options = {name: arguments[name].strip() for name in arguments if not name.isdecimal()}
    options |= {n: arguments[n].strip() for n in _POSITIONS if n in arguments}
    quantity = _read_quantity([options[n] for n in _POSITIONS if n in options])
    if quantity is None:
        return None
    unit = _unit(quantity.code)
    if unit is None:
        texts = [number.text for number in quantity.numbers]
        return f"{join(quantity, texts, Style(words=True), words=True)} {quantity.code}".strip()
    targets, places, words = _read_rest(quantity, unit, options)
    given_style, converted_style = _styles(options, words, abbreviate=abbreviate)

    def given() -> str:
        if quantity.smaller:
            parts = [(quantity.numbers[0], unit), *quantity.smaller]
            return compound_phrase([(number.text, number.value, its_unit) for number, its_unit in parts], given_style)
        return series(quantity, quantity.numbers, unit, given_style)

    def converted(code: str) -> str:
        values = _values(quantity, unit)
        if code in _COMPOUND:
            parts = [_compound(number, unit, _COMPOUND[code], places) for number in values]
            texts = [compound_phrase(part, converted_style) for part in parts]
            return join(quantity, texts, converted_style, words=bool(converted_style.words))
        target = UNITS[code] if code in UNITS else _unit(code)
        if target is None or target.kind != unit.kind:
            return ""
        texts = converted_numbers(values, unit, target, places, options)
        numbers = [Number(text, number.value if (number := read_number(text)) else 0.0, 0) for text in texts]
        if disp == "unit2":
            return unit_alone(numbers[0].value, target, converted_style)
        return series(quantity, numbers, target, converted_style)

    disp = options.get("disp", "")
    between = {"comma": ", "}.get(disp, "; ")
    outputs = between.join(filter(None, map(converted, targets)))
    capital = options.get("spell", "")[:1].isupper()
    if disp == "unit":
        return unit_alone(quantity.numbers[0].value, unit, given_style)
    if disp in _OUTPUT_ALONE:
        return _begun(outputs, capital=capital)
    first, other = (outputs, given()) if _is_flipped(options) else (given(), outputs)
    first = _begun(first, capital=capital)
    if not first or not other:
        return first or other
    if disp in _JOINED:
        joint = "/" if disp == "slash" and options.get("abbr") in ("on", "off", "unit") else _JOINED[disp]
        return f"{first}{joint}{other}"
    opening, closing = "[]" if disp == "sqbr" else "()"
    return f"{first} {opening}{other}{closing}"


def _begun(text: str, *, capital: bool) -> str:
    return text[:1].upper() + text[1:] if capital else text


def _is_flipped(options: Arguments) -> bool:
    return options.get("order") == "flip" or "flip" in (options.get("disp"), options.get("adj"))


def _styles(options: Arguments, words: list[str], *, abbreviate: bool) -> tuple[Style, Style]:
    """Return how the given and the converted quantity are written; where they change places, so does `abbr=`."""
    asked = tuple([options.get(name) for name in _OPTIONS_OF_STYLE])
    return _styles_of(asked, tuple(words), abbreviate)


_OPTIONS_OF_STYLE = ("abbr", "adj", "comma", "disp", "order", "sp", "spell")


@lru_cache(maxsize=1024)
def _styles_of(asked: tuple[str | None, ...], words: tuple[str, ...], abbreviate: bool) -> tuple[Style, Style]:
    options = {name: value for name, value in zip(_OPTIONS_OF_STYLE, asked, strict=True) if value is not None}
    spell, disp = options.get("spell", "").lower(), options.get("disp", "")
    flipped = _is_flipped(options)
    first, second = _IN_WORDS.get(options.get("abbr", "on" if abbreviate else ""), (not abbreviate, False))
    if not abbreviate and "abbr" not in options and (disp in ("or", "slash") or spell == "on"):
        second = True
    adjective, other_adjective = _adjectives(options, words)
    style = Style(
        words=first,
        adjective=adjective,
        american=options.get("sp") == "us",
        temperatures=bool(options.get("abbr")),
        millions=options.get("abbr") == "unit" or first is None,
        commas=options.get("comma", ""),
        in_letters=spell in ("in", "on"),
    )
    other = style._replace(words=second, adjective=other_adjective, in_letters=spell == "on")
    other = other._replace(millions=options.get("abbr") == "unit")
    if disp in ("number", "output number only"):
        other = other._replace(words=None, adjective="")
    elif disp in _OUTPUT_ALONE:
        other = other._replace(adjective=adjective)
    return (other, style) if flipped else (style, other)


cvt = partial(convert, abbreviate=True)
"""Render the arguments of `{{cvt}}`."""


def is_plain_unit(code: str) -> bool:
    """Tell whether a code always means one unit of the table, with nothing written before the number.

    >>> is_plain_unit("km"), is_plain_unit("ftin"), is_plain_unit("long ton")
    (True, False, False)
    """
    plain = code in UNITS and _codes(code) == [code] and not UNITS[code].sign
    return plain and code not in _COMPOUND and code not in _RANGES and read_number(code) is None


@lru_cache(maxsize=1024)
def _unit(code: str) -> Unit | None:
    """Find a unit: one of the table, a multiple (e6acre), a ratio of two (kg/ha) or of a currency and one ($/acre)."""
    code = code.replace("_", " ")
    if code in UNITS:
        return UNITS[code]
    if (multiple := _MULTIPLE.fullmatch(code)) is not None and multiple[2] in UNITS:
        unit = UNITS[multiple[2]]
        return unit._replace(scale=unit.scale * 10.0 ** int(multiple[1]), power=multiple[1])
    above, slash, below = code.partition("/")
    if not slash or below not in UNITS or not (above in UNITS or above in _CURRENCIES):
        return None
    bottom, top = UNITS[below], UNITS.get(above)
    scale, symbol, per = 1 / bottom.scale, f"/{bottom.symbol}", f"per {bottom.singular}"
    if top is None:
        return Unit(f"{above}/{bottom.kind}", scale, symbol, per, per, f"{above}/{bottom.default}", sign=above)
    names = (top.symbol + symbol, f"{top.singular} {per}", f"{top.plural} {per}")
    return Unit(f"{top.kind}/{bottom.kind}", top.scale * scale, *names, f"{top.default}/{bottom.default}")


def _read_quantity(fields: list[str]) -> Quantity | None:
    numbers: list[Number] = []
    joints: list[str] = []
    times = "x" in fields
    position = 0
    while position < len(fields):
        number, both = read_number(fields[position]), None
        if len(fields[position]) <= _LONGEST_RANGE:
            both = _RANGE_IN_ONE.fullmatch(fields[position])
        if number is not None:
            numbers.append(number)
        elif both is not None and (low := read_number(both[1])) and (high := read_number(both[3])):
            numbers += [low, high]
            joints.append(_RANGES[both[2]])
        else:
            return None
        position += 1
        if fields[position : position + 1] == [] or fields[position] not in _RANGES:
            break
        joints.append(_RANGES[fields[position]])
        position += 1
    if not numbers:
        return None
    code = fields[position] if position < len(fields) else ""
    position += 1
    smaller: list[tuple[Number, Unit]] = []
    unit = _unit(code)
    while unit is not None and position + 1 < len(fields):
        number, small = read_number(fields[position]), UNITS.get(fields[position + 1])
        if number is None or small is None or small.kind != unit.kind or small.scale >= unit.scale:
            break
        smaller.append((number, small))
        position += 2
    return Quantity(numbers, joints, code, smaller, fields[position:], times)


def _read_rest(quantity: Quantity, unit: Unit, options: Arguments) -> tuple[list[str], int | None, list[str]]:
    """Return the output units, the rounding and the words among the fields after the input unit."""
    targets, places, words = "", None, []
    for field in quantity.rest:
        if re.fullmatch(r"[-−]?\d{1,2}", field):
            places = int(field.replace("−", "-"))
        elif not targets and field and (field in _COMPOUND or all(map(_unit, _targets(field)))):
            targets = field
        elif field:
            words.append(field)
    if not targets:
        small = unit.symbol == "m" and 0 < quantity.numbers[0].value < FEET_AND_INCHES_UNDER
        targets = "ftin" if small else unit.default
    return [targets] if targets in _COMPOUND else _targets(targets), places, words


def _targets(field: str) -> list[str]:
    """Return the codes of output units; one code may have spaces."""
    field = field.replace("_", " ")
    return [field] if field in UNITS else _codes(field)


def _codes(field: str) -> list[str]:
    return field.replace("+", " ").split()


def _adjectives(options: Arguments, words: Sequence[str]) -> tuple[str, str]:
    """Return what is added to the given and to the converted unit: "-" makes an adjective, other words precede it."""
    if options.get("disp") == "preunit":
        return (words[0] if words else "", words[-1] if len(words) > 1 else "")
    given = {"on": "-", "mid": "- " + " ".join(words[:1]), "pre": " ".join(words[:1])}.get(options.get("adj", ""), "")
    return given, "-" if given.startswith("-") else ""


def _values(quantity: Quantity, unit: Unit) -> list[Number]:
    """Return the numbers to convert; a compound input is one number, as precise as its smallest unit."""
    if not quantity.smaller:
        return quantity.numbers
    parts = [number.value * small.scale / unit.scale for number, small in quantity.smaller]
    number, small = quantity.smaller[-1]
    finer = math.floor(math.log10(2 * unit.scale / small.scale)) + (small.symbol == "in")
    return [Number("", quantity.numbers[0].value + sum(parts), max(0, number.decimals) + finer)]


def _compound(number: Number, unit: Unit, codes: tuple[str, str], places: int | None) -> list[tuple[str, float, Unit]]:
    """Convert to a larger and a smaller unit, the larger left out where it is zero: texts, values and units."""
    big, small = UNITS[codes[0]], UNITS[codes[1]]
    value = number.value * unit.scale / small.scale
    if places is None:
        places = default_places(number, value, unit, small)
    shift = 10.0 ** max(0, min(places, 10))
    many, few = divmod(math.floor(abs(value) * shift + 0.5) / shift, round(big.scale / small.scale))
    parts = [(f"{few:,.{max(0, min(places, 10))}f}" if few else "0", few, small)]
    if many:
        parts.insert(0, (f"{many:,.0f}", many, big))
    return [("−" + parts[0][0], *parts[0][1:]), *parts[1:]] if value < 0 else parts
