"""Characters in UTF-8, for kernels: the ASCII ones by name, what kind a byte is, decoding and encoding.

numba compiles the integers of a module as constants, so a name costs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined

Bytes = Any  # a C-contiguous array of uint8
Int = Any  # an integer of Python, or of NumPy where the kernels run as plain Python

TAB, NEWLINE, CARRIAGE_RETURN, SPACE = b"\t\n\r "
EXCLAMATION_MARK, QUOTATION_MARK, NUMBER_SIGN, AMPERSAND, APOSTROPHE = b"!\"#&'"
LEFT_PARENTHESIS, RIGHT_PARENTHESIS, COMMA, HYPHEN, PERIOD, SLASH = b"(),-./"
DIGIT_0, DIGIT_9, COLON, SEMICOLON, LESS_THAN, EQUALS, GREATER_THAN = b"09:;<=>"
UPPER_A, UPPER_Z, LEFT_BRACKET, RIGHT_BRACKET, UNDERSCORE = b"AZ[]_"
LOWER_A, LOWER_F, LOWER_X, LOWER_Z, LEFT_BRACE, BAR, RIGHT_BRACE = b"afxz{|}"
MINUS_SIGN, REPLACEMENT_CHARACTER = 0x2212, 0xFFFD


@inlined
def is_digit(byte: Int) -> bool:
    """Tell whether a byte is an ASCII digit."""
    return bool(DIGIT_0 <= byte <= DIGIT_9)


@inlined
def is_letter(byte: Int) -> bool:
    """Tell whether a byte is an ASCII letter."""
    return bool(LOWER_A <= byte <= LOWER_Z or UPPER_A <= byte <= UPPER_Z)


@inlined
def is_space(byte: Int) -> bool:
    r"""Tell whether a byte is what `\s` matches in ASCII."""
    return bool(byte == SPACE or TAB <= byte <= CARRIAGE_RETURN)


@inlined
def lower(byte: Int) -> Int:
    """Return an ASCII letter in lower case, any other byte as it is."""
    return byte + 32 if UPPER_A <= byte <= UPPER_Z else byte


@inlined
def code_point(text: Bytes, i: int, end: int) -> tuple[Int, Int]:
    """Return the character that begins at text[i] and its bytes; -1 and 1 from U+10000 on or inside a character."""
    first = np.int64(text[i])
    if first < 0x80:
        return first, 1
    if 0xC0 <= first < 0xE0 and i + 1 < end:
        return (first & 31) << 6 | np.int64(text[i + 1]) & 63, 2
    if 0xE0 <= first < 0xF0 and i + 2 < end:
        return (first & 15) << 12 | (np.int64(text[i + 1]) & 63) << 6 | np.int64(text[i + 2]) & 63, 3
    return np.int64(-1), 1


@inlined
def last_code_point(text: Bytes, begin: int, end: int) -> tuple[Int, Int]:
    """Return the last character of text[begin:end] and its bytes; -1 and 1 from U+10000 on or for no text."""
    for length in range(1, 4):
        if end - length >= begin and (text[end - length] & 0xC0) != 0x80:
            code, size = code_point(text, end - length, end)
            if size == length:
                return code, size
            break
    return np.int64(-1), 1


@inlined
def write_utf8(code: int, out: Bytes, n: int) -> Int:
    """Write a character to out[n:]; returns how much is written."""
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
def numeric_reference(text: Bytes, begin: int, end: int) -> Int:
    """Return the character of the reference `&#233;` or `&#xE9;`, given what is between `#` and `;`.

    U+FFFD stands for 0, for surrogates and for what is beyond Unicode. -1: not a number of at most 7 digits, or 6
    hexadecimal ones.
    """
    hexadecimal = begin < end and (text[begin] | 32) == LOWER_X
    if hexadecimal:
        begin += 1
    if begin >= end or end - begin > (6 if hexadecimal else 7):
        return -1
    code: Int = np.int64(0)
    for i in range(begin, end):
        byte = np.int64(text[i])
        if is_digit(byte):
            code = code * (16 if hexadecimal else 10) + byte - DIGIT_0
        elif hexadecimal and LOWER_A <= (byte | 32) <= LOWER_F:
            code = code * 16 + (byte | 32) - LOWER_A + 10
        else:
            return -1
    return REPLACEMENT_CHARACTER if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000 else code
