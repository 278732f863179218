"""The last step of a block, compiled: runs of four bytes and a count written out, and the checksum of what comes of it.

The checksum is the CRC-32 of polynomial 0x04C11DB7, the highest bit first, eight bytes at a time.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from bertdata.io.bzip2.bits_kernel import word_at
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import load64

_POLYNOMIAL = 0x04C11DB7
_RUN = 4

_U = np.uint64
_8, _16, _24, _32, _40, _48, _56 = map(_U, range(8, 64, 8))
_BYTE, _WORD = _U(0xFF), _U(0xFFFFFFFF)
_LOW = _U(0x7F7F7F7F7F7F7F7F)


@cache
def tables() -> Bytes:
    """Return a uint32 array of shape (8, 256): the checksum of a byte followed by so many zero bytes."""
    checksums = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = value << 1 ^ (_POLYNOMIAL if value >> 31 else 0)
            value &= 0xFFFFFFFF
        checksums[0, byte] = value
    for zeros in range(1, 8):
        checksums[zeros] = checksums[zeros - 1] << 8 ^ checksums[0, checksums[zeros - 1] >> 24]
    return checksums


@inlined
def begins_no_run(data: Bytes, i: Int) -> bool:
    """Tell whether at none of the 8 bytes from `i` on four bytes begin that are the same."""
    first, second = load64(data, i), load64(data, i + 1)
    third, fourth = load64(data, i + 2), load64(data, i + 3)
    differ = (first ^ second) | (second ^ third) | (third ^ fourth)
    return bool((((differ & _LOW) + _LOW) | differ | _LOW) == ~_U(0))


@inlined
def is_run(data: Bytes, i: Int, size: Int) -> bool:
    """Tell whether four bytes that are the same begin at `i`."""
    return bool(i + _RUN <= size and data[i] == data[i + 1] and data[i] == data[i + 2] and data[i] == data[i + 3])


@kernel
def expanded_size(data: Bytes, size: Int) -> Int:
    """Return the bytes that `expand` makes of `size` bytes of data; -1 where a run at the end lacks its count."""
    i = 0
    total: Int = 0
    while i < size:
        if i + 8 <= size and begins_no_run(data, i):
            i += 8
            total += 8
        elif not is_run(data, i, size):
            i += 1
            total += 1
        elif i + _RUN == size:
            return -1
        else:
            total += _RUN + np.int64(data[i + _RUN])
            i += _RUN + 1
    return total


@kernel
def expand(data: Bytes, size: Int, out: Bytes, crc_tables: Bytes) -> Int:
    """Write `size` bytes of data, their runs written out, to out, PADDING longer than these; returns their checksum."""
    i: Int = 0
    n: Int = 0
    while i < size:
        if i + 8 <= size and begins_no_run(data, i):
            for j in range(8):
                out[_U(n + j)] = data[_U(i + j)]
            i += 8
            n += 8
        elif not is_run(data, i, size):
            out[n] = data[i]
            i += 1
            n += 1
        else:
            for j in range(n, n + _RUN + np.int64(data[i + _RUN])):
                out[j] = data[i]
            n += _RUN + np.int64(data[i + _RUN])
            i += _RUN + 1
    return checksum(out, n, crc_tables)


@inlined
def checksum(data: Bytes, size: Int, crc: Bytes) -> Int:
    """Return the CRC-32 of data[:size]."""
    value, i = _WORD, 0
    while i + 8 <= size:
        word = word_at(data, i) ^ value << _32
        value = _U(crc[7, word >> _56]) ^ _U(crc[6, word >> _48 & _BYTE]) ^ _U(crc[5, word >> _40 & _BYTE])
        value ^= _U(crc[4, word >> _32 & _BYTE]) ^ _U(crc[3, word >> _24 & _BYTE])
        value ^= _U(crc[2, word >> _16 & _BYTE]) ^ _U(crc[1, word >> _8 & _BYTE]) ^ _U(crc[0, word & _BYTE])
        i += 8
    while i < size:
        value = value << _8 & _WORD ^ _U(crc[0, value >> _24 ^ _U(data[i])])
        i += 1
    return np.int64(value ^ _WORD)
