"""One block decoded by Python's bz2: moved to a byte border and made a stream of its own.

This is what the kernels are tested against, and what decodes where compiling them does not pay.
"""

from __future__ import annotations

import bz2
from collections.abc import Iterator

from bertdata.io.bzip2.stream_layout import (
    CHECKSUM_BITS,
    END_BITS,
    END_MARK,
    LARGEST_LEVEL,
    LONGEST_BLOCK,
    MARK_BITS,
    bits_at,
    find_marks,
)

_PIECE = 4096
_NEAR = 1 << 21
"""Bits in which the next mark is looked for first."""


def decode_block(data: bytes, begin: int, level: int = LARGEST_LEVEL) -> tuple[bytes, int] | None:
    """Return what the block at bit `begin` holds, and the bit after it; None where no whole block is there.

    level    the digit in the header of the stream: a block that holds more is none

    >>> decode_block(bz2.compress(b"salt"), 32)
    (b'salt', 254)
    """
    block = _shifted(data, begin)
    for size in _possible_sizes(block, level):
        text = _as_stream(block, size, level)
        if text is not None:
            return text, begin + size
    return None


def _shifted(data: bytes, begin: int) -> bytes:
    """Return data from a bit on, as far as a block may reach."""
    part = data[begin // 8 : begin // 8 + LONGEST_BLOCK + 1]
    number = int.from_bytes(part, "big") << begin % 8 & (1 << 8 * len(part)) - 1
    return number.to_bytes(len(part), "big")


def _possible_sizes(block: bytes, level: int) -> Iterator[int]:
    """Yield the sizes, in bits, that a block may have: as far as a mark, or as far as bz2 reads before it gives out."""
    for begin in range(MARK_BITS, 8 * len(block), _NEAR):
        yield from find_marks(block, begin, min(begin + _NEAR, 8 * len(block)))
    header = b"BZh%d" % level
    last = _place_read(header, block, _place_read(header, block, 0, _PIECE), 1)
    yield from range(8 * last + 1, 8 * last + 9)


def _place_read(header: bytes, block: bytes, begin: int, piece: int) -> int:
    """Return where the piece begins that makes bz2 return a byte, or raise; `begin` bytes are given at once."""
    machine = bz2.BZ2Decompressor()
    machine.decompress(header + block[:begin])
    at = begin
    try:
        while at < len(block) and not machine.decompress(block[at : at + piece], 1):
            at += piece
    except (OSError, EOFError):
        pass
    return at


def _as_stream(block: bytes, size: int, level: int) -> bytes | None:
    """Return what the first `size` bits of data hold as the only block of a stream, None where they are not a block."""
    checksum = bits_at(block, MARK_BITS, CHECKSUM_BITS)
    stream = int.from_bytes(block[: -(-size // 8)], "big") >> -size % 8
    stream = (stream << MARK_BITS | END_MARK) << CHECKSUM_BITS | checksum
    bits = size + END_BITS
    machine = bz2.BZ2Decompressor()
    try:
        text = machine.decompress(b"BZh%d" % level + (stream << -bits % 8).to_bytes(-(-bits // 8), "big"))
    except OSError:
        return None
    return text if machine.eof and not machine.unused_data else None
