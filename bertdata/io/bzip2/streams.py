"""Whole streams of a bz2 file, as Python's bz2 reads them, by kernels."""

from __future__ import annotations

from collections.abc import Generator
from typing import BinaryIO

from bertdata.io.bzip2.decoder import CompiledDecoder
from bertdata.io.bzip2.stream_layout import BLOCK_MARK, CHECKSUM_BITS, END_BITS, END_MARK, HEADER_BITS, MARK_BITS
from bertdata.io.bzip2.window import Window

_CHECKSUM = (1 << CHECKSUM_BITS) - 1


def read_streams(raw: BinaryIO, path: str, most: int) -> Generator[tuple[int, bytes], None, tuple[int, int] | None]:
    """Yield (byte at which the stream begins, up to `most` bytes) of a file from where it stands.

    Checksums of blocks and of streams are checked. Where anything is not as it should be, returns the byte at which the
    stream begins and how many of its bytes were given out, for bz2 to say what it is; None where the file ends well.
    Raises InputError where the file cannot be read.
    """
    stream = raw.tell()
    window = Window(raw, path, stream, CompiledDecoder())
    while window.reach(8 * stream, 1):
        level, given, checksum = window.header(stream), 0, 0
        if not level:
            return stream, 0
        position = 8 * stream + HEADER_BITS
        while window.mark(position) == BLOCK_MARK:
            window.release(position)
            block = window.decode(position, level)
            if block is None:
                return stream, given
            checksum = (checksum << 1 | checksum >> 31) & _CHECKSUM ^ window.bits(position + MARK_BITS, CHECKSUM_BITS)
            for begin in range(0, len(block.data), most):
                yield stream, block.data[begin : begin + most]
            given += len(block.data)
            position = block.end
        end = position + END_BITS
        if window.mark(position) != END_MARK or end > window.known:
            return stream, given
        if window.bits(position + MARK_BITS, CHECKSUM_BITS) != checksum:
            return stream, given
        stream = -(-end // 8)
    return None
