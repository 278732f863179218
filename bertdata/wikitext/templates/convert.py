"""Renders `{{convert}}` and `{{cvt}}`: a quantity, its unit in words or symbols, the converted value in parentheses.

Covers ranges, compound inputs (5 ft 10 in), several outputs and the default rounding of Wikipedia's Module:Convert.
A call that names an unknown unit keeps its own number and unit.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache, partial

from bertdata.wikitext.templates.measurement_units import UNITS, Unit
from bertdata.wikitext.templates.numbers import Number, read_number

Arguments = dict[str, str]

_COMPOUND = {
    "ftin": ("ft", "in"),
    "ft in": ("ft", "in"),
    "stlb": ("st", "lb"),
    "st lb": ("st", "lb"),
    "lboz": ("lb", "oz"),
}
_MULTIPLES = {"e3": "thousand", "e6": "million", "e9": "billion", "e12": "trillion"}
_MULTIPLE = re.compile(r"(e3|e6|e9|e12)([^/]+)")
NAMED = frozenset(["acre", "long ton", "short ton", "million acre", "fathom", "furlong"])
"""Units that are written out where others are abbreviated."""
MORE_PRECISE = frozenset(["ft", "lb"])
"""Outputs that are as precise as the SI unit of a whole number would be."""
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
    "values": (None, None), "none": (None, None), "unit": (None, None),
}  # fmt: skip
_RANGE_IN_ONE = re.compile(r"([^ –-]*\d)\s*(–|-|to|and|×|x|±)\s*([\d.].*)")
_LONGEST_RANGE = 400
_AMERICAN = re.compile(r"(met|lit)re")
_POSITIONS = [str(number) for number in range(1, 32)]


@dataclass(frozen=True)
class Quantity:
    """What a call gives: numbers with the words between them, a unit, smaller units (5 ft 10 in), the other fields."""

    numbers: list[Number]
    joints: list[str]
    code: str
    smaller: list[tuple[Number, Unit]]
    rest: list[str]
    times: bool


def convert(arguments: Arguments, *, abbreviate: bool = False) -> str | None:
    """Render the arguments of `{{convert}}`, units as symbols where `abbreviate`; None where they hold no number.

    >>> convert({"1": "5", "2": "ft", "3": "10", "4": "in", "5": "m"})
    '5 feet 10 inches (1.78 m)'
    >>> convert({"1": "5", "2": "to", "3": "10", "4": "km", "5": "mi"}, abbreviate=True)
    '5 to 10 km (3.1 to 6.2 mi)'
    """
    options = {key: value.strip() for key, value in arguments.items()}
    quantity = _read_quantity([options[n] for n in _POSITIONS if n in options])
    if quantity is None:
        return None
    unit = _unit(quantity.code)
    if unit is None:
        return f"{_join(quantity, [number.text for number in quantity.numbers])} {quantity.code}".strip()
    in_words, out_words = _IN_WORDS.get(options.get("abbr", "on" if abbreviate else ""), (not abbreviate, False))
    if not abbreviate and "abbr" not in options and options.get("disp") in ("or", "slash"):
        out_words = True
    targets, places, words = _read_rest(quantity, unit, options)
    adjective, other_adjective = _adjectives(options, words)

    def given(words: bool | None, adjective: str) -> str:
        if quantity.smaller:
            parts = [(quantity.numbers[0], unit), *quantity.smaller]
            return _compound_phrase(
                [(number.text, number.value, its_unit) for number, its_unit in parts], words, adjective, options
            )
        return _series(quantity, quantity.numbers, unit, words, adjective, options)

    def converted(code: str, words: bool | None, adjective: str) -> str:
        values = _values(quantity, unit)
        if code in _COMPOUND:
            parts = [_compound(number, unit, _COMPOUND[code], places) for number in values]
            return _join(quantity, [_compound_phrase(part, words, adjective, options) for part in parts])
        target = UNITS[code] if code in UNITS else _unit(code)
        if target is None or target.kind != unit.kind:
            return ""
        texts = _converted_numbers(values, unit, target, places, options)
        numbers = [Number(text, number.value if (number := read_number(text)) else 0.0, 0) for text in texts]
        return _series(quantity, numbers, target, words, adjective, options)

    disp = options.get("disp", "")
    if disp in ("number", "output number only"):
        return converted(targets[0], None, "")
    if disp in ("out", "output only"):
        return converted(targets[0], out_words, adjective)
    if options.get("order") == "flip" or disp == "flip":
        first, others = converted(targets[0], in_words, adjective), [given(out_words, other_adjective)]
    else:
        first, others = given(in_words, adjective), [converted(code, out_words, other_adjective) for code in targets]
    others = [text for text in others if text]
    if not first or not others:
        return first or "".join(others)
    if disp in ("or", "comma", "slash"):
        return first + {"or": " or ", "comma": ", ", "slash": " / "}[disp] + others[0]
    opening, closing = "[]" if disp == "sqbr" else "()"
    return f"{first} {opening}{'; '.join(others)}{closing}"


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
    if code in UNITS:
        return UNITS[code]
    if (multiple := _MULTIPLE.fullmatch(code)) is not None and multiple[2] in UNITS:
        word, unit = _MULTIPLES[multiple[1]] + " ", UNITS[multiple[2]]
        names = (word + unit.symbol, word + unit.plural, word + unit.plural)
        return Unit(unit.kind, unit.scale * 10.0 ** int(multiple[1][1:]), *names, unit.default)
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
        elif not targets and field and (field in _COMPOUND or all(_unit(code) for code in _codes(field))):
            targets = field
        elif field:
            words.append(field)
    if not targets:
        small = unit.symbol == "m" and 0 < quantity.numbers[0].value < FEET_AND_INCHES_UNDER
        targets = "ftin" if small else unit.default
    return [targets] if targets in UNITS or targets in _COMPOUND else _codes(targets), places, words


def _codes(field: str) -> list[str]:
    return field.replace("+", " ").split()


def _adjectives(options: Arguments, words: list[str]) -> tuple[str, str]:
    """Return what is added to the given and to the converted unit: "-" makes an adjective, other words precede it."""
    if options.get("disp") == "preunit":
        return (words[0] if words else "", words[-1] if len(words) > 1 else "")
    given = {"on": "-", "mid": "- " + " ".join(words[:1]), "pre": " ".join(words[:1])}.get(options.get("adj", ""), "")
    return given, "-" if given.startswith("-") else ""


def _join(quantity: Quantity, texts: list[str]) -> str:
    return texts[0] + "".join(joint + text for joint, text in zip(quantity.joints, texts[1:], strict=False))


def _values(quantity: Quantity, unit: Unit) -> list[Number]:
    """Return the numbers to convert; a compound input is one number, as precise as its smallest unit."""
    if not quantity.smaller:
        return quantity.numbers
    parts = [number.value * small.scale / unit.scale for number, small in quantity.smaller]
    number, small = quantity.smaller[-1]
    finer = math.floor(math.log10(2 * unit.scale / small.scale)) + (small.symbol == "in")
    return [Number("", quantity.numbers[0].value + sum(parts), max(0, number.decimals) + finer)]


def _converted_numbers(
    numbers: list[Number], unit: Unit, target: Unit, places: int | None, options: Arguments
) -> list[str]:
    """Convert and round; by default all the numbers of a range to the decimals of the most precise."""
    values = [(number.value * unit.scale + unit.offset - target.offset) / target.scale for number in numbers]
    step = options.get("round", "")
    if re.fullmatch(r"\d{1,3}(\.\d{1,3})?", step) and float(step) > 0:
        values = [math.floor(value / float(step) + 0.5) * float(step) for value in values]
        places = 1 if float(step) < 1 else 0
    elif places is None:
        sigfig = int(options["sigfig"]) if re.fullmatch(r"[1-9]", options.get("sigfig", "")) else 0
        pairs = zip(numbers, values, strict=True)
        places = max(_default_places(number, value, unit, target, sigfig) for number, value in pairs)
    return [_fixed(value, max(-300, min(places, 30))) for value in values]


def _default_places(number: Number, value: float, unit: Unit, target: Unit, sigfig: int) -> int:
    """As precise as the input, and never under two significant digits; a temperature's are those of its kelvins.

    Source: the function default_precision of Module:Convert.
    """
    if not value:
        return max(0, number.decimals)
    size = math.floor(math.log10(abs(value)) + 1e-14)
    if sigfig:
        return sigfig - 1 - size
    if unit.kind == "temperature":
        kelvins = abs(number.value * unit.scale + unit.offset)
        return max(number.decimals, 2 - math.floor(math.log10(max(kelvins, 1.0)) + 1e-14))
    finer = 1 / unit.scale if is_more_precise(number.value, target) else abs(number.value / value)
    return max(math.floor(number.decimals + math.log10(2 * finer)), 1 - size)


def is_more_precise(value: float, target: Unit) -> bool:
    """Tell whether a number is converted to this unit as if it were one of the SI unit."""
    return target.symbol in MORE_PRECISE and value == math.floor(value)


def _fixed(value: float, places: int) -> str:
    rounded = math.floor(abs(value) * 10.0**places + 0.5) / 10.0**places
    sign = "−" if value < 0 and rounded else ""
    if rounded >= 1e10:
        power = math.floor(math.log10(rounded))
        return f"{sign}{rounded / 10.0**power:.{max(0, power + places)}f}×10{power}"
    return f"{sign}{rounded:,.{max(0, places)}f}"


def _compound(number: Number, unit: Unit, codes: tuple[str, str], places: int | None) -> list[tuple[str, float, Unit]]:
    """Convert to a larger and a smaller unit, the larger left out where it is zero: texts, values and units."""
    big, small = UNITS[codes[0]], UNITS[codes[1]]
    value = number.value * unit.scale / small.scale
    if places is None:
        places = _default_places(number, value, unit, small, 0)
    shift = 10.0 ** max(0, min(places, 10))
    many, few = divmod(math.floor(abs(value) * shift + 0.5) / shift, round(big.scale / small.scale))
    parts = [(f"{few:,.{max(0, min(places, 10))}f}" if few else "0", few, small)]
    if many:
        parts.insert(0, (f"{many:,.0f}", many, big))
    return [("−" + parts[0][0], *parts[0][1:]), *parts[1:]] if value < 0 else parts


def _compound_phrase(
    parts: list[tuple[str, float, Unit]], words: bool | None, adjective: str, options: Arguments
) -> str:
    """Write a quantity of several units: 5 feet 10 inches, a 5-foot-10-inch wall."""
    hyphen = "-" if adjective.startswith("-") and words else ""
    texts = [_phrase(text, value, unit, words, hyphen, options) for text, value, unit in parts]
    texts[-1] += adjective[1:] if hyphen else ""
    return (hyphen or " ").join(texts)


def _series(
    quantity: Quantity, numbers: list[Number], unit: Unit, words: bool | None, adjective: str, options: Arguments
) -> str:
    """Write the numbers of a range with their unit, which symbols have after each number of `5 m × 6 m`."""
    texts = [number.text for number in numbers]
    if quantity.times and words is False and not _is_named(unit):
        return " × ".join(_phrase(each.text, each.value, unit, words, adjective, options) for each in numbers)
    return _phrase(_join(quantity, texts), numbers[-1].value, unit, words, adjective, options)


def _is_named(unit: Unit) -> bool:
    return unit.symbol in NAMED


def _phrase(text: str, value: float, unit: Unit, words: bool | None, adjective: str, options: Arguments) -> str:
    """Put a number and its unit together; `words` None writes the number alone."""
    text = unit.sign + text
    if words is None:
        return text
    plural = abs(value) != 1 and not ("⁄" in text and abs(value) < 1)
    adjective = adjective.replace("&nbsp;", " ")
    american = options.get("sp") == "us"
    if (not words and not _is_named(unit)) or (unit.kind.startswith("temperature") and options.get("abbr") != "off"):
        symbol = unit.symbol.replace("US ", "U.S. ") if american else unit.symbol
        before = f" {adjective.strip()}" if adjective and not adjective.startswith("-") else ""
        return text + before + symbol if symbol.startswith("/") else f"{text}{before} {symbol}"
    name = unit.plural if plural and not adjective.startswith("-") else unit.singular
    if american:
        name = _AMERICAN.sub(r"\1er", name).replace("US ", "U.S. ")
    if adjective.startswith("-"):
        return f"{text}-{name.replace(' ', '-')}{adjective[1:]}".rstrip()
    return f"{text} {adjective.strip()} {name}" if adjective else f"{text} {name}"
