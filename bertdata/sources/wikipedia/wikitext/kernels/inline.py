"""The fourth pass over wikitext, compiled: links, tags, entities, odd spaces. The readable twin is `inline`."""

# ruff: noqa: PLR1714, SIM110  (numba compiles comparisons and loops well, sets and generators not)

from __future__ import annotations

import numpy as np

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels.common import (
    CODE,
    ENTITY,
    HOLE,
    INLINE_TAG,
    NEWLINE,
    PROTOCOL,
    SPACE,
    VALUE_BEGIN,
    VALUE_END,
    Bytes,
    Int,
    Ints,
    copy,
    is_letter_or_digit,
    is_space,
    lookup,
    marks,
    scanner,
    tag_name,
)
from bertdata.sources.wikipedia.wikitext.reference.inline import INVISIBLE, ODD_SPACES

BREAK, BLOCK, FLAT = range(3)


@inlined
def inline_kernel(text: Bytes, size: int, out: Bytes, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Write text[:size] to out without inline markup; returns the bytes written, at most 2 * size."""
    n = i = 0
    limit, label_end, label_out = size, -1, 0
    while True:
        begin = i
        i = _next_special(text, i, limit)
        n = copy(text, begin, i, out, n)
        if i == limit:
            if label_end < 0:
                return n
            if n == label_out:
                out[n] = HOLE
                n += 1
            i = label_end + 1
            limit, label_end = size, -1
            continue
        byte = text[i]
        end = -1
        if byte >= 128 or byte < 32:
            length, shown = _odd(text, i, limit)
            if length:
                if shown:
                    out[n] = SPACE
                    n += 1
                i += length
                continue
        elif byte == 91:
            if label_end < 0:
                label, end = _external_link(text, i, limit, table, blob, scratch)
                if end >= 0:
                    label_out, label_end, limit, i = n, end, end, label
                    continue
        elif byte == 60:
            kind, end = _tag(text, i, limit, table, blob, scratch)
            if end >= 0:
                if kind == BREAK:
                    out[n] = SPACE
                    n += 1
                elif kind == BLOCK:
                    out[n], out[n + 1] = NEWLINE, NEWLINE
                    n += 2
        elif byte == 38:
            end, written = _entity(text, i, limit, out, n, table, blob)
            if end >= 0:
                n = written
        else:
            end = _behaviour_switch(text, i, limit)
        if end < 0:
            out[n] = byte
            n += 1
            i += 1
        else:
            i = end


@inlined
def _odd(text: Bytes, i: int, limit: int) -> tuple[int, bool]:
    """Return the bytes of an odd space or invisible character, and whether it is a space; 0 for any other."""
    code: Int = 0
    length = 1
    byte = np.int64(text[i])
    if byte < 128:
        code = byte
    elif byte < 0xE0 and i + 1 < limit:
        code, length = (byte & 31) << 6 | (np.int64(text[i + 1]) & 63), 2
    elif byte >= 0xE0 and i + 2 < limit:
        code = (byte & 15) << 12 | (np.int64(text[i + 1]) & 63) << 6 | (np.int64(text[i + 2]) & 63)
        length = 3
    if _is_odd_space(code):
        return length, True
    return (length, False) if _is_invisible(code) else (0, False)


@inlined
def _is_odd_space(code: int) -> bool:
    for one in _ODD_SPACES:
        if one == code:
            return True
    return False


@inlined
def _is_invisible(code: int) -> bool:
    for one in _INVISIBLE:
        if one == code:
            return True
    return False


@inlined
def _external_link(text: Bytes, begin: int, limit: int, table: Ints, blob: Bytes, scratch: Bytes) -> tuple[Int, Int]:
    """Return where the label of an external link begins and ends; -1 twice where this is none."""
    i = begin + 1
    if i + 1 < limit and text[i] == 47 and text[i + 1] == 47:
        i += 2
    else:
        length = tag_name(text, i, limit, scratch)
        i += length + 1
        if i > limit or text[i - 1] != 58 or lookup(table, blob, PROTOCOL, scratch, 0, length) < 0:
            return -1, -1
    while i < limit and not (
        is_space(text[i]) or text[i] == 91 or text[i] == 93 or text[i] == 60 or text[i] == 62 or text[i] == 34
    ):
        i += 1
    while i < limit and (text[i] == SPACE or text[i] == 9):
        i += 1
    label = i
    while i < limit and text[i] != 93 and text[i] != NEWLINE:
        if text[i] == 91:
            i += 1
            while i < limit and text[i] != 91 and text[i] != 93 and text[i] != NEWLINE:
                i += 1
            if i >= limit or text[i] != 93:
                return -1, -1
        i += 1
    return (label, i) if i < limit and text[i] == 93 else (-1, -1)


@inlined
def _tag(text: Bytes, begin: int, limit: int, table: Ints, blob: Bytes, scratch: Bytes) -> tuple[Int, Int]:
    """Return the kind of a tag and where it ends; an end of -1 where this is no tag of HTML's."""
    i = begin + 1
    if i < limit and text[i] == 47:
        i += 1
    spaced = i < limit and text[i] == SPACE
    if spaced:
        i += 1
    length = tag_name(text, i, limit, scratch)
    row = lookup(table, blob, INLINE_TAG, scratch, 0, length)
    i += length
    if row < 0 or i >= limit:
        return 0, -1
    kind = table[row, CODE]
    if text[i] != 62:
        if kind == BREAK:
            if text[i] == 60 or text[i] == 95:
                return 0, -1
        elif not (is_space(text[i]) or text[i] == 47):
            return 0, -1
    if spaced and kind != BREAK:
        return 0, -1
    while i < limit and text[i] != 60 and text[i] != 62:
        i += 1
    return (kind, i + 1) if i < limit and text[i] == 62 else (0, -1)


@inlined
def _entity(text: Bytes, begin: int, limit: int, out: Bytes, n: int, table: Ints, blob: Bytes) -> tuple[Int, Int]:
    """Write the character that an entity stands for; returns where it ends (-1: it is none) and what is written."""
    i = begin + 1
    if i >= limit:
        return -1, n
    if text[i] != 35:
        while i < limit and i - begin <= 33 and is_letter_or_digit(text[i]):
            i += 1
        if i >= limit or text[i] != 59:
            return -1, n
        row = lookup(table, blob, ENTITY, text, begin + 1, i)
        return (-1, n) if row < 0 else (i + 1, copy(blob, table[row, VALUE_BEGIN], table[row, VALUE_END], out, n))
    code: Int = 0
    digits = 0
    i += 1
    if i < limit and (text[i] == 120 or text[i] == 88):
        i += 1
        while i < limit and digits < 7:
            byte = np.int64(text[i])
            if 48 <= byte <= 57:
                code = code * 16 + byte - 48
            elif 97 <= (byte | 32) <= 102:
                code = code * 16 + (byte | 32) - 87
            else:
                break
            digits += 1
            i += 1
        if digits > 6:
            return -1, n
    else:
        while i < limit and digits < 8 and 48 <= text[i] <= 57:
            code = code * 10 + np.int64(text[i]) - 48
            digits += 1
            i += 1
        if digits > 7:
            return -1, n
    if digits == 0 or i >= limit or text[i] != 59:
        return -1, n
    return i + 1, _write_character(code, out, n)


@inlined
def _write_character(code: int, out: Bytes, n: int) -> Int:
    if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        code = 0xFFFD
    elif 0x80 <= code < 0xA0:
        code = _WINDOWS[code - 0x80]
    if code == NEWLINE or _is_odd_space(code):
        code = SPACE
    elif code == HOLE or code == 11 or _is_invisible(code):
        return n
    return write_utf8(code, out, n)


@inlined
def write_utf8(code: int, out: Bytes, n: int) -> Int:
    """Write a character to out[n:] in UTF-8; returns how much is written."""
    if code < 0x80:
        out[n] = code
        return n + 1
    if code < 0x800:
        out[n], out[n + 1] = 0xC0 | code >> 6, 0x80 | code & 63
        return n + 2
    if code < 0x10000:
        out[n], out[n + 1], out[n + 2] = 0xE0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63
        return n + 3
    out[n], out[n + 1] = 0xF0 | code >> 18, 0x80 | code >> 12 & 63
    out[n + 2], out[n + 3] = 0x80 | code >> 6 & 63, 0x80 | code & 63
    return n + 4


@inlined
def _behaviour_switch(text: Bytes, begin: int, limit: int) -> Int:
    """Return where `__SWITCH__` ends, -1 where this is none."""
    i = begin + 2
    if i >= limit or text[begin + 1] != 95:
        return -1
    length = 0
    while i < limit and length <= 40:
        byte = text[i]
        if byte < 128:
            if not (97 <= byte <= 122 or 65 <= byte <= 90):
                break
            length += 1
        elif (byte & 0xC0) != 0x80:
            length += 1
        i += 1
    closed = i + 1 < limit and text[i] == 95 and text[i + 1] == 95
    return i + 2 if closed and 4 <= length <= 40 else -1


_ODD_SPACES = np.array([ord(character) for character in ODD_SPACES], np.int64)
_INVISIBLE = np.array([ord(character) for character in INVISIBLE], np.int64)
_WINDOWS = np.array([ord(bytes([byte]).decode("cp1252", "replace")) for byte in range(0x80, 0xA0)], np.int64)
_next_special = scanner(marks(b"[<&_" + bytes(character.encode()[0] for character in ODD_SPACES + INVISIBLE)))
