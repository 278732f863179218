"""UTF-8, decoded and encoded one character at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined


@inlined
def decode(data: Any, i: Any, end: Any) -> tuple[int, int]:
    """Return the code point of the character at byte `i` and its length in bytes; (-1, 1) where it is not UTF-8."""
    point: Any = np.int64(data[i])
    if point < 0x80:
        return point, 1
    size = 2 if point < 0xE0 else 3 if point < 0xF0 else 4
    if point < 0xC2 or point > 0xF4 or i + size > end:
        return -1, 1
    point &= 0x7F >> size
    for j in range(i + 1, i + size):
        if data[j] & 0xC0 != 0x80:
            return -1, 1
        point = point << 6 | np.int64(data[j] & 0x3F)
    least = 0x80 if size == 2 else 0x800 if size == 3 else 0x10000
    if point < least or point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
        return -1, 1
    return point, size


@inlined
def decode_last(data: Any, begin: Any, end: Any) -> Any:
    """Return the code point of the last character of data[begin:end] and its length in bytes; (-1, 1) as `decode`."""
    for size in range(1, 5):
        if end - size >= begin and data[end - size] & 0xC0 != 0x80:
            point, length = decode(data, end - size, end)
            return (point, size) if length == size else (-1, 1)
    return -1, 1


@inlined
def encode(code: Any, out: Any, n: Any) -> Any:
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
