"""The first pass over wikitext, compiled: comments, references, extension tags. The readable twin is `tags`.

It stops and returns ASK where the text of a tag needs Python (verse, formulas), GROW where `out` is too small, and goes
on from its state when called again.
"""

# ruff: noqa: PLR1714  (numba compiles comparisons well, sets not)

from __future__ import annotations

import numpy as np

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels.common import (
    CODE,
    HOLE,
    NEWLINE,
    TAG,
    Bytes,
    Int,
    Ints,
    copy,
    find,
    hole_fits,
    is_space,
    lookup,
    lower,
    tag_name,
)
from bertdata.sources.wikipedia.wikitext.kernels.templates import stripped

DONE, ASK, GROW = range(3)
# the state: where to read on, how much is written, whether a tag was met, names never closed (a bit each), and of the
# tag that Python is asked for: its row in the table, where its text begins and ends, whether it would leave a hole; and
# where the next `</ref` begins, as far as it was looked for
READ, WRITTEN, MET, UNCLOSED, ROW, BEGIN, END, HOLE_FITS, CLOSED_AT, STATE_SIZE = range(10)
# what becomes of a tag: code & 7; the rest of the code is a number that is the tag's own
DROP, EXTENSION, NOWIKI, REFERENCE, FORMULA, ASKED = range(6)


@inlined
def tags_kernel(text: Bytes, size: int, out: Bytes, state: Ints, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Copy text[:size] to out without tags; returns DONE, ASK or GROW."""
    position, n = state[READ], state[WRITTEN]
    i = position
    while True:
        i = find(text, i, size, 60)
        if i >= size:
            break
        comment = i + 3 < size and text[i + 1] == 33 and text[i + 2] == 45 and text[i + 3] == 45
        row, end, cut = -1, i + 4, -1
        if not comment:
            length = tag_name(text, i + 1, size, scratch)
            if length:
                row = lookup(table, blob, TAG, scratch, 0, length)
            if row >= 0:
                end = _end_of_tag(text, size, i + 1 + length)
                if end < 0 and table[row, CODE] & 7 == REFERENCE:
                    cut = _end_of_cut_reference(text, size, i + 1 + length)
            if row < 0 or (end < 0 and cut < 0):
                i += 1
                continue
        if out.size - n < i - position + 8:
            state[READ], state[WRITTEN] = position, n
            return GROW
        hole = (i > position or state[MET] == 0) and hole_fits(text, position, i)
        if comment:
            close = _find_comment_end(text, size, end)
            n = copy(text, position, i, out, n)
            state[MET] = 1
            if close < 0:
                position = size
                break
            position = close + 3
            if i > 0 and text[i - 1] == NEWLINE and position < size and text[position] == NEWLINE:
                position += 1
            i = position
            continue
        kind, number = table[row, CODE] & 7, table[row, CODE] >> 3
        if cut >= 0:
            n = _write(text, position, i, hole, out, n)
            position = cut
        elif text[end - 2] == 47:
            n = _write(text, position, i, hole, out, n)
            position = end
        elif kind == REFERENCE:
            if state[CLOSED_AT] < end:
                state[CLOSED_AT] = _next_closing(text, size, end)
            if state[CLOSED_AT] < size:
                n = _write(text, position, i, hole, out, n)
                position = _end_of_reference(text, size, end, _has_name(text, i + 4, end))
            else:
                n = copy(text, position, i, out, n)
                position = end
                if i > 0 and not is_space(text[i - 1]):
                    out[n] = 32
                    n += 1
        else:
            bit = 1 << number
            close = -1
            if not state[UNCLOSED] & bit:
                close = _find_closing(text, size, end, scratch, length)
            if close < 0:
                n = copy(text, position, i, out, n)
                state[UNCLOSED] |= bit
                position = find(text, end, size, NEWLINE) if kind == EXTENSION else end
            else:
                after = find(text, close, size, 62) + 1
                if kind == FORMULA:
                    end, close, kind = _plain_formula(text, end, close)
                if kind == NOWIKI and close > end:
                    if out.size - n < i - position + 6 * (close - end) + 8:
                        state[READ], state[WRITTEN] = position, n
                        return GROW
                    n = copy(text, position, i, out, n)
                    n = _write_literally(text, end, close, out, n)
                elif kind == ASKED:
                    state[READ], state[WRITTEN] = after, copy(text, position, i, out, n)
                    state[ROW], state[BEGIN], state[END], state[HOLE_FITS], state[MET] = row, end, close, hole, 1
                    return ASK
                else:
                    n = _write(text, position, i, hole, out, n)
                position = after
        state[MET] = 1
        i = position
    if out.size - n < size - position:
        state[READ], state[WRITTEN] = position, n
        return GROW
    state[READ], state[WRITTEN] = size, copy(text, position, size, out, n)
    return DONE


@inlined
def _plain_formula(text: Bytes, begin: int, end: int) -> tuple[Int, Int, Int]:
    """Return where a formula without its spaces begins and ends, and what becomes of it: NOWIKI where it is plain."""
    left, right = stripped(text, begin, end)
    if left < 0 or find(text, left, right, 38) < right:
        return begin, end, ASKED
    characters = 0
    for i in range(left, right):
        byte = text[i]
        characters += (byte & 0xC0) != 0x80
        if byte == 92 or byte == 123 or byte == 125 or byte == 36 or characters > 60:
            return begin, end, DROP
    return left, right, NOWIKI if left < right else DROP


@inlined
def _write(text: Bytes, begin: int, end: int, hole: bool, out: Bytes, n: int) -> Int:
    n = copy(text, begin, end, out, n)
    if hole:
        out[n] = HOLE
        n += 1
    return n


@inlined
def _write_literally(text: Bytes, begin: int, end: int, out: Bytes, n: int) -> Int:
    """Write text with its markup as decimal character entities."""
    for position in range(begin, end):
        byte = text[position]
        if byte < 128 and _LITERAL[byte]:
            out[n], out[n + 1] = 38, 35
            n += 2
            if byte >= 100:
                out[n] = 48 + byte // 100
                n += 1
            out[n], out[n + 1], out[n + 2] = 48 + byte // 10 % 10, 48 + byte % 10, 59
            n += 3
        else:
            out[n] = byte
            n += 1
    return n


@inlined
def _end_of_tag(text: Bytes, size: int, begin: int) -> Int:
    """Return where the tag ends whose attributes begin here, -1 if it is none; a quoted ">" does not end it."""
    if begin >= size or not (is_space(text[begin]) or text[begin] == 47 or text[begin] == 62):
        return -1
    i = begin
    while i < size and text[i] != 60 and text[i] != 62:
        if text[i] != 61:
            i += 1
            continue
        quote = i + 1
        while quote < size and is_space(text[quote]):
            quote += 1
        if quote < size and (text[quote] == 34 or text[quote] == 39):
            close = quote + 1
            while close < size and text[close] != text[quote] and text[close] != 60:
                close += 1
            if close < size and text[close] == text[quote]:
                i = close
        i += 1
    if i < size and text[i] == 62:
        return i + 1
    i = begin
    while i < size and text[i] != 60 and text[i] != 62:
        i += 1
    return i + 1 if i < size and text[i] == 62 else -1


@inlined
def _find_comment_end(text: Bytes, size: int, begin: int) -> Int:
    i = find(text, begin, size, 62)
    while i < size:
        if i - begin >= 2 and text[i - 1] == 45 and text[i - 2] == 45:
            return i - 2
        i = find(text, i + 1, size, 62)
    return -1


@inlined
def _find_closing(text: Bytes, size: int, begin: int, name: Bytes, length: int) -> Int:
    """Return where `</name>` begins, -1 if it never comes."""
    i = find(text, begin, size, 60)
    while i < size:
        if i + length + 2 < size and text[i + 1] == 47:
            k = 0
            while k < length and lower(text[i + 2 + k]) == name[k]:
                k += 1
            if k == length:
                k = i + 2 + length
                while k < size and is_space(text[k]):
                    k += 1
                if k < size and text[k] == 62:
                    return i
        i = find(text, i + 1, size, 60)
    return -1


@inlined
def _has_name(text: Bytes, begin: int, end: int) -> bool:
    for i in range(begin, end - 3):
        if text[i] == 110 and text[i + 1] == 97 and text[i + 2] == 109 and text[i + 3] == 101:
            return True
    return False


@inlined
def _end_of_reference(text: Bytes, size: int, begin: int, named: bool) -> Int:
    """Return where the text of a reference ends (`tags._end_of_reference`)."""
    i, after = _next_reference(text, size, begin)
    if after >= 0:
        return after
    line_end = find(text, begin, i, NEWLINE)
    if line_end == i and i < size and named:
        return begin
    return line_end


@inlined
def _end_of_cut_reference(text: Bytes, size: int, begin: int) -> Int:
    """Return where a reference ends whose opening tag has no ">" (`tags._end_of_cut_reference`), -1 if it is none."""
    if begin < size and not (is_space(text[begin]) or text[begin] == 47 or text[begin] == 60):
        return -1
    end = begin
    following = _end_of_attribute(text, size, end)
    while following >= 0:
        end = following
        following = _end_of_attribute(text, size, end)
    if end < size and text[end] == 47:
        return end + 1
    i, after = _next_reference(text, size, end)
    return after if after >= 0 and find(text, end, i, NEWLINE) == i else end


@inlined
def _end_of_attribute(text: Bytes, size: int, begin: int) -> Int:
    """Return where ` name=value` ends, -1 where there is none."""
    i = _behind_space(text, size, begin)
    name = i
    while i < size and 97 <= lower(text[i]) <= 122:
        i += 1
    if name == begin or i == name:
        return -1
    i = _behind_space(text, size, i)
    if i >= size or text[i] != 61:
        return -1
    i = value = _behind_space(text, size, i + 1)
    if i < size and (text[i] == 34 or text[i] == 39):
        i += 1
        while i < size and text[i] != text[value] and text[i] != 60 and text[i] != 62 and text[i] != NEWLINE:
            i += 1
        return i + 1 if i < size and text[i] == text[value] else -1
    while i < size and not _ends_value(text[i]):
        i += 1
    return i if i > value else -1


@inlined
def _behind_space(text: Bytes, size: int, i: int) -> Int:
    while i < size and is_space(text[i]):
        i += 1
    return i


@inlined
def _ends_value(byte: Int) -> bool:
    return is_space(byte) or byte == 34 or byte == 39 or byte == 47 or 60 <= byte <= 62


@inlined
def _next_reference(text: Bytes, size: int, begin: int) -> tuple[Int, Int]:
    """Return where the next `<ref` or `</ref` begins and, where it is a closing tag, where that ends, else -1."""
    i = find(text, begin, size, 60)
    while i < size:
        closing = i + 1 < size and text[i + 1] == 47
        k = _end_of_name(text, size, i + 1 + closing)
        if k >= 0:
            return i, _end_of_closing(text, size, k) if closing else -1
        i = find(text, i + 1, size, 60)
    return size, -1


@inlined
def _next_closing(text: Bytes, size: int, begin: int) -> Int:
    """Return where the next `</ref` begins, `size` where there is none."""
    i = find(text, begin, size, 60)
    while i < size and not (i + 1 < size and text[i + 1] == 47 and _end_of_name(text, size, i + 2) >= 0):
        i = find(text, i + 1, size, 60)
    return i


@inlined
def _end_of_name(text: Bytes, size: int, k: int) -> Int:
    """Return where the name `ref` ends that begins here, -1 where there is another."""
    if k + 3 > size or lower(text[k]) != 114 or lower(text[k + 1]) != 101 or lower(text[k + 2]) != 102:
        return -1
    k += 3
    return k if k == size or is_space(text[k]) or text[k] == 47 or text[k] == 60 or text[k] == 62 else -1


@inlined
def _end_of_closing(text: Bytes, size: int, begin: int) -> Int:
    """Return where a closing tag ends whose name ends at `begin`: there too, where it has no ">" on its line."""
    i = _behind_space(text, size, begin)
    if i < size and text[i] == 62:
        return i + 1
    i = begin
    while i < size and text[i] != 60 and text[i] != 62 and text[i] != NEWLINE:
        i += 1
    return i + 1 if i < size and text[i] == 62 else begin


_LITERAL = np.zeros(128, np.uint8)
_LITERAL[list(b"[]{}|<>'=*#:;!_~-")] = 1
