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
from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import buffers, common
from bertdata.wikitext.kernels.buffers import find
from bertdata.wikitext.kernels.common import ASK_TAG, CUT_REFERENCE, DONE, GROW_TAGS, Ints

# the state: where to read on, how much is written, whether a tag was met, names never closed (a bit each), and of the
# tag that Python is asked for: its row in the table, the bounds of its text, whether a placeholder fits; then where the
# next `</ref` begins, as far as it was looked for
READ, WRITTEN, MET, UNCLOSED, ROW, BEGIN, END, PLACEHOLDER_FITS, CLOSED_AT, STATE_SIZE = range(10)
# what becomes of a tag: code & 7; the rest of the code is a number that is the tag's own
DROP, EXTENSION, BLOCK, CODE, REFERENCE, FORMULA, ASKED = range(7)
_INCLUDE_ONLY = rules.TAGS.index(rules.INCLUDE_ONLY)


@inlined
def tags_kernel(text: Bytes, size: int, out: Bytes, state: Ints, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Copy text[:size] to out without tags; returns DONE or what it needs."""
    position, n = state[READ], state[WRITTEN]
    i = position
    # text before `position` is written; i goes on to the next "<"
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
        if comment:
            line, line_end = _line_of_comments(text, position, i, size)
            if line_end >= 0:
                n = copy(text, position, line, out, n)
                state[MET] = 1
                i = position = line_end
                continue
        fits = (i > position or state[MET] == 0) and common.placeholder_fits(text, position, i)
        n = copy(text, position, i, out, n)
        state[MET] = 1
        if comment:
            close = _find_comment_end(text, size, end)
            if close < 0:
                position = size
                break
            i = position = close + 3
            continue
        kind, number = table[row, common.CODE] & 7, table[row, common.CODE] >> 3
        parts = not fits and BLOCK <= kind <= CODE and _follows_text(text, i)
        if text[end - 2] == char.SLASH:
            position = end
        elif kind == REFERENCE:
            # the next `</ref` is searched once for all references before it
            if state[CLOSED_AT] < end:
                state[CLOSED_AT] = _next_reference(text, size, end, True)
            position = end
            if state[CLOSED_AT] < size:
                position = _end_of_reference(text, size, end, _has(text, name_end, end, _NAME))
            else:
                fits = False
                if _follows_text(text, i):
                    out[n] = char.SPACE
                    n += 1
        else:
            bit = 1 << number
            close = -1
            # a name that was not closed once is not closed further on either
            if not state[UNCLOSED] & bit:
                close = _find_closing(text, size, end, scratch, length)
            if close < 0:
                fits = parts = False
                state[UNCLOSED] |= bit
                position = find(text, end, size, char.NEWLINE) if EXTENSION <= kind <= CODE else end
                position = size if number == _INCLUDE_ONLY else position
            else:
                position = find(text, close, size, char.GREATER_THAN) + 1
                asked = kind == ASKED or (kind == CODE and _is_inline(text, name_end, end))
                if asked or (kind == FORMULA and _next_of_tex(text, end, close) == close):
                    state[READ], state[WRITTEN], state[ROW] = position, n, row
                    state[BEGIN], state[END], state[PLACEHOLDER_FITS] = end, close, fits
                    return ASK_TAG
        if parts:
            out[n] = char.SPACE
            n += 1
        if fits or parts:
            out[n] = common.PLACEHOLDER
            n += 1
        i = position
    if out.size - n < size - position:
        state[READ], state[WRITTEN] = position, n
        return GROW_TAGS
    state[READ], state[WRITTEN] = size, copy(text, position, size, out, n)
    return DONE


@inlined
def _end_of_tag(text: Bytes, size: int, begin: int) -> Int:
    """Return where the tag ends whose attributes begin here, -1 if it is not a tag; a quoted ">" does not end it."""
    if begin >= size or not common.ends_name(text, begin, size, char.SLASH):
        return -1
    i = begin
    most = rules.MARKUP_IN_A_VALUE
    while i < size and text[i] != char.LESS_THAN and text[i] != char.GREATER_THAN:
        if text[i] != char.EQUALS:
            i += 1
            continue
        quote = common.skip_spaces(text, i + 1, size)
        if quote < size and _is_quote(text[quote]):
            close, markup = _end_of_value(text, quote, size, most)
            if close >= 0:
                i = close
                most = 0 if markup else most
        i += 1
    if i == size or text[i] != char.GREATER_THAN:
        i = common.end_of_tag(text, begin, size)
    return i + 1 if i < size and text[i] == char.GREATER_THAN else -1


@inlined
def _follows_text(text: Bytes, i: int) -> bool:
    """Tell whether text[i] follows a character that is not white space."""
    return i > 0 and not common.is_one_of(utf8.decode_last(text, 0, i)[0], common.WHITE_SPACE)


@inlined
def _end_of_value(text: Bytes, quote: int, size: int, most: int) -> tuple[Int, Int]:
    """Return where the quoted value ends that begins here, -1 if it does not, and how many `<` are in it."""
    i, markup = quote + 1, 0
    while i < size and text[i] != text[quote]:
        if text[i] == char.LESS_THAN:
            markup += 1
            if markup > most or _begins_other_tag(text, i + 1, size):
                return -1, markup
        i += 1
    return (i, markup) if i < size else (-1, markup)


@inlined
def _begins_other_tag(text: Bytes, i: int, size: int) -> bool:
    """Tell whether text[i:] after a `<` goes on as a closing tag, a comment or a reference."""
    if i < size and text[i] == char.SLASH:
        return True
    if common.starts_with(text, i, size, _IN_COMMENT):
        return True
    return bool(i + 2 < size and _is_ref(text, i))


@inlined
def _line_of_comments(text: Bytes, position: int, i: int, size: int) -> tuple[Int, Int]:
    """Return the bounds of the line of the comment at `i`, if comments are all of it and it ends; else an end of -1."""
    begin = i
    while begin > position and (text[begin - 1] == char.SPACE or text[begin - 1] == char.TAB):
        begin -= 1
    if begin == 0 or text[begin - 1] != char.NEWLINE:
        return begin, -1
    while common.starts_with(text, i, size, _COMMENT):
        close = _find_comment_end(text, size, i + 4)
        if close < 0:
            break
        i = close + 3
        while i < size and (text[i] == char.SPACE or text[i] == char.TAB):
            i += 1
        if i < size and text[i] == char.NEWLINE:
            return begin, i + 1
    return begin, -1


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
def _has(text: Bytes, begin: int, end: int, word: Bytes) -> bool:
    """Tell whether a word is in text[begin:end]."""
    for i in range(begin, end):
        if common.starts_with(text, i, end, word):
            return True
    return False


@inlined
def _is_inline(text: Bytes, begin: int, end: int) -> bool:
    """Tell whether highlighted code with these attributes is shown within a line (`tags.is_inline`)."""
    enclosed = _has(text, begin, end, _ENCLOSE) and _has(text, begin, end, _NONE)
    return bool(enclosed or _has(text, begin, end, _INLINE))


@inlined
def _end_of_reference(text: Bytes, size: int, begin: int, named: bool) -> Int:
    """Return where the text of a reference ends (`tags._end_of_reference`)."""
    i = _next_reference(text, size, begin, False)
    if i < size and text[i + 1] == char.SLASH:
        return _end_of_closing(text, size, i + 5)
    line_end = find(text, begin, i, char.NEWLINE)
    if i < size and named and (line_end == i or _AFTER_USE[text[begin]]):
        return begin
    return line_end


@inlined
def _next_reference(text: Bytes, size: int, begin: int, closing: bool) -> Int:
    """Return where the next `<ref` or `</ref` begins, only `</ref` where `closing`; `size` where there is none."""
    i = find(text, begin, size, char.LESS_THAN)
    while i < size:
        slash = i + 1 < size and text[i + 1] == char.SLASH
        k = i + 1 + slash
        is_reference = (slash or not closing) and k + 3 <= size and _is_ref(text, k)
        if is_reference and common.ends_name(text, k + 3, size, char.LESS_THAN):
            break
        i = find(text, i + 1, size, char.LESS_THAN)
    return i


@inlined
def _is_ref(text: Bytes, i: int) -> bool:
    """Tell whether the three bytes at `i` spell "ref"."""
    return bool((text[i] | 32) == _REF[0] and (text[i + 1] | 32) == _REF[1] and (text[i + 2] | 32) == _REF[2])


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


_COMMENT, _IN_COMMENT, _NAME, _REF = map(common.word, ("<!--", "!--", "name", "ref"))
_INLINE, _ENCLOSE, _NONE = map(common.word, ("inline", "enclose", "none"))
_AFTER_USE = buffers.flags(rules.AFTER_USE.encode())
_next_of_tex = buffers.scanner(rules.NOT_IN_FORMULAS.encode())
_ENDS_QUOTED_VALUE = buffers.flags(b"<>\n")
