"""One block of bz2 data to the bytes it holds, by kernels or by Python's bz2, with the same result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bertdata.io.bzip2 import reference, stream_layout
from bertdata.io.bzip2.stream_layout import LARGEST_LEVEL, LONGEST_BLOCK, PADDING


@dataclass(frozen=True)
class Block:
    """What a block holds, and the bit after it."""

    data: bytes
    end: int


class Decoder(Protocol):
    """Decodes blocks of data that ends at bit `end`, followed by PADDING bytes."""

    def decode(self, data: bytes, begin: int, end: int, level: int = LARGEST_LEVEL) -> Block | None:
        """Return the block at bit `begin`; None where no whole block is there or its checksum is another."""

    def find_marks(self, data: bytes, begin: int, end: int) -> list[int]:
        """Return the positions, from `begin` to before `end`, of the marks of blocks and of streams' ends, in bits."""


def decoder(compiled: bool) -> Decoder:
    """Return what decodes by kernels, or by Python's bz2."""
    return CompiledDecoder() if compiled else ReferenceDecoder()


class ReferenceDecoder:
    """Decodes by Python's bz2.

    >>> data = reference.bz2.compress(b"salt")
    >>> ReferenceDecoder().decode(data + bytes(PADDING), 32, 8 * len(data))
    Block(data=b'salt', end=254)
    """

    def decode(self, data: bytes, begin: int, end: int, level: int = LARGEST_LEVEL) -> Block | None:
        """Return the block at a bit."""
        fields = reference.decode_block(data[: end // 8], begin, level)
        return Block(*fields) if fields else None

    def find_marks(self, data: bytes, begin: int, end: int) -> list[int]:
        """Return the positions of marks."""
        return stream_layout.find_marks(data, begin, end)


class CompiledDecoder:
    """Decodes by kernels, in arrays of about 6 MB; what it returns is what `ReferenceDecoder` returns.

    3.5 times as fast as Python's bz2, and more where other programs use the cache (`benchmarks/dump.py`).
    """

    def __init__(self) -> None:
        from bertdata.io.bzip2 import bits_kernel, huffman_kernel, inverse_bwt_kernel, runs_kernel

        most = stream_layout.LARGEST_LEVEL * stream_layout.LEVEL_BYTES
        self._column = np.empty(most + PADDING, np.uint8)
        self._counts = np.empty(256, np.int64)
        self._header = np.empty(3, np.int64)
        self._for_codes = huffman_kernel.workspace()
        self._for_rows = inverse_bwt_kernel.workspace(most)
        self._crc = runs_kernel.tables()
        self._may_begin = bits_kernel.second_bytes()

    def decode(self, data: bytes, begin: int, end: int, level: int = LARGEST_LEVEL) -> Block | None:
        """Return the block at a bit."""
        from bertdata.io.bzip2 import huffman_kernel, inverse_bwt_kernel, runs_kernel

        read_block: Any = huffman_kernel.read_block
        array, column, counts, header = np.frombuffer(data, np.uint8), self._column, self._counts, self._header
        limit = min(end, begin + 8 * LONGEST_BLOCK)
        after = read_block(array, begin, limit, level, *self._for_codes, column, counts, header)
        if after == huffman_kernel.RANDOMISED:
            return ReferenceDecoder().decode(data, begin, end, level)
        if after < 0:
            return None
        size, origin, checksum = header.tolist()
        inverse_bwt_kernel.invert(column, size, origin, counts, *self._for_rows)
        total = runs_kernel.expanded_size(column, size)
        if total < 0:
            return None
        out = np.empty(total + PADDING, np.uint8)
        if runs_kernel.expand(column, size, out, self._crc) != checksum:
            return None
        return Block(out[:total].tobytes(), after)

    def find_marks(self, data: bytes, begin: int, end: int) -> list[int]:
        """Return the positions of marks."""
        from bertdata.io.bzip2 import bits_kernel

        array, positions = np.frombuffer(data, np.uint8), np.empty(64, np.int64)
        count = bits_kernel.find_marks(array, begin, end, self._may_begin, positions)
        if count > positions.size:
            positions = np.empty(count, np.int64)
            bits_kernel.find_marks(array, begin, end, self._may_begin, positions)
        return positions[:count].tolist()  # type: ignore[no-any-return]
