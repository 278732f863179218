"""What calls of the most frequent templates leave, compiled; the references are in `templates/functions`.

Each function reads arguments without a name and writes to the end of what is written; what it does not cover (named
arguments, too little room) it leaves to Python. Without this kernel cleaning takes a quarter longer.
"""

from __future__ import annotations

from bertdata.kernels import characters as char
from bertdata.kernels import utf8
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels import buffers, common
from bertdata.sources.wikipedia.wikitext.kernels.common import Ints
from bertdata.sources.wikipedia.wikitext.kernels.walk import LEFT, MOST_ARGUMENTS, RIGHT

ASK, NOTHING = -1, -2
# how the text is written
TRANSLITERATION, CHEMISTRY, NIHONGO, WRAPPED = range(4)


@inlined
def _arguments(source: Bytes, begin: int, end: int, spans: Ints) -> Int:
    """Write the bounds of the arguments of source[begin:end], stripped, to spans; returns how many.

    A bar is at `begin`, where there are any. -1: one has a name, or there are too many.
    """
    count = 0
    while begin < end:
        bar = buffers.find(source, begin + 1, end, char.BAR)
        if count == MOST_ARGUMENTS or buffers.find(source, begin + 1, bar, char.EQUALS) < bar:
            return -1
        spans[LEFT + count], spans[RIGHT + count] = common.strip(source, begin + 1, bar)
        count += 1
        begin = bar
    return count


@inlined
def write_call(
    how: int, bars: int, source: Bytes, begin: int, end: int, spans: Ints,
    blob: Bytes, around: int, around_end: int, out: Bytes, n: int,
) -> Int:  # fmt: skip
    """Write the text of a call to out[n:], given its arguments, from their first bar on; ASK, NOTHING or its end.

    `bars` is how many arguments there are, -1 where each bar of the source separates two. blob[around:around_end] is
    what stands before and after the text, with a zero byte between them.
    """
    if out.size - n < 4 * MOST_ARGUMENTS + around_end - around + end - begin:
        return ASK
    count = _arguments(source, begin, end, spans)
    if count < 0 or (bars >= 0 and bars != count):
        return ASK
    if how == NIHONGO:
        return _write_nihongo(source, count, spans, out, n)
    if how == WRAPPED:
        if count == 0 or spans[LEFT] == spans[RIGHT]:
            return NOTHING
        middle = buffers.find(blob, around, around_end, 0)
        n = buffers.copy(blob, around, middle, out, n)
        n = buffers.copy(source, spans[LEFT], spans[RIGHT], out, n)
        return buffers.copy(blob, middle + 1, around_end, out, n)
    filled = 0
    for k in range(count):
        if spans[LEFT + k] < spans[RIGHT + k]:
            spans[LEFT + filled], spans[RIGHT + filled] = spans[LEFT + k], spans[RIGHT + k]
            filled += 1
    if how == CHEMISTRY:
        return _write_formula(source, filled, spans, out, n)
    if filled < 2:
        return NOTHING
    return buffers.copy(source, spans[LEFT + filled - 1], spans[RIGHT + filled - 1], out, n)


@inlined
def _write_formula(source: Bytes, count: int, spans: Ints, out: Bytes, n: int) -> Int:
    """Join the parts of a formula; a hyphen at their end becomes a minus sign, a space follows a mass number."""
    if count == 0:
        return NOTHING
    digits = spans[LEFT]
    while digits < spans[RIGHT] and char.is_digit(source[digits]):
        digits += 1
    mass = count > 1 and digits == spans[RIGHT] and digits - spans[LEFT] < 10
    for k in range(count):
        left, right = spans[LEFT + k], spans[RIGHT + k]
        minus = source[right - 1] == char.HYPHEN and not (mass and k == 0)
        n = buffers.copy(source, left, right - minus, out, n)
        if minus:
            n = utf8.encode(char.MINUS_SIGN, out, n)
        if mass and k == 0:
            out[n] = char.SPACE
            n += 1
    return n


@inlined
def _write_nihongo(source: Bytes, count: int, spans: Ints, out: Bytes, n: int) -> Int:
    """Write `English (kanji, romaji, extra) more`; without English, romaji or kanji takes its place."""
    for k in range(count, 5):
        spans[LEFT + k] = spans[RIGHT + k] = 0
    shown = 0
    if spans[LEFT] == spans[RIGHT]:
        shown = 2 if spans[LEFT + 2] < spans[RIGHT + 2] else 1
    start = n
    n = buffers.copy(source, spans[LEFT + shown], spans[RIGHT + shown], out, n)
    inside = 0
    for k in range(1, 4):
        if k == shown or spans[LEFT + k] == spans[RIGHT + k]:
            continue
        if inside:
            out[n] = char.COMMA
            n += 1
        if n > start:
            out[n] = char.SPACE
            n += 1
        if inside == 0:
            out[n] = char.LEFT_PARENTHESIS
            n += 1
        n = buffers.copy(source, spans[LEFT + k], spans[RIGHT + k], out, n)
        inside += 1
    if inside:
        out[n] = char.RIGHT_PARENTHESIS
        n += 1
    if spans[LEFT + 4] < spans[RIGHT + 4]:
        if n > start:
            out[n] = char.SPACE
            n += 1
        n = buffers.copy(source, spans[LEFT + 4], spans[RIGHT + 4], out, n)
    return n if n > start else NOTHING
