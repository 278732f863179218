"""What one call or one link leaves, compiled; the readable twin is `template_calls`.

Most names say by themselves what is left: nothing, a fixed text, one argument. The frequent templates are written by
`kernels/templates` and `kernels/convert`; for any other the answer is -1: Python is asked.
"""

# ruff: noqa: PLR1714, SIM109  (numba compiles comparisons and loops well, sets and generators not)

from __future__ import annotations

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels.common import (
    CODE,
    FUNCTION,
    HOLE,
    LONGEST_NAME,
    NEWLINE,
    PREFIX,
    SPACE,
    TEMPLATE,
    VALUE_BEGIN,
    VALUE_END,
    Bytes,
    Int,
    Ints,
    copy,
    find,
    hole_fits,
    lookup,
    marks,
)
from bertdata.sources.wikipedia.wikitext.kernels.convert import write_conversion
from bertdata.sources.wikipedia.wikitext.kernels.frames import DEPTH, REASON, SPANS
from bertdata.sources.wikipedia.wikitext.kernels.templates import ASK, HOLE_LEFT, may_be_space, stripped, write_call

# what a call leaves: Python is asked, a fixed text, one of its arguments, a hole that tells why this is no article,
# what `kernels/templates` or `kernels/convert` write, an argument that has a name or else a hole
ASKED, LITERAL, KEPT, NO_ARTICLE, WRITTEN_CALL, CONVERSION, NAMED = range(7)
COLON = -2


@inlined
def write_hole(out: Bytes, n: int) -> Int:
    if hole_fits(out, 0, n):
        out[n] = HOLE
        return n + 1
    return n


@inlined
def write_call_text(
    source: Bytes, begin: int, head_end: int, end: int, count: int,
    out: Bytes, n: int, state: Ints, table: Ints, blob: Bytes, scratch: Bytes,
) -> Int:  # fmt: skip
    """Write what a call leaves, given its head and all of it, and how many bars part it; -1 where Python is asked."""
    length = fold_name(source, begin, head_end, scratch)
    if length == COLON:
        length = fold_prefix(source, begin, find(source, begin, head_end, 58), scratch)
        known = length >= 0 and lookup(table, blob, FUNCTION, scratch, 0, length) >= 0
        return -1 if known else write_hole(out, n)
    row = lookup(table, blob, TEMPLATE, scratch, 0, length) if length >= 0 else -1
    if row < 0:
        prefix = length >= 5 and scratch[0] == 108 and scratch[1] == 97 and scratch[2] == 110 and scratch[3] == 103
        return -1 if prefix and scratch[4] == 45 else write_hole(out, n)
    code, detail = table[row, CODE] & 7, table[row, CODE] >> 3
    if code == LITERAL:
        return copy(blob, table[row, VALUE_BEGIN], table[row, VALUE_END], out, n)
    if code == KEPT:
        return _keep(source, head_end, end, count, detail, out, n)
    if code == NO_ARTICLE:
        if state[DEPTH] == 0 and state[REASON] == 0:
            state[REASON] = detail
        return write_hole(out, n)
    if code == NAMED:
        named = _has_argument(source, head_end, end, count, blob, table[row, VALUE_BEGIN], table[row, VALUE_END])
        return -1 if named else write_hole(out, n)
    if code == ASKED:
        return -1
    free = end if count >= 0 else n
    if code == CONVERSION:
        written = write_conversion(detail == 1, count, source, head_end, end, state, SPANS, table, blob, out, free)
    else:
        written = write_call(
            detail & 7, detail >> 3, count, source, head_end, end, state, SPANS,
            blob, table[row, VALUE_BEGIN], table[row, VALUE_END], out, free,
        )  # fmt: skip
    if written == HOLE_LEFT:
        return write_hole(out, n)
    return written if written == ASK or free == n else copy(out, free, written, out, n)


@inlined
def _keep(source: Bytes, begin: int, end: int, count: int, wanted: int, out: Bytes, n: int) -> Int:
    """Write one of the arguments that begin with the bar at `begin`; -1 if it is blank, or a name may be a number."""
    bars, position, first, last = 0, 0, end, end
    while begin < end:
        bar = find(source, begin + 1, end, 124)
        equals = find(source, begin + 1, bar, 61)
        bars += 1
        if equals < bar:
            left, right = stripped(source, begin + 1, equals)
            if left < 0 or (left < right and 48 <= source[left] <= 57):
                return -1
        else:
            position += 1
            if position == wanted:
                first, last = begin + 1, bar
        begin = bar
    if position < wanted or (count >= 0 and bars != count):
        return -1
    for i in range(first, last):
        byte = source[i]
        if 32 < byte < 127 or (byte > 0xC2 and not may_be_space(source, i, last)):
            return copy(source, first, last, out, n)
    return -1


@inlined
def _has_argument(source: Bytes, begin: int, end: int, count: int, blob: Bytes, name_begin: int, name_end: int) -> bool:
    """Tell whether an argument may have a name that begins as blob[name_begin:name_end] does."""
    bars = 0
    while begin < end:
        bar = find(source, begin + 1, end, 124)
        equals = find(source, begin + 1, bar, 61)
        bars += 1
        if equals < bar:
            left, right = stripped(source, begin + 1, equals)
            if left < 0 or (left < right and source[left] == blob[name_begin]):
                return True
        begin = bar
    return name_begin == name_end or (count >= 0 and bars != count)


@inlined
def fold_name(source: Bytes, begin: int, end: int, scratch: Bytes) -> Int:
    """Write a folded template name to scratch; returns its length, -1 if it is too long, COLON if it has a colon."""
    while begin < end and _EDGE[source[begin]]:
        begin += 1
    while end > begin and _EDGE[source[end - 1]]:
        end -= 1
    length, gap = 0, False
    for i in range(begin, end):
        byte = source[i]
        if byte == 58:
            return COLON
        if byte == SPACE or byte == 95 or byte == 9 or byte == NEWLINE:
            gap = length > 0
            continue
        if length + 2 > LONGEST_NAME:
            return COLON if find(source, i, end, 58) < end else -1
        if gap:
            scratch[length] = SPACE
            length += 1
            gap = False
        scratch[length] = byte + 32 if 65 <= byte <= 90 else byte
        length += 1
    return length


@inlined
def write_link(
    source: Bytes, begin: int, end: int, label: int, label_end: int, has_label: bool,
    out: Bytes, n: int, depth: int, inside: bool, table: Ints, blob: Bytes, scratch: Bytes,
) -> Int:  # fmt: skip
    """Write the text of a link, given its target and label; -1 where Python is asked. `inside`: source is out."""
    colon = find(source, begin, end, 58)
    target = begin
    if colon < end:
        length = fold_prefix(source, begin, colon, scratch)
        if length >= 0 and lookup(table, blob, PREFIX, scratch, 0, length) >= 0:
            return write_hole(out, n)
        if length == 0:
            target = colon + 1
    if inside and find(source, target, end, NEWLINE) < end:
        n = copy(source, target, end, out, n)
        if has_label:
            out[n] = 124
            n = copy(source, label, label_end, out, n + 1)
        return n
    if has_label:
        target, end = label, label_end
    else:
        while target < end and (source[target] == SPACE or source[target] == 9):
            target += 1
        while end > target and (source[end - 1] == SPACE or source[end - 1] == 9):
            end -= 1
    if target >= end:
        return -1
    equals = depth > 0 and find(source, target, end, 61) < end
    first = source[target]
    marked = _LINE_MARKUP[first]
    if not equals and not marked:
        return copy(source, target, end, out, n)
    if inside:
        return -1
    for i in range(target, end):
        byte = source[i]
        if (i == target and marked) or (equals and byte == 61):
            if i == target and byte == 61 and equals:
                return -1
            out[n], out[n + 1] = 38, 35
            if byte >= 100:
                out[n + 2], out[n + 3], out[n + 4] = 49, 50, 52
                n += 5
            else:
                out[n + 2], out[n + 3] = 48 + byte // 10, 48 + byte % 10
                n += 4
            out[n] = 59
        else:
            out[n] = byte
        n += 1
    return n


@inlined
def fold_prefix(source: Bytes, begin: int, end: int, scratch: Bytes) -> Int:
    """Write a folded link prefix to scratch; returns its length, -1 if it is too long."""
    while begin < end and (_EDGE[source[begin]] or source[begin] == 95):
        begin += 1
    while end > begin and (_EDGE[source[end - 1]] or source[end - 1] == 95):
        end -= 1
    if end - begin > LONGEST_NAME:
        return -1
    for i in range(begin, end):
        byte = source[i]
        scratch[i - begin] = SPACE if byte == 95 else byte + 32 if 65 <= byte <= 90 else byte
    return end - begin


_LINE_MARKUP = marks(b"*#:;=|! ")
_EDGE = marks(b" \t\n\x7f")
