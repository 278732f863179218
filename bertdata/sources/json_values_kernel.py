"""Values of JSON (RFC 8259) in bytes that kernels read: passed over, or copied without their escapes.

The bytes are those of a line, and end with a line feed, which no value has in it, before BLOCK bytes of anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.characters import is_digit
from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined
from bertdata.kernels.simd import BLOCK, PLAIN, bits_of_ranges, lowest_bit, plain_bits_of_ranges
from bertdata.kernels.utf8 import encode

FAILED = -1
"""The place after a value that is none, or that is not read here."""

_DEEPEST, _LONGEST_NUMBER = 60, 1000
_TAB, _NEWLINE, _RETURN, _SPACE = 9, 10, 13, 32
_QUOTE, _PLUS, _COMMA, _MINUS, _POINT, _SLASH, _0, _COLON = b'"+,-./0:'
_LEFT_BRACKET, _BACKSLASH, _RIGHT_BRACKET, _LEFT_BRACE, _RIGHT_BRACE = b"[\\]{}"
_B, _E, _F, _L, _N, _R, _S, _T, _U, _A = b"beflnrstua"
_SPECIAL = ((0, 31), (34, 34), (92, 92))
"""Bytes that end a run of a string: control characters, the quote and the backslash."""
_special_bits: Any = plain_bits_of_ranges(_SPECIAL) if PLAIN else bits_of_ranges(_SPECIAL)


@inlined
def skip_space(data: Any, at: Any) -> Any:
    """Return the place of the next byte that is no white space within a line."""
    while data[at] == _SPACE or data[at] == _TAB or data[at] == _RETURN:
        at += 1
    return at


@inlined
def run_end(data: Any, at: Any) -> Any:
    """Return the place of the next quote, backslash or control character."""
    bits = _special_bits(data, at)
    while bits == np.uint64(0):
        at += BLOCK
        bits = _special_bits(data, at)
    return at + np.int64(lowest_bit(bits))


@inlined
def _unit(data: Any, at: Any) -> Any:
    """Return the UTF-16 unit that four hexadecimal digits give; `FAILED` where they are none."""
    unit: Any = np.int64(0)
    for i in range(at, at + 4):
        byte = np.int64(data[i])
        if is_digit(byte):
            unit = unit * 16 + byte - _0
        elif _A <= (byte | 32) <= _F:
            unit = unit * 16 + (byte | 32) - _A + 10
        else:
            return np.int64(FAILED)
    return unit


@inlined
def _escaped(byte: Any) -> Any:
    """Return what a backslash and this byte stand for, `FAILED` where that is no escape of one byte."""
    if byte == _N:
        return _NEWLINE
    if byte in (_QUOTE, _BACKSLASH, _SLASH):
        return np.int64(byte)
    if byte == _T:
        return _TAB
    if byte == _R:
        return _RETURN
    if byte == _B:
        return 8
    if byte == _F:
        return 12
    return FAILED


@inlined
def _skip_string(data: Any, at: Any) -> Any:
    """Return the place after a string whose first byte is at a place; `FAILED` where it is none."""
    while True:
        at = run_end(data, at)
        if data[at] == _QUOTE:
            return at + 1
        if data[at] != _BACKSLASH:
            return np.int64(FAILED)
        if data[at + 1] == _U:
            if _unit(data, at + 2) == FAILED:
                return np.int64(FAILED)
            at += 6
        elif _escaped(data[at + 1]) == FAILED:
            return np.int64(FAILED)
        else:
            at += 2


@inlined
def copy_string(data: Any, at: Any, out: Any, written: Any) -> Any:
    """Write a string without its escapes; returns the place after it, and after what is written.

    The first is `FAILED` where it is no string, or one that UTF-8 cannot hold.
    """
    failed = np.int64(FAILED)
    while True:
        stop = run_end(data, at)
        written = copy(data, at, stop, out, written)
        if data[stop] == _QUOTE:
            return stop + 1, written
        if data[stop] != _BACKSLASH:
            return failed, written
        at = stop + 2
        if data[stop + 1] != _U:
            byte = _escaped(data[stop + 1])
            if byte == FAILED:
                return failed, written
            out[written] = byte
            written += 1
            continue
        code = _unit(data, at)
        at += 4
        if 0xD800 <= code < 0xDC00 and data[at] == _BACKSLASH and data[at + 1] == _U:
            low = _unit(data, at + 2)
            at += 6
            code = 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00 if 0xDC00 <= low < 0xE000 else np.int64(FAILED)
        if code == FAILED or 0xD800 <= code < 0xE000:
            return failed, written
        written = encode(code, out, written)


@inlined
def _skip_digits(data: Any, at: Any) -> Any:
    """Return the place after one digit or more, `FAILED` where there is none."""
    if not is_digit(data[at]):
        return np.int64(FAILED)
    while is_digit(data[at]):
        at += 1
    return at


@inlined
def skip_integer(data: Any, at: Any) -> Any:
    """Return the place after a whole number, `FAILED` where there is none."""
    if data[at] == _MINUS:
        at += 1
    return at + 1 if data[at] == _0 else _skip_digits(data, at)


@inlined
def _skip_number(data: Any, at: Any) -> Any:
    """Return the place after a number, `FAILED` where there is none, or one too long for Python."""
    begin = at
    at = skip_integer(data, at)
    if at != FAILED and data[at] == _POINT:
        at = _skip_digits(data, at + 1)
    if at != FAILED and (data[at] | 32) == _E:
        at += 1
        if data[at] == _PLUS or data[at] == _MINUS:
            at += 1
        at = _skip_digits(data, at)
    return at if at - begin <= _LONGEST_NUMBER else np.int64(FAILED)


@inlined
def skip_literal(data: Any, at: Any) -> Any:
    """Return the place after true, false or null, `FAILED` where there is none of them."""
    if data[at] == _T and data[at + 1] == _R and data[at + 2] == _U and data[at + 3] == _E:
        return at + 4
    if data[at] == _N and data[at + 1] == _U and data[at + 2] == _L and data[at + 3] == _L:
        return at + 4
    if data[at] == _F and data[at + 1] == _A and data[at + 2] == _L and data[at + 3] == _S and data[at + 4] == _E:
        return at + 5
    return np.int64(FAILED)


@inlined
def _skip_key(data: Any, at: Any) -> Any:
    """Return the place of the value of a member whose key should be at a place, `FAILED` where there is none."""
    if data[at] != _QUOTE:
        return np.int64(FAILED)
    at = _skip_string(data, at + 1)
    if at == FAILED:
        return at
    at = skip_space(data, at)
    return skip_space(data, at + 1) if data[at] == _COLON else np.int64(FAILED)


@inlined
def skip_value(data: Any, at: Any) -> Any:
    """Return the place after any value, `FAILED` where there is none, or one that is nested too deeply.

    A bit for each list and object around the place says whether it is an object.
    """
    around, depth = np.uint64(0), 0
    while True:
        byte = data[at]
        opened = byte in (_LEFT_BRACE, _LEFT_BRACKET)
        if opened:
            if depth == _DEEPEST:
                return np.int64(FAILED)
            depth += 1
            around = around << np.uint64(1) | np.uint64(byte == _LEFT_BRACE)
            at = skip_space(data, at + 1)
            # not empty: its first value comes next, after its key in an object
            if data[at] != _RIGHT_BRACE and data[at] != _RIGHT_BRACKET:
                if around & np.uint64(1):
                    at = _skip_key(data, at)
                    if at == FAILED:
                        return at
                continue
        elif byte == _QUOTE:
            at = _skip_string(data, at + 1)
        elif byte == _MINUS or is_digit(byte):
            at = _skip_number(data, at)
        else:
            at = skip_literal(data, at)
        if at == FAILED:
            return at
        # after a value: a comma and the next value, or the end of what is around it; only the end where that is empty
        while depth:
            at = skip_space(data, at)
            inside = around & np.uint64(1)
            if data[at] == _COMMA and not opened:
                at = skip_space(data, at + 1)
                if inside:
                    at = _skip_key(data, at)
                    if at == FAILED:
                        return at
                break
            if data[at] != (_RIGHT_BRACE if inside else _RIGHT_BRACKET):
                return np.int64(FAILED)
            at += 1
            depth -= 1
            around >>= np.uint64(1)
            opened = False
        else:
            return at
