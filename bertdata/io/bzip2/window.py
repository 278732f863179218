"""The part of a bz2 file that is being decoded. Positions are bits from the beginning of the file."""

from __future__ import annotations

from typing import BinaryIO

from bertdata.io.bzip2.decoder import Block, Decoder
from bertdata.io.bzip2.stream_layout import (
    BLOCK_MARK,
    END_BITS,
    END_MARK,
    HEADER,
    HEADER_BITS,
    LARGEST_LEVEL,
    LONGEST_BLOCK,
    MARK_BITS,
    PADDING,
    bits_at,
)
from bertdata.io.files import CHUNK
from bertdata.io.os_errors import input_error

_BEFORE = HEADER_BITS // 8
_USUAL = 1 << 19
"""Bytes in which a block nearly always ends."""


class Window:
    """Bytes of a file from some place on, read as they are needed and kept until they are released."""

    def __init__(self, raw: BinaryIO, path: str, begin: int, decoder: Decoder) -> None:
        """Begin at byte `begin` of a file, which InputErrors call `path`."""
        self._raw, self._path, self._decoder = raw, path, decoder
        self._begin, self._data, self._size, self._ended = begin, bytes(PADDING), 0, False
        raw.seek(begin)

    @property
    def known(self) -> int:
        """The position as far as which the file is read."""
        return 8 * (self._begin + self._size)

    def reach(self, position: int, count: int = _USUAL) -> bool:
        """Read until `count` bytes from a position on are known; False: the file ends before.

        Raises InputError where the file cannot be read.
        """
        while not self._ended and self.known < position + 8 * count:
            more = self._read()
            self._data = self._data[: self._size] + more + bytes(PADDING)
            self._size += len(more)
            self._ended = not more
        return self.known >= position + 8 * count

    def _read(self) -> bytes:
        try:
            return self._raw.read(CHUNK)
        except OSError as error:
            raise input_error(error, self._path) from error

    def release(self, position: int) -> None:
        """Drop the bytes before a position, except those of a header."""
        done = min(self._size, position // 8 - _BEFORE - self._begin)
        if done >= CHUNK:
            self._data = self._data[done:]
            self._begin += done
            self._size -= done

    def bits(self, position: int, count: int) -> int:
        """Return bits of the file as a number."""
        return bits_at(self._data, position - 8 * self._begin, count)

    def mark(self, position: int) -> int:
        """Return the mark at a position: BLOCK_MARK, END_MARK, or 0 where there is none."""
        self.reach(position, -(-END_BITS // 8) + 1)
        mark = self.bits(position, MARK_BITS)
        return mark if mark in (BLOCK_MARK, END_MARK) else 0

    def header(self, byte: int) -> int:
        """Return the level of the stream that begins at a byte of the file, 0 where none does."""
        self.reach(8 * byte, _BEFORE)
        at = byte - self._begin
        return int(chr(self._data[at + 3])) if at >= 0 and HEADER.match(self._data, at, self._size) else 0

    def decode(self, position: int, level: int = LARGEST_LEVEL) -> Block | None:
        """Return the block whose mark is at a position, None where no whole block is there or it is damaged."""
        for count in (_USUAL, LONGEST_BLOCK):
            whole = self.reach(position, count)
            begin = 8 * self._begin
            block = self._decoder.decode(self._data, position - begin, 8 * self._size, level)
            if block or not whole:
                break
        return block and Block(block.data, block.end + begin)

    def find_marks(self, position: int, count: int) -> list[int]:
        """Return the positions of marks that begin within `count` bytes from a position on, as far as the file goes."""
        self.reach(position, count + MARK_BITS // 8 + 1)
        begin, end = 8 * self._begin, min(position + 8 * count, self.known - MARK_BITS + 1)
        return [begin + mark for mark in self._decoder.find_marks(self._data, position - begin, end - begin)]

    def padded(self, byte: int) -> bool:
        """Tell whether the file ends at a byte, or has only zero bytes from there on."""
        at = byte - self._begin
        if self.reach(8 * byte, 1) and self._data[at]:
            return False
        rest = self._data[at : self._size]
        while not rest.strip(b"\0"):
            rest = self._read()
            if not rest:
                return True
        self._raw.seek(self.known // 8)
        return False
