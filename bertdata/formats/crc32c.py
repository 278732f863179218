"""CRC-32C (Castagnoli; RFC 3720, appendix B.4), plain and masked as TFRecord stores it."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8


@cache
def tables() -> NDArray[np.uint32]:
    """Return the tables of the bytes 0 to 7 places before the end, uint32 (8, 256)."""
    table = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
        table[0, byte] = crc
    for place in range(1, 8):
        table[place] = table[0, table[place - 1] & 0xFF] ^ table[place - 1] >> 8
    table.flags.writeable = False
    return table


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of bytes: the readable reference of `checksums`.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    table = tables()[0].tolist()
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def checksums(data: bytes, offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the CRC-32C of each run of bytes: run i is from offsets[i] to offsets[i + 1]; uint32 (N,).

    Raises ValueError where the offsets are not ascending and within the data.

    >>> [hex(crc) for crc in checksums(b"123456789", np.array([0, 9])).tolist()]
    ['0xe3069283']
    """
    from bertdata.formats import crc32c_kernel

    if not len(offsets) or offsets[0] < 0 or offsets[-1] > len(data) or (np.diff(offsets) < 0).any():
        raise ValueError(f"offsets do not lie in {len(data)} bytes in order")
    out = np.zeros(len(offsets) - 1, np.uint32)
    crc32c_kernel.checksums(np.frombuffer(data, np.uint8), np.ascontiguousarray(offsets, np.int64), tables(), out)
    return out


def masked(crc: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return checksums as TFRecord stores them: rotated right by 15 bits, a constant added.

    >>> hex(masked(np.array([crc32c(b"123456789")], np.uint32))[0])
    '0xc78ab0e5'
    """
    rotated = crc >> np.uint32(15) | crc << np.uint32(17)
    return (rotated.astype(np.uint64) + np.uint64(_MASK_DELTA)).astype(np.uint32)
