"""What calls of the most frequent templates leave, compiled; the readable twins are in `templates/functions`.

Each function reads arguments without a name and writes to the end of what is written; all it cannot be sure of (named
arguments, spaces of Unicode at an edge, too little room) it leaves to Python.
"""

# ruff: noqa: PLR1714  (numba compiles comparisons well, sets not)

from __future__ import annotations

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels.common import SPACE, Bytes, Int, Ints, copy, find, is_space

MOST_ARGUMENTS = 12
ASK, HOLE_LEFT = -1, -2
# how the text is written
TRANSLITERATION, CHEMISTRY, NIHONGO, WRAPPED, JOINED = range(5)


@inlined
def arguments_of(source: Bytes, begin: int, end: int, spans: Ints, first: int) -> Int:
    """Write where the arguments of source[begin:end] begin and end, stripped, to spans[first:]; returns how many.

    A bar stands at `begin`, where there are any. -1: one has a name, or an edge that needs Python, or there are many.
    """
    count = 0
    while begin < end:
        bar = find(source, begin + 1, end, 124)
        if count == MOST_ARGUMENTS or find(source, begin + 1, bar, 61) < bar:
            return -1
        left, right = stripped(source, begin + 1, bar)
        if left < 0:
            return -1
        spans[first + 2 * count], spans[first + 2 * count + 1] = left, right
        count += 1
        begin = bar
    return count


@inlined
def stripped(source: Bytes, begin: int, end: int) -> tuple[Int, Int]:
    """Return where a text without the spaces around it begins and ends; -1 twice where Unicode's may be among them."""
    while begin < end and _is_plain_space(source[begin]):
        begin += 1
    while end > begin and _is_plain_space(source[end - 1]):
        end -= 1
    if begin < end and (may_be_space(source, begin, end) or may_be_space(source, max(begin, end - 3), end)):
        return -1, -1
    if end - begin > 1 and source[end - 2] == 0xC2 and may_be_space(source, end - 2, end):
        return -1, -1
    return begin, end


@inlined
def _is_plain_space(byte: int) -> bool:
    return is_space(byte) or 28 <= byte <= 31


@inlined
def may_be_space(source: Bytes, i: int, end: int) -> bool:
    """Tell whether a character may be a space beyond ASCII."""
    byte, following = source[i], source[i + 1] if i + 1 < end else 0
    if byte == 0xE2:
        return following == 0x80 or following == 0x81
    if byte == 0xE3:
        return following == 0x80
    return (byte == 0xE1 and following == 0x9A) or (byte == 0xC2 and (following == 0x85 or following == 0xA0))


@inlined
def write_call(
    how: int, most: int, bars: int, source: Bytes, begin: int, end: int, spans: Ints, first: int,
    around: Bytes, around_begin: int, around_end: int, out: Bytes, n: int,
) -> Int:  # fmt: skip
    """Write the text of a call to out[n:], given its arguments, from their first bar on; ASK, HOLE_LEFT or its end.

    `bars` is how many arguments there are, -1 where it is not known that each bar of the source parts two; `around`
    holds the separator, or what stands before and after the text, with a zero byte between them.
    """
    if out.size - n < (MOST_ARGUMENTS + 1) * (around_end - around_begin + 4) + end - begin:
        return ASK
    count = arguments_of(source, begin, end, spans, first)
    if count < 0 or (bars >= 0 and bars != count):
        return ASK
    start = n
    if how == WRAPPED:
        if count == 0 or spans[first] == spans[first + 1]:
            return HOLE_LEFT
        middle = find(around, around_begin, around_end, 0)
        n = copy(around, around_begin, middle, out, n)
        n = copy(source, spans[first], spans[first + 1], out, n)
        return copy(around, middle + 1, around_end, out, n)
    if how == NIHONGO:
        return _write_nihongo(source, count, spans, first, out, n)
    filled = 0
    for k in range(count):
        left, right = spans[first + 2 * k], spans[first + 2 * k + 1]
        if left < right:
            spans[first + 2 * filled], spans[first + 2 * filled + 1] = left, right
            filled += 1
    if how == TRANSLITERATION:
        last = first + 2 * filled - 2
        return copy(source, spans[last], spans[last + 1], out, n) if filled > 1 else HOLE_LEFT
    if how == CHEMISTRY:
        return _write_formula(source, filled, spans, first, out, n)
    for k in range(min(filled, most) if most else filled):
        if k:
            n = copy(around, around_begin, around_end, out, n)
        n = copy(source, spans[first + 2 * k], spans[first + 2 * k + 1], out, n)
    return n if n > start else HOLE_LEFT


@inlined
def _write_formula(source: Bytes, count: int, spans: Ints, first: int, out: Bytes, n: int) -> Int:
    """Join the parts of a formula; a minus sign ends what a hyphen ended, a mass number stands apart."""
    if count == 0:
        return HOLE_LEFT
    digits = spans[first]
    while digits < spans[first + 1] and 48 <= source[digits] <= 57:
        digits += 1
    mass = count > 1 and digits == spans[first + 1] and digits - spans[first] < 10
    for k in range(count):
        left, right = spans[first + 2 * k], spans[first + 2 * k + 1]
        minus = source[right - 1] == 45 and not (mass and k == 0)
        n = copy(source, left, right - minus, out, n)
        if minus:
            out[n], out[n + 1], out[n + 2] = 0xE2, 0x88, 0x92
            n += 3
        if mass and k == 0:
            out[n] = SPACE
            n += 1
    return n


@inlined
def _write_nihongo(source: Bytes, count: int, spans: Ints, first: int, out: Bytes, n: int) -> Int:
    """Write `English (kanji, romaji, extra) more`; without English, romaji or kanji stands in its place."""
    for k in range(count, 5):
        spans[first + 2 * k] = spans[first + 2 * k + 1] = 0
    shown = 0
    if spans[first] == spans[first + 1]:
        shown = 2 if spans[first + 4] < spans[first + 5] else 1
    start = n
    n = copy(source, spans[first + 2 * shown], spans[first + 2 * shown + 1], out, n)
    inside = 0
    for k in range(1, 4):
        left, right = spans[first + 2 * k], spans[first + 2 * k + 1]
        if k == shown or left == right:
            continue
        if inside:
            out[n], out[n + 1] = 44, SPACE
            n += 2
        else:
            if n > start:
                out[n] = SPACE
                n += 1
            out[n] = 40
            n += 1
        n = copy(source, left, right, out, n)
        inside += 1
    if inside:
        out[n] = 41
        n += 1
    if spans[first + 8] < spans[first + 9]:
        if n > start:
            out[n] = SPACE
            n += 1
        n = copy(source, spans[first + 8], spans[first + 9], out, n)
    return n if n > start else HOLE_LEFT
