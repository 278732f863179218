"""What one template call or one link leaves, compiled; the reference is `wikitext/template_calls`.

The name of most templates decides what is left: nothing, a fixed text, one argument. Of the most frequent others the
text is written here (the references are in `templates/functions`), for otherwise cleaning takes a quarter longer;
conversions are written by `kernels/convert`. Where a call or link is not covered (named arguments, too little room) the
answer is ASK: Python is asked. `state` says where it is (`walk.set_construct`).
"""

# ruff: noqa: PLR1714  (numba compiles comparisons well, sets not)

from __future__ import annotations

from bertdata.kernels import characters as char
from bertdata.kernels import utf8
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import buffers, common, convert, place, walk
from bertdata.wikitext.kernels.common import ASK, LONGEST_NAME, NOTHING, Ints
from bertdata.wikitext.kernels.walk import LEFT, MOST_ARGUMENTS, RIGHT

# what a call leaves: what Python answers, a fixed text, one of its arguments, nothing where the page is not an article,
# a conversion, what the functions below write, nothing; the rest of the code, from CODES on, is which argument, reason
# or option
ASKED, LITERAL, KEPT, NO_ARTICLE, CONVERSION, TRANSLITERATION, CHEMISTRY, NIHONGO, WRAPPED, SILENT = range(10)
CODES = 16
COLON = -2
LANGUAGE = common.word("lang-")


@inlined
def write_call_text(
    source: Bytes, bars: Ints, out: Bytes, n: int, state: Ints, table: Ints, blob: Bytes, scratch: Bytes,
    text: Bytes, after: int, size: int,
) -> Int:  # fmt: skip
    """Write what a template call leaves to out[n:]; returns where that ends, or ASK.

    text[after:size] is what comes after the call.
    """
    begin, end, first = state[walk.BEGIN], state[walk.END], state[walk.FIRST_BAR]
    head_end = bars[first] if state[walk.LAST_BAR] > first else end
    length = fold_name(source, begin, head_end, scratch)
    state[walk.INSIDE] = 1
    if length == COLON:
        if is_function(source, begin, head_end, table, blob, scratch):
            state[walk.INSIDE] = place.is_inside(out, n, state[walk.DEPTH] > 0, text, after, size)
            return ASK
        return common.write_placeholder(out, n)
    row = common.lookup(table, blob, common.TEMPLATE, scratch, 0, length) if length >= 0 else -1
    if row < 0:
        if length >= 0 and common.starts_with(scratch, 0, length, LANGUAGE):
            return ASK
        if length > 0 and place.is_inside(out, n, state[walk.DEPTH] > 0, text, after, size):
            return ASK
        return common.write_placeholder(out, n)
    code, detail = table[row, common.CODE] % CODES, table[row, common.CODE] // CODES
    value, value_end = table[row, common.VALUE_BEGIN], table[row, common.VALUE_END]
    if code == ASKED:
        return ASK
    if code == LITERAL:
        return copy(blob, value, value_end, out, n)
    if code == SILENT:
        return common.write_placeholder(out, n)
    if code == KEPT:
        return _keep(source, bars, state, detail, out, n)
    if code == NO_ARTICLE:
        if state[walk.DEPTH] == 0 and state[walk.REASON] == 0:
            state[walk.REASON] = detail
        return common.write_placeholder(out, n)
    free = end if state[walk.IN_OUT] else n  # what is read lies before it, where it is in `out`
    if code == CONVERSION:
        written = convert.write_conversion(detail == 1, source, bars, state, table, blob, out, free)
    else:
        written = _write_frequent(code, source, bars, state, blob, value, value_end, out, free)
    if written == NOTHING:
        return common.write_placeholder(out, n)
    return written if written == ASK or free == n else copy(out, free, written, out, n)


@inlined
def _keep(source: Bytes, bars: Ints, state: Ints, wanted: int, out: Bytes, n: int) -> Int:
    """Write one of the arguments as it is; ASK if it is blank, or a name may be a number."""
    position, first, last = 0, 0, 0
    for k in range(state[walk.FIRST_BAR], state[walk.LAST_BAR]):
        begin, end = walk.argument(bars, state, k)
        equals = buffers.find(source, begin, end, char.EQUALS)
        if equals < end:
            left, right = common.strip(source, begin, equals)
            if left < right and char.is_digit(source[left]):
                return ASK
        else:
            position += 1
            if position == wanted:
                first, last = begin, end
    left, right = common.strip(source, first, last)
    return ASK if left == right else copy(source, first, last, out, n)


@inlined
def _write_frequent(
    code: int, source: Bytes, bars: Ints, state: Ints, blob: Bytes, around: int, around_end: int, out: Bytes, n: int
) -> Int:
    """Write the text of a frequent template to out[n:]; returns ASK, NOTHING or where it ends.

    blob[around:around_end] is what stands before and after the text, with a zero byte between them.
    """
    room = 4 * MOST_ARGUMENTS + around_end - around + state[walk.END] - state[walk.BEGIN]
    count = state[walk.LAST_BAR] - state[walk.FIRST_BAR]
    if out.size - n < room or count > MOST_ARGUMENTS:
        return ASK
    for k in range(count):
        begin, end = walk.argument(bars, state, state[walk.FIRST_BAR] + k)
        if buffers.find(source, begin, end, char.EQUALS) < end:
            return ASK
        state[LEFT + k], state[RIGHT + k] = common.strip(source, begin, end)
    if code == NIHONGO:
        return _write_nihongo(source, count, state, out, n)
    if code == WRAPPED:
        if count == 0 or state[LEFT] == state[RIGHT]:
            return NOTHING
        middle = buffers.find(blob, around, around_end, 0)
        n = copy(blob, around, middle, out, n)
        n = copy(source, state[LEFT], state[RIGHT], out, n)
        return copy(blob, middle + 1, around_end, out, n)
    filled = 0
    for k in range(count):
        if state[LEFT + k] < state[RIGHT + k]:
            state[LEFT + filled], state[RIGHT + filled] = state[LEFT + k], state[RIGHT + k]
            filled += 1
    if code == CHEMISTRY:
        return _write_formula(source, filled, state, out, n)
    if filled < 2:
        return NOTHING
    return copy(source, state[LEFT + filled - 1], state[RIGHT + filled - 1], out, n)


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
        n = copy(source, left, right - minus, out, n)
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
    head = 0
    if spans[LEFT] == spans[RIGHT]:
        head = 2 if spans[LEFT + 2] < spans[RIGHT + 2] else 1
    start = n
    n = copy(source, spans[LEFT + head], spans[RIGHT + head], out, n)
    inside = 0
    for k in range(1, 4):
        if k == head or spans[LEFT + k] == spans[RIGHT + k]:
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
        n = copy(source, spans[LEFT + k], spans[RIGHT + k], out, n)
        inside += 1
    if inside:
        out[n] = char.RIGHT_PARENTHESIS
        n += 1
    if spans[LEFT + 4] < spans[RIGHT + 4]:
        if n > start:
            out[n] = char.SPACE
            n += 1
        n = copy(source, spans[LEFT + 4], spans[RIGHT + 4], out, n)
    return n if n > start else NOTHING


@inlined
def fold_name(source: Bytes, begin: int, end: int, scratch: Bytes) -> Int:
    """Write a folded template name to scratch; returns its length, -1 if it is too long, COLON if it has a colon."""
    begin, end = common.strip_flagged(source, begin, end, _NAME_EDGES)
    length, gap = 0, False
    for i in range(begin, end):
        byte = source[i]
        if byte == char.COLON:
            return COLON
        if byte == char.SPACE or byte == char.UNDERSCORE or byte == char.TAB or byte == char.NEWLINE:
            gap = length > 0
            continue
        if length + 2 > LONGEST_NAME:
            return COLON if buffers.find(source, i, end, char.COLON) < end else -1
        if gap:
            scratch[length] = char.SPACE
            length += 1
            gap = False
        scratch[length] = char.lower(byte)
        length += 1
    return length


@inlined
def fold_prefix(source: Bytes, begin: int, end: int, scratch: Bytes) -> Int:
    """Write a folded link prefix to scratch; returns its length, -1 if it is too long."""
    begin, end = common.strip_flagged(source, begin, end, _PREFIX_EDGES)
    if end - begin > LONGEST_NAME:
        return -1
    for i in range(begin, end):
        scratch[i - begin] = char.SPACE if source[i] == char.UNDERSCORE else char.lower(source[i])
    return end - begin


@inlined
def is_function(source: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> bool:
    """Tell whether a head with a colon calls a parser function that is known."""
    length = fold_prefix(source, begin, buffers.find(source, begin, end, char.COLON), scratch)
    return bool(length >= 0 and common.lookup(table, blob, common.FUNCTION, scratch, 0, length) >= 0)


@inlined
def write_link(
    source: Bytes, bars: Ints, out: Bytes, n: int, state: Ints, table: Ints, blob: Bytes, scratch: Bytes
) -> Int:
    """Write the text of a link to out[n:]; returns where it ends, or ASK."""
    begin, label_end, first = state[walk.BEGIN], state[walk.END], state[walk.FIRST_BAR]
    labelled = state[walk.LAST_BAR] > first
    end = bars[first] if labelled else label_end
    colon = buffers.find(source, begin, end, char.COLON)
    target = begin
    if begin + 1 < end and source[begin + 1] == char.SLASH and _BEFORE_SLASH[source[begin]]:
        return ASK
    if colon < end:
        length = fold_prefix(source, begin, colon, scratch)
        if length >= 0 and common.lookup(table, blob, common.PREFIX, scratch, 0, length) >= 0:
            return common.write_placeholder(out, n)
        if length >= 0 and common.lookup(table, blob, common.PROTOCOL, scratch, 0, length) >= 0:
            return ASK
        if length == 0:
            target = colon + 1
    if state[walk.IN_OUT] and buffers.find(source, target, end, char.NEWLINE) < end:
        return copy(source, target, label_end, out, n)
    if labelled:
        target, end = end + 1, label_end
    elif buffers.find(source, target, end, char.PERCENT) < end:
        return ASK
    else:
        target, end = common.strip_flagged(source, target, end, _BLANKS)
    if target >= end or _LINE_MARKUP[source[target]]:
        return ASK
    if state[walk.DEPTH] and buffers.find(source, target, end, char.EQUALS) < end:
        return ASK
    return copy(source, target, end, out, n)


_LINE_MARKUP = buffers.flags(rules.LINE_MARKUP.encode())
_NAME_EDGES = buffers.flags(rules.NAME_EDGES.encode())
_PREFIX_EDGES = buffers.flags(rules.NAME_EDGES.encode() + b"_")
_BEFORE_SLASH = buffers.flags(b"./")
_BLANKS = buffers.flags(b" \t")
