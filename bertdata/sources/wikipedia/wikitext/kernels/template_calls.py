"""What one template call or one link leaves, compiled; the reference is `wikitext/template_calls`.

The name of most templates decides what is left: nothing, a fixed text, one argument. The frequent templates are written
by `kernels/templates` and `kernels/convert`; for any other the answer is ASK: Python is asked.
"""

# ruff: noqa: PLR1714  (numba compiles comparisons well, sets not)

from __future__ import annotations

from bertdata.kernels import characters as char
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext import rules
from bertdata.sources.wikipedia.wikitext.kernels import buffers, common, convert, templates, walk
from bertdata.sources.wikipedia.wikitext.kernels.common import LONGEST_NAME, Ints
from bertdata.sources.wikipedia.wikitext.kernels.templates import ASK, NOTHING

# what a call leaves: what Python answers, a fixed text, one of its arguments, nothing where the page is no article,
# what `kernels/templates` or `kernels/convert` write
ASKED, LITERAL, KEPT, NO_ARTICLE, WRITTEN, CONVERSION = range(6)
COLON = -2
LANGUAGE = common.word("lang-")


@inlined
def write_call_text(
    source: Bytes, begin: int, head_end: int, end: int, count: int,
    out: Bytes, n: int, state: Ints, table: Ints, blob: Bytes, scratch: Bytes,
) -> Int:  # fmt: skip
    """Write what the call source[begin:end] leaves, given the end of its head and its number of bars; or ASK.

    A count of -1 says that each bar separates two arguments: there is no rendered text among them.
    """
    length = fold_name(source, begin, head_end, scratch)
    if length == COLON:
        if is_function(source, begin, head_end, table, blob, scratch):
            return ASK
        return common.write_placeholder(out, n)
    row = common.lookup(table, blob, common.TEMPLATE, scratch, 0, length) if length >= 0 else -1
    if row < 0:
        if length >= 0 and common.starts_with(scratch, 0, length, LANGUAGE):
            return ASK
        return common.write_placeholder(out, n)
    code, detail = table[row, common.CODE] & 7, table[row, common.CODE] >> 3
    value, value_end = table[row, common.VALUE_BEGIN], table[row, common.VALUE_END]
    if code == ASKED:
        return ASK
    if code == LITERAL:
        return buffers.copy(blob, value, value_end, out, n)
    if code == KEPT:
        return _keep(source, head_end, end, count, detail, out, n)
    if code == NO_ARTICLE:
        if state[walk.DEPTH] == 0 and state[walk.REASON] == 0:
            state[walk.REASON] = detail
        return common.write_placeholder(out, n)
    free = end if count >= 0 else n
    if code == CONVERSION:
        written = convert.write_conversion(detail == 1, count, source, head_end, end, state, table, blob, out, free)
    else:
        written = templates.write_call(detail, count, source, head_end, end, state, blob, value, value_end, out, free)
    if written == NOTHING:
        return common.write_placeholder(out, n)
    return written if written == ASK or free == n else buffers.copy(out, free, written, out, n)


@inlined
def _keep(source: Bytes, begin: int, end: int, count: int, wanted: int, out: Bytes, n: int) -> Int:
    """Write one of the arguments that begin with the bar at `begin`; ASK if it is blank, or a name may be a number."""
    bars, position, first, last = 0, 0, end, end
    while begin < end:
        bar = buffers.find(source, begin + 1, end, char.BAR)
        equals = buffers.find(source, begin + 1, bar, char.EQUALS)
        bars += 1
        if equals < bar:
            left, right = common.strip(source, begin + 1, equals)
            if left < right and char.is_digit(source[left]):
                return ASK
        else:
            position += 1
            if position == wanted:
                first, last = begin + 1, bar
        begin = bar
    left, right = common.strip(source, first, last)
    if left == right or (count >= 0 and bars != count):
        return ASK
    return buffers.copy(source, first, last, out, n)


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
    source: Bytes, begin: int, end: int, label: int, label_end: int, has_label: bool,
    out: Bytes, n: int, depth: int, inside: bool, table: Ints, blob: Bytes, scratch: Bytes,
) -> Int:  # fmt: skip
    """Write the text of a link, given its target and label; or ASK. `inside`: source is out."""
    colon = buffers.find(source, begin, end, char.COLON)
    target = begin
    if colon < end:
        length = fold_prefix(source, begin, colon, scratch)
        if length >= 0 and common.lookup(table, blob, common.PREFIX, scratch, 0, length) >= 0:
            return common.write_placeholder(out, n)
        if length == 0:
            target = colon + 1
    if inside and buffers.find(source, target, end, char.NEWLINE) < end:
        n = buffers.copy(source, target, end, out, n)
        if has_label:
            out[n] = char.BAR
            n = buffers.copy(source, label, label_end, out, n + 1)
        return n
    if has_label:
        target, end = label, label_end
    else:
        target, end = common.strip_flagged(source, target, end, _BLANKS)
    if target >= end:
        return ASK
    equals = depth > 0 and buffers.find(source, target, end, char.EQUALS) < end
    marked = _LINE_MARKUP[source[target]]
    if not equals and not marked:
        return buffers.copy(source, target, end, out, n)
    if inside or (equals and source[target] == char.EQUALS):
        return ASK
    for i in range(target, end):
        byte = source[i]
        if (i == target and marked) or (equals and byte == char.EQUALS):
            n = common.write_reference(byte, out, n)
        else:
            out[n] = byte
            n += 1
    return n


_LINE_MARKUP = buffers.flags(rules.LINE_MARKUP.encode())
_NAME_EDGES = buffers.flags(rules.NAME_EDGES.encode())
_PREFIX_EDGES = buffers.flags(rules.NAME_EDGES.encode() + b"_")
_BLANKS = buffers.flags(b" \t")
