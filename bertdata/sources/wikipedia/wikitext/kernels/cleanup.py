"""The last pass over wikitext, compiled: holes, spaces, paragraphs without a word. The readable twin is `cleanup`."""

# ruff: noqa: PLR1714, SIM109  (numba compiles comparisons and loops well, sets and generators not)

from __future__ import annotations

import re

import numpy as np

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels.common import (
    HOLE,
    NEWLINE,
    SPACE,
    Bytes,
    Int,
    Ints,
    copy,
    find,
    find_pair,
    is_letter_or_digit,
    marks,
    scanner,
)

_LINE_BREAK = 11
# what a token is, beyond plain text
_PLAIN, _SPACE, _PAUSE, _STOP, _OPENER, _CLOSER, _QUOTE, _DASH, _JOINER, _HOLE = range(10)


@inlined
def finish_kernel(text: Bytes, size: int, work: Bytes, out: Bytes, starts: Ints, words: Bytes) -> Int:
    """Write the paragraphs of text[:size] to out, healed; returns the bytes written, at most size.

    `work` holds one paragraph and `starts` its tokens: both have room for size + 1 items.
    """
    n = i = 0
    while i < size:
        begin = n
        if n:
            out[n], out[n + 1] = NEWLINE, NEWLINE
            n += 2
        start, verse = n, False
        end = _next_mark(text, i, size)
        whole = end == size or (text[end] == NEWLINE and end + 1 < size and text[end + 1] == NEWLINE)
        if whole and find_pair(text, i, end, SPACE) == end:
            n = copy(text, i, end, out, n)
            i = _end_of_spaces(text, end, size)
        else:
            i, length, hole, verse = _lay(text, i, size, work)
            n = _heal(work, length, out, n, starts) if hole else copy(work, 0, length, out, n)
        n = _strip(out, start, n, False)
        if verse:
            n = _strip(out, start, _lay_verse(out, start, n), True)
        if not _has_word(out, start, n, words) or _is_only_a_url(out, start, n):
            n = begin
    return n


@inlined
def _end_of_spaces(text: Bytes, i: int, size: int) -> Int:
    while i < size and (text[i] == SPACE or text[i] == NEWLINE):
        i += 1
    return i


@inlined
def _lay(text: Bytes, i: int, size: int, work: Bytes) -> tuple[Int, Int, bool, bool]:
    """Write one paragraph to work with single spaces; returns where the next begins, the bytes, has it holes, verse."""
    length, mark, hole, verse = 0, -1, False, False
    while i < size:
        if mark < i:
            mark = _next_mark(text, i, size)
        end = find_pair(text, i, mark, SPACE)
        length = copy(text, i, end, work, length)
        i = end
        if i == size:
            break
        byte = text[i]
        if byte != SPACE and byte != NEWLINE:
            work[length] = byte
            length += 1
            hole |= byte == HOLE
            verse |= byte == _LINE_BREAK
            i += 1
            continue
        if length and work[length - 1] == SPACE:
            length -= 1
        newlines = 0
        while i < size and (text[i] == SPACE or text[i] == NEWLINE):
            newlines += text[i] == NEWLINE
            i += 1
        if newlines > 1:
            break
        work[length] = SPACE
        length += 1
    return i, length, hole, verse


@inlined
def _strip(out: Bytes, begin: int, end: int, newlines: bool) -> Int:
    while end > begin and (out[end - 1] == SPACE or (newlines and out[end - 1] == NEWLINE)):
        end -= 1
    first = begin
    while first < end and (out[first] == SPACE or (newlines and out[first] == NEWLINE)):
        first += 1
    return copy(out, first, end, out, begin) if first > begin else end


@inlined
def _lay_verse(out: Bytes, begin: int, end: int) -> Int:
    """Turn the marks of line breaks, with the spaces around them, into line breaks; in place."""
    n = i = begin
    while i < end:
        if out[i] == _LINE_BREAK or (out[i] == SPACE and i + 1 < end and out[i + 1] == _LINE_BREAK):
            while i < end and (out[i] == SPACE or out[i] == _LINE_BREAK):
                i += 1
            out[n] = NEWLINE
        else:
            out[n] = out[i]
            i += 1
        n += 1
    return n


@inlined
def _has_word(out: Bytes, begin: int, end: int, words: Bytes) -> bool:
    """Tell whether out[begin:end] has a letter, digit or underscore of the first 65,536 characters."""
    for i in range(begin, end):
        byte = out[i]
        if byte < 128:
            if is_letter_or_digit(byte) or byte == 95:
                return True
        elif 0xC0 <= byte < 0xE0:
            if i + 1 < end and words[(np.int64(byte) & 31) << 6 | np.int64(out[i + 1]) & 63]:
                return True
        elif 0xE0 <= byte < 0xF0 and i + 2 < end:
            code = (np.int64(byte) & 15) << 12 | (np.int64(out[i + 1]) & 63) << 6 | np.int64(out[i + 2]) & 63
            if words[code]:
                return True
    return False


@inlined
def _is_only_a_url(out: Bytes, begin: int, end: int) -> bool:
    i = begin
    while i < end and (97 <= out[i] <= 122 or 65 <= out[i] <= 90):
        i += 1
    if not (3 <= i - begin <= 6 and end - i > 3 and out[i] == 58 and out[i + 1] == 47 and out[i + 2] == 47):
        return False
    while i < end and out[i] != SPACE and out[i] != NEWLINE:
        i += 1
    return bool(i == end)


@inlined
def _heal(work: Bytes, length: int, out: Bytes, n: int, starts: Ints) -> Int:
    """Close the holes of the paragraph work[:length], token by token (see `reference.cleanup.heal`)."""
    depth = i = 0
    next_hole = -1
    hole = spaced = False
    while i < length:
        if not hole and i > next_hole:
            next_hole = find(work, i, length, HOLE)
            token = _last_word(work, i, next_hole, length)
            if token > i:
                n = copy(work, i, token, out, n)
                depth, i = 0, token
                continue
        end, kind = _token(work, i, length)
        first = work[i]
        if kind == _HOLE:
            popped = False
            while depth and _is_one(out, starts[depth - 1], n, SPACE):
                depth -= 1
                n = starts[depth]
                popped = True
            spaced = popped or (hole and spaced)
            hole = True
            i = end
            continue
        if hole:
            if kind == _SPACE:
                spaced = True
                i = end
                continue
            last = _kind_of(out, starts[depth - 1], n) if depth else _PLAIN
            opening = depth == 0 or last == _OPENER
            if (kind == _PAUSE and (opening or last == _PAUSE)) or (
                (kind == _JOINER or kind == _DASH) and first != 45 and last == _OPENER
            ):
                i = end
                continue
            if kind == _QUOTE and last == _QUOTE and not spaced:
                depth -= 1
                n = starts[depth]
                spaced = False
                while depth and _is_one(out, starts[depth - 1], n, SPACE):
                    depth -= 1
                    n = starts[depth]
                    spaced = True
                i = end
                continue
            if kind == _CLOSER:
                while depth and _is_loose(out, starts[depth - 1], n):
                    depth -= 1
                    n = starts[depth]
                if depth and _is_one(out, starts[depth - 1], n, 40 if first == 41 else 91):
                    depth -= 1
                    n = starts[depth]
                    spaced = False
                    while depth and _is_one(out, starts[depth - 1], n, SPACE):
                        depth -= 1
                        n = starts[depth]
                        spaced = True
                    i = end
                    continue
            elif kind == _STOP:
                while depth and _kind_of(out, starts[depth - 1], n) == _PAUSE:
                    depth -= 1
                    n = starts[depth]
                if first == 46 and depth and _kind_of(out, starts[depth - 1], n) == _STOP:
                    i = end
                    continue
            elif kind != _PAUSE and spaced and not opening:
                starts[depth] = n
                depth += 1
                out[n] = SPACE
                n += 1
            hole = False
        starts[depth] = n
        depth += 1
        n = copy(work, i, end, out, n)
        i = end
    return n


@inlined
def _last_word(work: Bytes, begin: int, hole: int, length: int) -> Int:
    """Return where the last word before a hole begins; `begin` where none does after a space, `length` without a hole.

    Healing takes back marks and spaces, never a word: what stands before this word is not looked at again.
    """
    if hole == length:
        return length
    i = hole - 2
    while i >= begin:
        if work[i] == SPACE and _DELIMITER[work[i + 1]] == 0 and _token(work, i + 1, length)[1] == _PLAIN:
            return i + 1
        i -= 1
    return begin


@inlined
def _token(work: Bytes, begin: int, length: int) -> tuple[Int, Int]:
    """Return where the token at `begin` ends, and its kind."""
    byte = work[begin]
    end = begin + 1
    if _DELIMITER[byte] == 0:
        while end < length and _DELIMITER[work[end]] == 0:
            end += 1
        return end, _kind_of(work, begin, end)
    if _DELIMITER[byte] == 2 and end < length:
        following = work[end]
        ends = following == SPACE or _DELIMITER[following] == 3 or following == 34 or following == 39
        if following == 0xE2 and end + 2 < length and work[end + 1] == 0x80:
            ends = work[end + 2] == 0x9D or work[end + 2] == 0x99
        if not ends:
            while end < length and _DELIMITER[work[end]] == 0:
                end += 1
    return end, _kind_of(work, begin, end)


@inlined
def _kind_of(text: Bytes, begin: int, end: int) -> Int:
    byte = text[begin]
    if end - begin == 1:
        return int(_KIND[byte])
    if end - begin == 3:
        if byte == 0xE2 and text[begin + 1] == 0x80 and (text[begin + 2] == 0x93 or text[begin + 2] == 0x94):
            return _DASH
        if byte == 97 and text[begin + 1] == 110 and text[begin + 2] == 100:
            return _JOINER
    if end - begin == 2 and byte == 111 and text[begin + 1] == 114:
        return _JOINER
    return _PLAIN


@inlined
def _is_one(text: Bytes, begin: int, end: int, byte: int) -> bool:
    return bool(end - begin == 1 and text[begin] == byte)


@inlined
def _is_loose(text: Bytes, begin: int, end: int) -> bool:
    kind = _kind_of(text, begin, end)
    return bool(kind == _PAUSE or kind == _SPACE or kind == _DASH or (end - begin == 1 and text[begin] == 47))


_next_mark = scanner(marks([NEWLINE, HOLE, _LINE_BREAK]))
_DELIMITER = np.zeros(256, np.uint8)  # 1: a quote or space; 2: a pause or stop; 3: a bracket or hole
_DELIMITER[list(b' "')] = 1
_DELIMITER[list(b",;:.!?")] = 2
_DELIMITER[list(b"()[]\x7f")] = 3
_KIND = np.zeros(256, np.int64)
for _kind, _bytes in (
    (_SPACE, b" "), (_PAUSE, b",;:"), (_STOP, b".!?"), (_OPENER, b"(["), (_CLOSER, b")]"), (_QUOTE, b'"'),
    (_DASH, b"-"), (_JOINER, b"/"), (_HOLE, b"\x7f"),
):  # fmt: skip
    _KIND[list(_bytes)] = _kind


def word_characters() -> Bytes:
    """Return, for each of the first 65,536 characters, whether it is a letter, digit or underscore."""
    table = np.zeros(1 << 16, np.uint8)
    for match in re.finditer(r"\w", "".join(map(chr, range(1 << 16)))):
        table[match.start()] = 1
    return table
