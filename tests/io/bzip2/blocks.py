"""Small bz2 files for tests: where their blocks are, texts of many kinds, and files put together bit by bit."""

from __future__ import annotations

import bz2
import random

from hypothesis import strategies as st

from bertdata.io.bzip2.stream_layout import BLOCK_MARK, END_MARK, PADDING, bits_at, find_marks


def noise(size: int, letters: int = 256, seed: int = 0) -> bytes:
    """Return random bytes."""
    return bytes(random.Random(seed).choices(range(letters), k=size))


def skewed(size: int, seed: int = 0) -> bytes:
    """Return random bytes of which each is half as frequent as the one before, so that codes have all lengths."""
    return bytes(random.Random(seed).choices(range(24), [2.0**-n for n in range(24)], k=size))


TEXTS = st.one_of(
    st.binary(min_size=1, max_size=400),
    st.text("ab", min_size=1, max_size=600).map(str.encode),
    st.builds(lambda unit, count: unit * count, st.binary(min_size=1, max_size=9), st.integers(1, 3000)),
    st.builds(noise, st.integers(1, 5000), st.sampled_from([1, 2, 3, 17, 256]), st.integers(0, 9)),
    st.builds(skewed, st.integers(1, 9000), st.integers(0, 9)),
    st.lists(st.tuples(st.binary(min_size=1, max_size=1), st.integers(1, 700)), min_size=1, max_size=9).map(
        lambda runs: b"".join(byte * count for byte, count in runs)
    ),
)


def padded(data: bytes) -> bytes:
    """Return data as decoders take it."""
    return data + bytes([0xA5]) * PADDING


def marks(data: bytes, mark: int = BLOCK_MARK) -> list[int]:
    """Return the bits at which blocks of a file begin, or its streams end, unless one of them is by chance."""
    return [at for at in find_marks(data, 0, 8 * len(data)) if bits_at(data, at, 48) == mark]


def stream_of(blocks: list[tuple[bytes, int, int]], level: int = 9) -> bytes:
    """Return a stream of blocks that are given as (file, first bit, bit behind)."""
    bits, size, checksum = int.from_bytes(b"BZh%d" % level, "big"), 32, 0
    for data, begin, end in blocks:
        bits = bits << (end - begin) | bits_at(data, begin, end - begin)
        size += end - begin
        checksum = (checksum << 1 | checksum >> 31) & 0xFFFFFFFF ^ bits_at(data, begin + 48, 32)
    bits = (bits << 48 | END_MARK) << 32 | checksum
    size += 80
    return (bits << -size % 8).to_bytes(-(-size // 8), "big")


def blocks_of(data: bytes) -> list[tuple[bytes, int, int]]:
    """Return the blocks of a stream, of whose marks none is by chance, as (file, first bit, bit behind)."""
    begins = marks(data)
    return list(zip([data] * len(begins), begins, [*begins[1:], marks(data, END_MARK)[-1]], strict=True))


def in_blocks(pieces: list[bytes]) -> bytes:
    """Return one stream with a block for each piece, which is small."""
    return stream_of([block for piece in pieces for block in blocks_of(bz2.compress(piece))])


def flip(data: bytes, bit: int) -> bytes:
    """Return data with one bit changed."""
    changed = bytearray(data)
    changed[bit // 8] ^= 0x80 >> bit % 8
    return bytes(changed)
