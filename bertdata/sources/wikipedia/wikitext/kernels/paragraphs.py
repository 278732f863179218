"""The third pass over wikitext, compiled: prose by lines, and quote marks. The readable twin is `paragraphs`."""

# ruff: noqa: PLR1714, SIM110  (numba compiles comparisons and loops well, sets and generators not)

from __future__ import annotations

import numpy as np

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels.common import (
    HOLE,
    LONGEST_NAME,
    NEWLINE,
    SECTION,
    SPACE,
    Bytes,
    Int,
    Ints,
    copy,
    find,
    lookup,
    marks,
    scanner,
)

_EQUALS, _QUOTE = 61, 39


@inlined
def lines_kernel(text: Bytes, size: int, out: Bytes, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Write the prose of text[:size] to out, a paragraph a line; returns the bytes written, at most 2 * size + 4."""
    n = block = line_start = 0  # block: lines in the paragraph that is being written
    skipped = 0  # the level of the section without prose that is being skipped
    paragraphs = False
    begin = 0
    while begin <= size:
        body = _first_of_line(text, begin, size)
        first = text[body] if body < size else NEWLINE
        if first != NEWLINE and first != _EQUALS and (skipped or _is_list_mark(first)):
            begin, block = find(text, body, size, NEWLINE) + 1, 0
            continue
        line_end, quotes, hole = begin, False, False
        while True:
            line_end = _next_special(text, line_end, size)
            if line_end == size or text[line_end] == NEWLINE:
                break
            if text[line_end] == HOLE:
                hole = True
            else:
                quotes = quotes or (line_end + 1 < size and text[line_end + 1] == _QUOTE)
            line_end += 1
        line = begin
        begin = line_end + 1
        body, end = _strip(text, line, line_end)
        first = text[body] if body < end else 0
        if first == _EQUALS:
            level, title, title_end, rest = _heading(text, body, end)
            if level:
                if skipped == 0 or level <= skipped:
                    known = _is_section(text, title, title_end, table, blob, scratch)
                    skipped = level if known else 0
                body, end = _strip(text, rest, end)
                line, line_end = body, end
                first = text[body] if body < end else 0
                block = 0
        elif first == 45 and _begins_a_rule(text, body, end):
            block = 0
            while body < end and text[body] == 45:
                body += 1
            body, end = _strip(text, body, end)
            line, line_end = body, end
        elif body == end and hole and block and not _ends_a_sentence(out, line_start, n):
            continue
        if (
            skipped
            or body == end
            or _is_list_mark(first)
            or (text[line] == SPACE and _is_preformatted(text, body, end))
            or (text[body] == 33 and _is_table_header(text, body, end))
        ):
            block = 0
            continue
        if block:
            out[n] = SPACE
            n += 1
        elif paragraphs:
            out[n], out[n + 1] = NEWLINE, NEWLINE
            n += 2
        block += 1
        paragraphs = True
        line_start = n
        if first == 44 or first == 46 or first == 41:
            out[n] = HOLE
            n += 1
            line, line_end = body, end
        n = copy(text, line, line_end, out, n)
        if quotes:
            n = _strip_quotes(out, line_start, n)
    return n


@inlined
def _strip(text: Bytes, begin: int, end: int) -> tuple[Int, Int]:
    while begin < end and (text[begin] == SPACE or text[begin] == 9 or text[begin] == HOLE):
        begin += 1
    while end > begin and (text[end - 1] == SPACE or text[end - 1] == 9 or text[end - 1] == HOLE):
        end -= 1
    return begin, end


@inlined
def _first_of_line(text: Bytes, begin: int, size: int) -> Int:
    while begin < size and (text[begin] == SPACE or text[begin] == 9 or text[begin] == HOLE):
        begin += 1
    return begin


@inlined
def _is_list_mark(byte: int) -> bool:
    return byte == 42 or byte == 35 or byte == 58 or byte == 59 or byte == 124


@inlined
def _begins_a_rule(text: Bytes, begin: int, end: int) -> bool:
    return end - begin >= 4 and text[begin + 1] == 45 and text[begin + 2] == 45 and text[begin + 3] == 45


@inlined
def _is_preformatted(text: Bytes, begin: int, end: int) -> bool:
    if not _ends_a_sentence(text, begin, end):
        return True
    spaces = 0
    for i in range(begin, end):
        spaces += text[i] == SPACE
    return spaces < 8


@inlined
def _is_table_header(text: Bytes, begin: int, end: int) -> bool:
    if begin + 1 < end and text[begin + 1] == SPACE:
        return True
    for i in range(begin, end - 1):
        if text[i] == 33 and text[i + 1] == 33:
            return True
    return False


@inlined
def _ends_a_sentence(text: Bytes, begin: int, end: int) -> bool:
    """Tell whether the last character of text[begin:end] is one that a sentence ends with."""
    if end <= begin:
        return False
    last = text[end - 1]
    if last < 128:
        return bool(_SENTENCE_END[last])
    if end - begin >= 2 and text[end - 2] == 0xC2:
        return bool(last == 0xBB)
    if end - begin < 3:
        return False
    a, b = text[end - 3], text[end - 2]
    if a == 0xE2:
        return bool(b == 0x80 and (last == 0x9D or last == 0x99 or last == 0xA6))
    if a == 0xE3:
        return bool(b == 0x80 and last == 0x82)
    return bool(a == 0xEF and b == 0xBC and (last == 0x81 or last == 0x9F))


@inlined
def _heading(text: Bytes, begin: int, end: int) -> tuple[int, int, int, int]:
    """Split a line into (level, title begin, title end, rest begin); level 0 if it is no heading."""
    opening = 0
    while begin + opening < end and text[begin + opening] == _EQUALS:
        opening += 1
    closing = 0
    while end - closing > begin and text[end - 1 - closing] == _EQUALS:
        closing += 1
    level = min(opening, 6)
    if closing:
        level = max(1, min(closing, level, (end - begin - 1) // 2))
        return level, begin + level, max(begin + level, end - level), end
    if level < 2:
        return 0, begin, begin, begin
    run = 0
    for i in range(begin + level, end):
        run = run + 1 if text[i] == _EQUALS else 0
        if run == level:
            return level, begin + level, i + 1 - level, i + 1
    return 0, begin, begin, begin


@inlined
def _is_section(text: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> bool:
    """Tell whether a title, without holes, quote marks and tags, is one of a section without prose."""
    length = 0
    for i in range(begin, end):
        if text[i] != HOLE:
            if length == LONGEST_NAME:
                return False
            scratch[length] = text[i]
            length += 1
    kept = i = 0
    while i < length:
        run = i
        while run < length and scratch[run] == _QUOTE:
            run += 1
        if run - i >= 2:
            i = run
            continue
        scratch[kept] = scratch[i]
        kept += 1
        i += 1
    length, kept, i = kept, 0, 0
    while i < length:
        if scratch[i] == 60:
            close = i + 1
            while close < length and scratch[close] != 60 and scratch[close] != 62:
                close += 1
            if close < length and scratch[close] == 62:
                i = close + 1
                continue
        scratch[kept] = scratch[i]
        kept += 1
        i += 1
    begin, end = 0, kept
    while begin < end and (scratch[begin] == SPACE or scratch[begin] == 9 or scratch[begin] == 58):
        begin += 1
    while end > begin and (scratch[end - 1] == SPACE or scratch[end - 1] == 9 or scratch[end - 1] == 58):
        end -= 1
    for i in range(begin, end):
        if 65 <= scratch[i] <= 90:
            scratch[i] += 32
    return bool(lookup(table, blob, SECTION, scratch, begin, end) >= 0)


@inlined
def _strip_quotes(out: Bytes, begin: int, end: int) -> Int:
    """Take the bold and italic marks out of the line out[begin:end] in place; returns its new end."""
    bold = italic = 0
    i = begin
    while True:
        i = find(out, i, end, _QUOTE)
        if i == end:
            break
        run = _quotes(out, i, end)
        if run >= 2:
            bold += run != 2
            italic += run == 2 or run >= 5
        i += run
    apostrophe = _bold_that_is_an_apostrophe(out, begin, end) if bold % 2 and italic % 2 else -1
    n = i = begin
    while i < end:
        quote = find(out, i, end, _QUOTE)
        n = copy(out, i, quote, out, n)
        i = quote
        run = _quotes(out, i, end)
        if run == 1:
            out[n] = _QUOTE
            n += 1
            i += 1
        if run < 2:
            continue
        kept = run - 5 if run > 5 else (1 if run == 4 else 0) + (1 if i == apostrophe else 0)
        for _ in range(kept):
            out[n] = _QUOTE
            n += 1
        i += run
    return n


@inlined
def _quotes(out: Bytes, begin: int, end: int) -> Int:
    i = begin
    while i < end and out[i] == _QUOTE:
        i += 1
    return i - begin


@inlined
def _bold_that_is_an_apostrophe(out: Bytes, begin: int, end: int) -> Int:
    """Return where the bold mark stands that is an apostrophe and an italic mark (see the twin in `paragraphs`)."""
    word = space = -1
    segment = i = begin
    while i < end:
        run = _quotes(out, i, end)
        if run == 3 or run == 4:
            last = i - 1
            if run == 3:
                if last >= segment and out[last] == SPACE:
                    space = i if space < 0 else space
                    segment = i + run
                    i += run
                    continue
                while last > segment and (out[last] & 0xC0) == 0x80:
                    last -= 1
                last -= 1
            if last >= segment and out[last] == SPACE:
                return i
            if word < 0:
                word = i
        if run >= 2:
            segment = i + run
        i += max(run, 1)
    return word if word >= 0 else space


_next_special = scanner(marks([NEWLINE, HOLE, _QUOTE]))
_SENTENCE_END = np.zeros(128, np.uint8)
_SENTENCE_END[list(b".!?:;\"')]")] = 1
