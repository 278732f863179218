"""The first pass over wikitext, compiled: comments, references, extension tags. The reference is `reference/tags`.

It stops and returns ASK_TAG where the text of a tag needs Python (verse, plain formulas, literal text), GROW_TAGS where
`out` is too small, and goes on from its state when called again; CUT_REFERENCE at a `<ref` without its ">", which is
rare: Python then does this pass for the page.
"""

# ruff: noqa: PLR1714, SIM110  (numba compiles comparisons and loops well, sets and generators not)

from __future__ import annotations

from bertdata.kernels import characters as char
from bertdata.kernels import utf8
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext import rules
from bertdata.sources.wikipedia.wikitext.kernels import buffers, common
from bertdata.sources.wikipedia.wikitext.kernels.buffers import find
from bertdata.sources.wikipedia.wikitext.kernels.common import ASK_TAG, CUT_REFERENCE, DONE, GROW_TAGS, Ints

# the state: where to read on, how much is written, whether a tag was met, names never closed (a bit each), and of the
# tag that Python is asked for: its row in the table, the bounds of its text, whether a placeholder fits; then where the
# next `</ref` begins, as far as it was looked for
READ, WRITTEN, MET, UNCLOSED, ROW, BEGIN, END, PLACEHOLDER_FITS, CLOSED_AT, STATE_SIZE = range(10)
# what becomes of a tag: code & 7; the rest of the code is a number that is the tag's own
DROP, EXTENSION, REFERENCE, FORMULA, ASKED = range(5)


@inlined
def tags_kernel(text: Bytes, size: int, out: Bytes, state: Ints, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Copy text[:size] to out without tags; returns DONE or what it needs."""
    position, n = state[READ], state[WRITTEN]
    i = position
    while True:
        i = find(text, i, size, char.LESS_THAN)
        if i >= size:
            break
        comment = common.starts_with(text, i, size, _COMMENT)
        row, end = -1, i + 4
        if not comment:
            length = common.tag_name(text, i + 1, size, scratch)
            name_end = i + 1 + length
            if length:
                row = common.lookup(table, blob, common.TAG, scratch, 0, length)
            if row >= 0:
                end = _end_of_tag(text, size, name_end)
            reference = row >= 0 and table[row, common.CODE] & 7 == REFERENCE
            if reference and end < 0 and common.ends_name(text, name_end, size, char.LESS_THAN):
                return CUT_REFERENCE
            if row < 0 or end < 0:
                i += 1
                continue
        if out.size - n < i - position + 8:
            state[READ], state[WRITTEN] = position, n
            return GROW_TAGS
        fits = (i > position or state[MET] == 0) and common.placeholder_fits(text, position, i)
        n = buffers.copy(text, position, i, out, n)
        state[MET] = 1
        if comment:
            close = _find_comment_end(text, size, end)
            if close < 0:
                position = size
                break
            position = close + 3
            if i > 0 and text[i - 1] == char.NEWLINE and position < size and text[position] == char.NEWLINE:
                position += 1
            i = position
            continue
        kind, number = table[row, common.CODE] & 7, table[row, common.CODE] >> 3
        if text[end - 2] == char.SLASH:
            position = end
        elif kind == REFERENCE:
            if state[CLOSED_AT] < end:
                state[CLOSED_AT] = _next_reference(text, size, end, True)
            position = end
            if state[CLOSED_AT] < size:
                position = _end_of_reference(text, size, end, _has_name(text, i + 4, end))
            else:
                fits = False
                if i > 0 and not common.is_one_of(utf8.decode_last(text, 0, i)[0], common.WHITE_SPACE):
                    out[n] = char.SPACE
                    n += 1
        else:
            bit = 1 << number
            close = -1
            if not state[UNCLOSED] & bit:
                close = _find_closing(text, size, end, scratch, length)
            if close < 0:
                fits = False
                state[UNCLOSED] |= bit
                position = find(text, end, size, char.NEWLINE) if kind == EXTENSION else end
            else:
                position = find(text, close, size, char.GREATER_THAN) + 1
                if kind == ASKED or (kind == FORMULA and _next_of_tex(text, end, close) == close):
                    state[READ], state[WRITTEN], state[ROW] = position, n, row
                    state[BEGIN], state[END], state[PLACEHOLDER_FITS] = end, close, fits
                    return ASK_TAG
        if fits:
            out[n] = common.PLACEHOLDER
            n += 1
        i = position
    if out.size - n < size - position:
        state[READ], state[WRITTEN] = position, n
        return GROW_TAGS
    state[READ], state[WRITTEN] = size, buffers.copy(text, position, size, out, n)
    return DONE


@inlined
def _end_of_tag(text: Bytes, size: int, begin: int) -> Int:
    """Return where the tag ends whose attributes begin here, -1 if it is not a tag; a quoted ">" does not end it."""
    if begin >= size or not common.ends_name(text, begin, size, char.SLASH):
        return -1
    i = begin
    while i < size and text[i] != char.LESS_THAN and text[i] != char.GREATER_THAN:
        if text[i] != char.EQUALS:
            i += 1
            continue
        quote = common.skip_spaces(text, i + 1, size)
        if quote < size and _is_quote(text[quote]):
            close = quote + 1
            while close < size and text[close] != text[quote] and text[close] != char.LESS_THAN:
                close += 1
            if close < size and text[close] == text[quote]:
                i = close
        i += 1
    if i == size or text[i] != char.GREATER_THAN:
        i = common.end_of_tag(text, begin, size)
    return i + 1 if i < size and text[i] == char.GREATER_THAN else -1


@inlined
def _is_quote(byte: int) -> bool:
    return byte == char.QUOTATION_MARK or byte == char.APOSTROPHE


@inlined
def _find_comment_end(text: Bytes, size: int, begin: int) -> Int:
    i = find(text, begin, size, char.GREATER_THAN)
    while i < size:
        if i - begin >= 2 and text[i - 1] == char.HYPHEN and text[i - 2] == char.HYPHEN:
            return i - 2
        i = find(text, i + 1, size, char.GREATER_THAN)
    return -1


@inlined
def _find_closing(text: Bytes, size: int, begin: int, name: Bytes, length: int) -> Int:
    """Return where `</name>` begins, -1 if it never comes."""
    i = find(text, begin, size, char.LESS_THAN)
    while i < size:
        if i + length + 2 < size and text[i + 1] == char.SLASH:
            k = 0
            while k < length and char.lower(text[i + 2 + k]) == name[k]:
                k += 1
            if k == length:
                k = common.skip_spaces(text, i + 2 + length, size)
                if k < size and text[k] == char.GREATER_THAN:
                    return i
        i = find(text, i + 1, size, char.LESS_THAN)
    return -1


@inlined
def _has_name(text: Bytes, begin: int, end: int) -> bool:
    for i in range(begin, end):
        if common.starts_with(text, i, end, _NAME):
            return True
    return False


@inlined
def _end_of_reference(text: Bytes, size: int, begin: int, named: bool) -> Int:
    """Return where the text of a reference ends (`tags._end_of_reference`)."""
    i = _next_reference(text, size, begin, False)
    if i < size and text[i + 1] == char.SLASH:
        return _end_of_closing(text, size, i + 5)
    line_end = find(text, begin, i, char.NEWLINE)
    if line_end == i and i < size and named:
        return begin
    return line_end


@inlined
def _next_reference(text: Bytes, size: int, begin: int, closing: bool) -> Int:
    """Return where the next `<ref` or `</ref` begins, only `</ref` where `closing`; `size` where there is none."""
    i = find(text, begin, size, char.LESS_THAN)
    while i < size:
        slash = i + 1 < size and text[i + 1] == char.SLASH
        k = i + 1 + slash
        if (slash or not closing) and k + 3 <= size and (text[k] | 32) == _REF[0]:
            named = (text[k + 1] | 32) == _REF[1] and (text[k + 2] | 32) == _REF[2]
            if named and common.ends_name(text, k + 3, size, char.LESS_THAN):
                break
        i = find(text, i + 1, size, char.LESS_THAN)
    return i


@inlined
def _end_of_closing(text: Bytes, size: int, begin: int) -> Int:
    """Return where a closing tag ends whose name ends at `begin`: there too, where it has no ">" on its line."""
    i = common.skip_spaces(text, begin, size)
    if i < size and text[i] == char.GREATER_THAN:
        return i + 1
    i = begin
    while i < size and not _ENDS_QUOTED_VALUE[text[i]]:
        i += 1
    return i + 1 if i < size and text[i] == char.GREATER_THAN else begin


_COMMENT, _NAME, _REF = map(common.word, ("<!--", "name", "ref"))
_next_of_tex = buffers.scanner(rules.NOT_IN_FORMULAS.encode())
_ENDS_QUOTED_VALUE = buffers.flags(b"<>\n")
