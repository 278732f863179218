"""Plain calls of `{{convert}}` and `{{cvt}}`, compiled; the reference is `templates/convert`.

Plain: one decimal number, a unit of the table, perhaps one to convert to, perhaps how to round, and no option but
abbr=on, off or blank, adj=on, disp=or, sp=us, and lk=, which changes no text. Python is asked for all others. Without
this kernel cleaning takes a third longer.
"""

from __future__ import annotations

import math

import numpy as np

from bertdata.kernels import characters as char
from bertdata.kernels import utf8
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined
from bertdata.wikitext.kernels import buffers, common, walk
from bertdata.wikitext.kernels.common import ASK, Ints
from bertdata.wikitext.kernels.walk import LEFT, MOST_ARGUMENTS, RIGHT
from bertdata.wikitext.templates.convert import FEET_AND_INCHES_UNDER, is_plain_unit
from bertdata.wikitext.templates.measurement_units import UNITS
from bertdata.wikitext.templates.quantities import NAMED
from bertdata.wikitext.templates.rounding import (
    LARGEST_IN_FULL,
    LOST,
    MORE_PRECISE,
    MOST_PLACES_OF_LOST,
    SMALLEST_IN_FULL,
)

_MOST_DIGITS = 15
_ROOM = 400
# which of its texts: the symbol, one in words, many in words
_SYMBOL, _ONE, _MANY = range(3)


@inlined
def write_conversion(
    abbreviate: bool, source: Bytes, bars: Ints, state: Ints, table: Ints, blob: Bytes, out: Bytes, n: int
) -> Int:
    """Write the text of a call to out[n:]; returns ASK or where it ends."""
    if out.size - n < _ROOM or state[walk.LAST_BAR] - state[walk.FIRST_BAR] > MOST_ARGUMENTS:
        return ASK
    count, words, both, hyphen, american = 0, not abbreviate, False, False, False
    alternative = chooses_words = False
    # arguments by position go to state[LEFT + k] and state[RIGHT + k], options to flags; any other is for Python
    for k in range(state[walk.FIRST_BAR], state[walk.LAST_BAR]):
        begin, end = walk.argument(bars, state, k)
        left, right = common.strip(source, begin, end)
        if buffers.find(source, left, right, char.EQUALS) == right:
            if left < right or count < 2:
                state[LEFT + count], state[RIGHT + count] = left, right
                count += 1
        elif common.is_word(source, left, right, _ABBR_ON):
            words, both, chooses_words = False, False, True
        elif common.is_word(source, left, right, _ABBR_OFF):
            words, both, chooses_words = True, True, True
        elif common.is_word(source, left, right, _ABBR):
            words, both, chooses_words = not abbreviate, False, True
        elif common.is_word(source, left, right, _DISP_OR):
            alternative = True
        elif common.is_word(source, left, right, _ADJ_ON):
            hyphen = True
        elif common.is_word(source, left, right, _SP_US):
            american = True
        elif not common.starts_with(source, left, right, _LK):
            return ASK
    if count < 2 or count > 4:
        return ASK
    row = common.lookup(table, blob, common.UNIT, source, state[LEFT + 1], state[RIGHT + 1])
    if row < 0:
        return ASK
    unit = table[row, common.CODE]
    target = _DEFAULT[unit]
    places: Int = 0
    rounded = chosen = False
    for k in range(2, count):
        left, right = state[LEFT + k], state[RIGHT + k]
        if left == right:
            continue
        negative = source[left] == char.HYPHEN
        digits = right - left - negative
        if 1 <= digits <= 2 and char.is_digit(source[right - 1]) and char.is_digit(source[right - digits]):
            if count == 4 and k == 2:
                return ASK
            places = np.int64(source[right - 1]) - char.DIGIT_0
            if digits == 2:
                places += 10 * (np.int64(source[right - 2]) - char.DIGIT_0)
            places, rounded = -places if negative else places, True
            continue
        row = common.lookup(table, blob, common.UNIT, source, left, right)
        if chosen or row < 0:
            return ASK
        target, chosen = table[row, common.CODE], True
    if target < 0 or _KIND[target] != _KIND[unit] or (american and (_HAS_US[unit] or _HAS_US[target])):
        return ASK
    result_in_words = (words and both) or (alternative and not abbreviate and not chooses_words)
    return _write(
        source, state[LEFT], state[RIGHT], unit, target, chosen, places, rounded,
        words, result_in_words, both, alternative, hyphen, american, out, n,
    )  # fmt: skip


@inlined
def _write(
    source: Bytes, begin: int, end: int, unit: int, target: int, chosen: bool, places: int, rounded: bool,
    words: bool, result_in_words: bool, temperatures_in_words: bool, alternative: bool, hyphen: bool, american: bool,
    out: Bytes, n: int,
) -> Int:  # fmt: skip
    negative = begin < end and source[begin] == char.HYPHEN
    begin += negative
    point, zeros, digits = -1, 0, 0
    whole: Int = 0
    mantissa: Int = 0
    # `mantissa` has the digits as a whole number, `whole` those before the point, if there is one
    for i in range(begin, end):
        byte = np.int64(source[i])
        if byte == char.PERIOD and point < 0 and i > begin:
            point, whole = i, mantissa
        elif char.is_digit(byte):
            mantissa = 10 * mantissa + byte - char.DIGIT_0
            digits += 1
            zeros = zeros + 1 if byte == char.DIGIT_0 else 0
        elif byte != char.COMMA or point >= 0 or i == begin:
            return ASK
    is_padded = source[begin] == char.DIGIT_0 and end - begin > 1 and point != begin + 1
    if digits == 0 or digits > _MOST_DIGITS or point == end - 1 or is_padded:
        return ASK
    decimals = end - point - 1 if point >= 0 else -zeros
    value = mantissa / _TENS[_MOST_DIGITS + max(decimals, 0)]
    if not chosen and _IS_METRE[unit] and not negative and 0 < value < FEET_AND_INCHES_UNDER:
        return ASK
    if negative:
        value = -value
        n = utf8.encode(char.MINUS_SIGN, out, n)
    n = _write_grouped(whole if point >= 0 else mantissa, out, n)
    if point >= 0:
        n = copy(source, point, end, out, n)
    in_words = (words and (temperatures_in_words or not _IN_SYMBOLS[unit])) or _IS_NAMED[unit]
    n = _write_unit(unit, abs(value) != 1, in_words, hyphen, american, out, n)
    result = (value * _SCALE[unit] + _OFFSET[unit] - _OFFSET[target]) / _SCALE[target]
    if not rounded:
        places = _default_places(value, decimals, result, unit, target)
    if places < -_MOST_DIGITS or places > _MOST_DIGITS or not abs(result) < 1e10:
        return ASK
    power = _TENS[_MOST_DIGITS + places]
    if abs(result) * power > 4e15:
        return ASK
    if places < 0:
        whole_power = _TENS[_MOST_DIGITS - places]
        number = np.rint(abs(result) / whole_power) * whole_power
    else:
        lost = LOST if places <= MOST_PLACES_OF_LOST else 0.0
        number = np.rint((abs(result) + lost) * power) / power
    places = max(places, 0)
    scale = np.int64(_TENS[_MOST_DIGITS + places])
    if number >= LARGEST_IN_FULL or 0 < number < SMALLEST_IN_FULL or number * scale > 4e15:
        return ASK
    scaled: Int = np.int64(np.rint(number * scale))
    between = _OR if alternative else _OPENING
    n = copy(between, 0, between.size, out, n)
    if result < 0 and number > 0:
        n = utf8.encode(char.MINUS_SIGN, out, n)
    n = _write_grouped(scaled // scale, out, n)
    if places:
        out[n] = char.PERIOD
        for k in range(places):
            out[n + places - k] = char.DIGIT_0 + scaled % 10
            scaled //= 10
        n += places + 1
    in_words = (result_in_words and (temperatures_in_words or not _IN_SYMBOLS[target])) or _IS_NAMED[target]
    n = _write_unit(target, number != 1, in_words, hyphen, american, out, n)
    if alternative:
        return n
    out[n] = char.RIGHT_PARENTHESIS
    return n + 1


@inlined
def _default_places(value: float, decimals: int, result: float, unit: int, target: int) -> Int:
    """Return the decimals by default: as precise as the input, two digits at least (`rounding.default_places`)."""
    if _IS_TEMPERATURE[unit]:
        kelvins = abs(value * _SCALE[unit] + _OFFSET[unit])
        return max(decimals, 2 - np.int64(math.floor(math.log10(max(kelvins, 1.0)) + 1e-14)))
    if value == 0 or result == 0:
        return 0
    size = np.int64(math.floor(math.log10(abs(result)) + 1e-14))
    finer = 1 / _SCALE[unit] if _IS_MORE_PRECISE[target] and value == math.floor(value) else abs(value / result)
    return max(np.int64(math.floor(decimals + math.log10(2 * finer))), 1 - size)


@inlined
def _write_unit(unit: int, many: bool, words: bool, hyphen: bool, american: bool, out: Bytes, n: int) -> Int:
    """Write a unit after its number."""
    which = (_MANY if many and not hyphen else _ONE) if words else _SYMBOL
    begin, end = _TEXT_AT[unit, which], _TEXT_AT[unit, which + 1]
    hyphen = hyphen and words
    if hyphen or _TEXTS[begin] != char.SLASH or words:
        out[n] = char.HYPHEN if hyphen else char.SPACE
        n += 1
    start = n
    n = copy(_TEXTS, begin, end, out, n)
    for i in range(start, n):
        if hyphen and out[i] == char.SPACE:
            out[i] = char.HYPHEN
        if (
            american
            and words
            and (common.starts_with(out, i, n, _METRE_WORD) or common.starts_with(out, i, n, _LITRE_WORD))
        ):
            out[i + 3], out[i + 4] = out[i + 4], out[i + 3]
    return n


@inlined
def _write_grouped(number: int, out: Bytes, n: int) -> Int:
    """Write a whole number with commas between the thousands."""
    digits, rest = 1, number // 10
    while rest:
        digits, rest = digits + 1, rest // 10
    end = n + digits + (digits - 1) // 3
    i = end
    for k in range(digits):
        if k and k % 3 == 0:
            i -= 1
            out[i] = char.COMMA
        i -= 1
        out[i] = char.DIGIT_0 + number % 10
        number //= 10
    return end


CODES = [code for code in UNITS if is_plain_unit(code)]
"""The codes of the units that the kernel knows; a lookup of a code gives its index in this list."""
_ABBR, _ABBR_ON, _ABBR_OFF, _ADJ_ON, _DISP_OR, _LK, _SP_US, _METRE_WORD, _LITRE_WORD, _OR, _OPENING = map(
    common.word,
    ("abbr=", "abbr=on", "abbr=off", "adj=on", "disp=or", "lk=", "sp=us", "metre", "litre", " or ", " ("),
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
_IS_METRE = np.array([unit.symbol == "m" for unit in _units])
_IS_NAMED = np.array([unit.symbol in NAMED for unit in _units])
_IS_MORE_PRECISE = np.array([unit.symbol in MORE_PRECISE for unit in _units])
_HAS_US = np.array([unit.symbol.startswith("US ") for unit in _units])
_texts = [(unit.symbol, unit.singular, unit.plural) for unit in _units]
_TEXTS = common.word("".join(map("".join, _texts)))
_ends = np.cumsum([len(text.encode()) for texts in _texts for text in texts])
_TEXT_AT = np.concatenate([[0], _ends])[np.arange(len(_units))[:, None] * 3 + np.arange(4)].astype(np.int64)
