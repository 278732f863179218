"""Characters for kernels: the ASCII ones by name, what kind a byte is, numeric character references.

numba compiles the integers of a module as constants, so a name costs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined

Bytes = Any  # a C-contiguous array of uint8
Int = Any  # an integer of Python, or of NumPy where the kernels run as plain Python

TAB, NEWLINE, CARRIAGE_RETURN, SPACE = b"\t\n\r "
EXCLAMATION_MARK, QUOTATION_MARK, NUMBER_SIGN, PERCENT, AMPERSAND, APOSTROPHE = b"!\"#%&'"
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
