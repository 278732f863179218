"""The blocks of a bz2 file from any byte on, and where blocks are damaged.

A block is where its mark is and it decodes to its checksum; the next one begins where it ends, so marks that occur by
chance within a block are not seen. Where none is at the expected place, it is looked for after that. So what is found
depends on the file alone, not on where reading begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from bertdata.errors import InputError
from bertdata.io.bzip2.decoder import Block, decoder
from bertdata.io.bzip2.stream_layout import (
    BLOCK_MARK,
    END_BITS,
    END_MARK,
    HEADER_BITS,
    SHORTEST_BLOCK,
)
from bertdata.io.bzip2.window import Window

_STRIDE = 1 << 18


def read_blocks(
    raw: BinaryIO, path: str, start: int = 0, end: int | None = None, *, compiled: bool
) -> Iterator[tuple[int, bytes | None]]:
    """Yield (offset, bytes) of each block of a file that begins at byte `start` or after it, to the end of the file.

    The offset is the byte in which the mark of the block begins; for the first block of a stream, where the stream
    begins. bytes is None once for each place after a block, or before all, where one block or more are damaged, with
    the offset of the first of them. Nothing is yielded where no whole block begins before byte `end`. The checksums of
    streams are not looked at: those of their blocks say all. Raises InputError where the file is cut off, has something
    else after a stream, or cannot be read.
    """
    window, position, block = Window(raw, path, max(0, start - HEADER_BITS // 8), decoder(compiled)), HEADER_BITS, None
    if start:
        next_position, block = _search(window, 8 * start, end)
        if next_position is None or block is None:
            return
        position = next_position
    owned = start == 0
    while True:
        window.release(position)
        if block is None and window.mark(position) == BLOCK_MARK:
            block = window.decode(position)
        offset = _offset(window, position)
        if block is not None:
            owned = offset >= start
            if owned:
                yield offset, block.data
            position, block = block.end, None
            continue
        after = _after_end(window, position)
        if after is not None:
            if window.padded(after):
                return
            if window.header(after):
                position = 8 * after + HEADER_BITS
                continue
            position, offset = 8 * after, after
        next_position, block = _search(window, position + 1)
        if next_position is None:
            if 0 <= window.known - position - END_BITS < 8:
                return
            raise _no_more(path, window.known // 8, offset, after is not None)
        if next_position - position >= SHORTEST_BLOCK and owned:
            yield offset, None
        position = next_position


def _offset(window: Window, position: int) -> int:
    """Return the byte of a position, that of the header where the stream's header is right before it."""
    byte = position // 8
    header = byte - HEADER_BITS // 8
    return header if position % 8 == 0 and window.header(header) else byte


def _after_end(window: Window, position: int) -> int | None:
    """Return the byte after the end of a stream, None where no stream ends at a position."""
    end = position + END_BITS
    return -(-end // 8) if window.mark(position) == END_MARK and end <= window.known else None


def _search(window: Window, position: int, end: int | None = None) -> tuple[int | None, Block | None]:
    """Return the first position, at or after the given one, of a whole block, and the block, or the end of the file.

    Neither where there is none before byte `end`.
    """
    while end is None or position < 8 * end + HEADER_BITS:
        window.release(position)
        for mark in window.find_marks(position, _STRIDE):
            if window.mark(mark) == BLOCK_MARK:
                if block := window.decode(mark):
                    return mark, block
            elif (after := _after_end(window, mark)) and window.padded(after):
                return mark, None
        position += 8 * _STRIDE
        if window.known <= position:
            break
    return None, None


def _no_more(path: str, end: int, offset: int, follows_stream: bool) -> InputError:
    if follows_stream:
        message = "what follows the bz2 stream that ends here is none; get the file again and check its checksum"
    else:
        message = (
            f"the file ends at byte {end}, inside the bz2 block that starts here: it was cut off; "
            "get it again and check its size"
        )
    return InputError(message, path=path, offset=offset)
