"""Where things are in a bz2 file: marks, limits, and how bits are read. Positions are bits from the start of the data.

A stream is `BZh`, a digit (its blocks hold at most so many times 100,000 bytes), blocks, a mark, 32 bits of checksum,
and bits up to a whole byte. A block is a mark and 32 bits of checksum before its data; it begins at any bit.
"""

from __future__ import annotations

import re

BLOCK_MARK, END_MARK = 0x314159265359, 0x177245385090
MARK_BITS, CHECKSUM_BITS, HEADER_BITS = 48, 32, 32
END_BITS = MARK_BITS + CHECKSUM_BITS
HEADER = re.compile(rb"BZh[1-9]")
LARGEST_LEVEL, LEVEL_BYTES = 9, 100_000
LONGEST_CODE, MOST_TABLES, MOST_SELECTORS, MOST_SYMBOLS = 20, 6, 18_002, 258

LONGEST_BLOCK = 5 << 19
"""Bytes that no block exceeds: 900,001 codes of 20 bits, 32,767 selectors of 6 bits, and six tables, in which each of
the 258 lengths takes at most 39 bits unless it goes up and down."""
PADDING = 16
"""Bytes that follow the end of data, of any value: kernels read words that reach beyond it."""
SHORTEST_BLOCK = 120
"""Bits that every block exceeds, and that the end of a stream with the header of the next one does not."""


def bits_at(data: bytes, position: int, count: int) -> int:
    """Return `count` bits of data as a number, zeros build_state for those beyond its end.

    >>> bits_at(bytes([0b10110000]), 1, 3)
    3
    """
    end = position + count
    window = data[position // 8 : -(-end // 8)].ljust(-(-end // 8) - position // 8, b"\0")
    return int.from_bytes(window, "big") >> -end % 8 & (1 << count) - 1


def find_marks(data: bytes, begin: int, end: int) -> list[int]:
    """Return the positions, from `begin` to before `end`, of the marks of blocks and of streams' ends.

    >>> find_marks(bytes.fromhex("00 31 41 59 26 53 59 17 72 45 38 50 90"), 0, 104)
    [8, 56]
    """
    positions = []
    for mark in (BLOCK_MARK, END_MARK):
        for shift in range(8):
            inner = (mark >> shift & (1 << 40) - 1).to_bytes(5, "big")
            last = end // 8 + 1 + len(inner)
            at = data.find(inner, begin // 8, last)
            while at >= 0:
                position = 8 * at - 8 + shift
                if begin <= position < end and bits_at(data, position, MARK_BITS) == mark:
                    positions.append(position)
                at = data.find(inner, at + 1, last)
    return sorted(positions)
