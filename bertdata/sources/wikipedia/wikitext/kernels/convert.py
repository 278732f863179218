"""Plain calls of `{{convert}}` and `{{cvt}}`, compiled; the readable twin is `convert`.

Plain: one decimal number, a unit of the table, perhaps one to convert to, perhaps how to round, and no option but
abbr=on or off, adj=on, sp=us. All others are left to Python.
"""

from __future__ import annotations

import math

import numpy as np

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.templates.convert import SYMBOLS_WITH_PLURAL, is_plain_unit
from bertdata.sources.wikipedia.templates.units import UNITS
from bertdata.sources.wikipedia.wikitext.kernels.common import CODE, SPACE, UNIT, Bytes, Int, Ints, copy, find, lookup
from bertdata.sources.wikipedia.wikitext.kernels.templates import ASK, MOST_ARGUMENTS, stripped

_MOST_DIGITS = 15
_ROOM = 400
# which of its texts: the symbol, the symbol of many, one in words, many in words
_SYMBOL, _SYMBOLS, _ONE, _MANY = range(4)


@inlined
def write_conversion(
    abbreviate: bool, bars: int, source: Bytes, begin: int, end: int, spans: Ints, first: int,
    table: Ints, blob: Bytes, out: Bytes, n: int,
) -> Int:  # fmt: skip
    """Write the text of a call to out[n:], given its arguments, from their first bar on; ASK or its end.

    `bars` is how many arguments there are, -1 where it is not known that each bar of the source parts two.
    """
    if out.size - n < _ROOM:
        return ASK
    count, named, words, both, hyphen, american = 0, 0, not abbreviate, False, False, False
    while begin < end:
        bar = find(source, begin + 1, end, 124)
        equals = find(source, begin + 1, bar, 61)
        left, right = stripped(source, begin + 1, bar)
        if left < 0 or count == MOST_ARGUMENTS:
            return ASK
        if equals == bar:
            spans[first + 2 * count], spans[first + 2 * count + 1] = left, right
            count += 1
            begin = bar
            continue
        named += 1
        if _is(source, left, right, _ABBR_ON):
            words, both = False, False
        elif _is(source, left, right, _ABBR_OFF):
            words, both = True, True
        elif _is(source, left, right, _ADJ_ON):
            hyphen = True
        elif _is(source, left, right, _SP_US):
            american = True
        else:
            return ASK
        begin = bar
    if count < 2 or count > 4 or (bars >= 0 and bars != count + named):
        return ASK
    unit = _unit(source, spans[first + 2], spans[first + 3], table, blob)
    if unit < 0:
        return ASK
    target: Int = _DEFAULT[unit]
    places: Int = 0
    rounded = chosen = False
    for k in range(2, count):
        left, right = spans[first + 2 * k], spans[first + 2 * k + 1]
        if left == right:
            continue
        digit = source[left] == 45
        if right - left - digit <= 2 and _are_digits(source, left + digit, right):
            if count == 4 and k == 2:
                return ASK
            places, rounded = _whole_number(source, left + digit, right), True
            places = -places if digit else places
            continue
        if chosen:
            return ASK
        target, chosen = _unit(source, left, right, table, blob), True
    if target < 0 or _KIND[target] != _KIND[unit]:
        return ASK
    return _write(
        source, spans[first], spans[first + 1], unit, target, places, rounded, words, both, hyphen, american, out, n
    )


@inlined
def _write(
    source: Bytes, begin: int, end: int, unit: int, target: int, places: int, rounded: bool,
    words: bool, both: bool, hyphen: bool, american: bool, out: Bytes, n: int,
) -> Int:  # fmt: skip
    negative = begin < end and source[begin] == 45
    begin += negative
    point, zeros, digits = -1, 0, 0
    whole: Int = 0
    mantissa: Int = 0
    for i in range(begin, end):
        byte = np.int64(source[i])
        if byte == 46 and point < 0 and i > begin:
            point, whole = i, mantissa
        elif 48 <= byte <= 57:
            mantissa = 10 * mantissa + byte - 48
            digits += 1
            zeros = zeros + 1 if byte == 48 else 0
        elif byte != 44 or point >= 0 or i == begin:
            return ASK
    if digits == 0 or digits > _MOST_DIGITS or point == end - 1:
        return ASK
    decimals = end - point - 1 if point >= 0 else -zeros
    value = mantissa / _TENS[_MOST_DIGITS + max(decimals, 0)]
    if negative:
        value = -value
        n = _minus(out, n)
    n = _grouped(whole if point >= 0 else mantissa, out, n)
    if point >= 0:
        n = copy(source, point, end, out, n)
    n = _name(unit, abs(value) != 1, words and (both or not _IN_SYMBOLS[unit]), hyphen, american, out, n)
    result = (value * _SCALE[unit] + _OFFSET[unit] - _OFFSET[target]) / _SCALE[target]
    if not rounded:
        places = _default_places(value, decimals, result, unit)
    if places < -_MOST_DIGITS or places > _MOST_DIGITS or not abs(result) < 1e10:
        return ASK
    power = _TENS[_MOST_DIGITS + places]
    if abs(result) * power > 4e15:
        return ASK
    number = math.floor(abs(result) * power + 0.5) / power
    places = max(places, 0)
    scale = np.int64(_TENS[_MOST_DIGITS + places])
    if number >= 1e10 or number * scale > 4e15:
        return ASK
    shown: Int = np.int64(np.rint(number * scale))
    out[n], out[n + 1] = SPACE, 40
    n += 2
    if result < 0 and number > 0:
        n = _minus(out, n)
    n = _grouped(shown // scale, out, n)
    if places:
        out[n] = 46
        for k in range(places):
            out[n + places - k] = 48 + shown % 10
            shown //= 10
        n += places + 1
    in_words = words and both
    n = _name(target, number != 1, in_words, False, american, out, n)
    out[n] = 41
    return n + 1


@inlined
def _default_places(value: float, decimals: int, result: float, unit: int) -> Int:
    """Round as precisely as the input, and never to under two digits (`convert._default_places`)."""
    if result == 0:
        return max(0, decimals)
    if _IS_TEMPERATURE[unit]:
        kelvins = abs(value * _SCALE[unit] + _OFFSET[unit])
        return max(decimals, 2 - np.int64(math.floor(math.log10(max(kelvins, 1.0)) + 1e-14)))
    if value == 0:
        return 99
    size = np.int64(math.floor(math.log10(abs(result)) + 1e-14))
    return max(np.int64(math.floor(decimals + math.log10(2 * abs(value / result)))), 1 - size)


@inlined
def _name(unit: int, many: bool, words: bool, hyphen: bool, american: bool, out: Bytes, n: int) -> Int:
    """Write a unit after its number."""
    which = (_SYMBOLS if many else _SYMBOL) if not words else (_MANY if many and not hyphen else _ONE)
    begin, end = _TEXT_AT[unit, which], _TEXT_AT[unit, which + 1]
    hyphen = hyphen and words
    if hyphen or _TEXTS[begin] != 47 or words:
        out[n] = 45 if hyphen else SPACE
        n += 1
    start = n
    n = copy(_TEXTS, begin, end, out, n)
    if hyphen:
        for i in range(start, n):
            if out[i] == SPACE:
                out[i] = 45
    if american and words:
        for i in range(start, n - 4):
            metre = out[i] == 109 and out[i + 1] == 101
            litre = out[i] == 108 and out[i + 1] == 105
            if (metre or litre) and out[i + 2] == 116 and out[i + 3] == 114 and out[i + 4] == 101:
                out[i + 3], out[i + 4] = 101, 114
    return n


@inlined
def _minus(out: Bytes, n: int) -> Int:
    out[n], out[n + 1], out[n + 2] = 0xE2, 0x88, 0x92
    return n + 3


@inlined
def _grouped(number: int, out: Bytes, n: int) -> Int:
    """Write a whole number with commas between the thousands."""
    digits, rest = 1, number // 10
    while rest:
        digits, rest = digits + 1, rest // 10
    end = n + digits + (digits - 1) // 3
    i = end
    for k in range(digits):
        if k and k % 3 == 0:
            i -= 1
            out[i] = 44
        i -= 1
        out[i] = 48 + number % 10
        number //= 10
    return end


@inlined
def _unit(source: Bytes, begin: int, end: int, table: Ints, blob: Bytes) -> Int:
    row = lookup(table, blob, UNIT, source, begin, end)
    return table[row, CODE] if row >= 0 else -1


@inlined
def _are_digits(source: Bytes, begin: int, end: int) -> bool:
    for i in range(begin, end):
        if source[i] < 48 or source[i] > 57:
            return False
    return begin < end


@inlined
def _whole_number(source: Bytes, begin: int, end: int) -> Int:
    number: Int = 0
    for i in range(begin, end):
        number = 10 * number + np.int64(source[i]) - 48
    return number


@inlined
def _is(source: Bytes, begin: int, end: int, option: Bytes) -> bool:
    if end - begin != option.size:
        return False
    i = 0
    while i < option.size and source[begin + i] == option[i]:
        i += 1
    return bool(i == option.size)


CODES = [code for code in UNITS if is_plain_unit(code)]
"""The codes of the units that the kernel knows; what a lookup of their names gives is their place here."""
_ABBR_ON, _ABBR_OFF, _ADJ_ON, _SP_US = (
    np.frombuffer(option, np.uint8).copy() for option in (b"abbr=on", b"abbr=off", b"adj=on", b"sp=us")
)
_units = [UNITS[code] for code in CODES]
_SCALE = np.array([unit.scale for unit in _units])
_OFFSET = np.array([unit.offset for unit in _units])
_kinds = sorted({unit.kind for unit in _units})
_KIND = np.array([_kinds.index(unit.kind) for unit in _units])
_IS_TEMPERATURE = np.array([unit.kind == "temperature" for unit in _units])
_IN_SYMBOLS = np.array([unit.kind.startswith("temperature") for unit in _units])
_DEFAULT = np.array([CODES.index(unit.default) if unit.default in CODES else -1 for unit in _units])
_TENS = np.array([10.0**power for power in range(-_MOST_DIGITS, _MOST_DIGITS + 1)])
_texts = [
    (unit.symbol, unit.symbol + "s" * (unit.symbol in SYMBOLS_WITH_PLURAL), unit.singular, unit.plural)
    for unit in _units
]
_TEXTS = np.frombuffer("".join(map("".join, _texts)).encode(), np.uint8).copy()
_ends = np.cumsum([len(text.encode()) for texts in _texts for text in texts])
_TEXT_AT = np.concatenate([[0], _ends])[np.arange(len(_units))[:, None] * 4 + np.arange(5)].astype(np.int64)
