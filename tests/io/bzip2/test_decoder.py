"""A block is decoded to the bytes it was made of, by kernels as by Python's bz2; a damaged one by neither."""

from __future__ import annotations

import bz2
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.io.bzip2.decoder import Block, CompiledDecoder, Decoder, ReferenceDecoder
from bertdata.io.bzip2.stream_layout import BLOCK_MARK, END_MARK, bits_at
from tests.generated import examples
from tests.io.bzip2.blocks import TEXTS, blocks_of, flip, in_blocks, marks, noise, padded, skewed, stream_of

COMPILED, REFERENCE = CompiledDecoder(), ReferenceDecoder()
BOTH: list[Decoder] = [COMPILED, REFERENCE]


def decoded(data: bytes, begin: int = 32, level: int = 9) -> Block | None:
    """Return what both decoders return, who must agree."""
    by_kernels, by_bz2 = (decoder.decode(padded(data), begin, 8 * len(data), level) for decoder in BOTH)
    assert by_kernels == by_bz2
    return by_kernels


@settings(deadline=None)
@given(TEXTS, st.integers(1, 9))
def test_a_block_is_decoded_to_its_bytes_and_ends_at_the_mark_behind_it(text: bytes, level: int) -> None:
    data = bz2.compress(text, level)
    assert decoded(data, level=level) == Block(text, marks(data, END_MARK)[-1])


@pytest.mark.parametrize(
    "text",
    [
        bytes(range(256)) * 40,
        skewed(120_000),
        noise(110_000),
        b"a" * 3_000_000,
        b"ab" * 60_000,
        (b"x" * 259 + b"y") * 900,
        b"abc" * 4 + b"aaaa",
        b"z" * 4 + b"z" * 255 + b"z" * 3,
    ],
    ids=["all bytes", "long codes", "noise", "runs", "circles", "longest runs", "run at the end", "rests of runs"],
)
def test_all_blocks_of_a_stream_are_its_bytes(text: bytes) -> None:
    data, position, read = bz2.compress(text, 1), 32, b""
    while bits_at(data, position, 48) == BLOCK_MARK:
        block = decoded(data, position, 1)
        assert block
        read, position = read + block.data, block.end
    assert read == text


@given(st.lists(st.binary(min_size=1, max_size=60), min_size=2, max_size=9))
@settings(deadline=None)
def test_blocks_are_decoded_from_whatever_bit_they_begin_at(pieces: list[bytes]) -> None:
    data = in_blocks(pieces)
    begins = [begin for _, begin, _ in blocks_of(data)]
    for piece, begin in zip(pieces, begins, strict=True):
        block = decoded(data, begin)
        assert block
        assert block.data == piece


@settings(deadline=None, max_examples=examples(200))
@given(TEXTS, st.data())
def test_a_block_with_a_changed_bit_has_the_wrong_checksum_or_none(text: bytes, data: st.DataObject) -> None:
    whole = bz2.compress(text)
    end = marks(whole, END_MARK)[-1]
    changed = flip(whole, data.draw(st.integers(32 + 48, end - 1)))
    decoded_blocks = decoded(changed)
    assert decoded_blocks is None or decoded_blocks.data == text  # a bit of a table that no code of the block needs


@settings(deadline=None)
@given(TEXTS, st.data())
def test_a_block_that_is_cut_off_is_none(text: bytes, data: st.DataObject) -> None:
    whole = bz2.compress(text)
    end = marks(whole, END_MARK)[-1]
    kept = data.draw(st.integers(10, (end - 1) // 8))
    assert decoded(whole[:kept]) is None


def test_a_block_whose_end_is_not_followed_by_a_mark_is_whole() -> None:
    data = bz2.compress(noise(3000))
    end = marks(data, END_MARK)[-1]
    for bit in (end, end + 47):
        assert decoded(flip(data, bit)) == Block(noise(3000), end)


def test_a_block_that_is_larger_than_its_stream_allows_is_none() -> None:
    data = bz2.compress(noise(150_000), 2)
    assert decoded(data, level=2)
    assert decoded(data, level=1) is None


def test_a_block_of_bzip2_0_9_0_is_left_to_bz2() -> None:
    small, large = (flip(bz2.compress(noise(size)), 32 + 48 + 32) for size in (400, 4000))
    assert decoded(small) == Block(noise(400), marks(small, END_MARK)[-1])
    assert decoded(large) is None  # such a block has every some hundredth byte changed, and this one has not


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90", b"\0", b"1AY"])), st.data())
def test_marks_are_found_at_any_bit(pieces: list[bytes], data: st.DataObject) -> None:
    shift = data.draw(st.integers(0, 7))
    whole = b"".join(pieces)
    bits = (int.from_bytes(whole, "big") << 8 - shift).to_bytes(len(whole) + 1, "big") if whole else b""
    expected = [at for at in range(8 * len(bits) - 47) if bits_at(bits, at, 48) in (BLOCK_MARK, END_MARK)]
    first, last = data.draw(st.integers(0, 90)), data.draw(st.integers(0, 400))
    for decoder in BOTH:
        marks = decoder.find_marks(padded(bits), first, min(last, 8 * len(bits) - 47))
        assert marks == [at for at in expected if first <= at < last]


def test_more_marks_than_any_file_has_are_found() -> None:
    data = b"\x31\x41\x59\x26\x53\x59" * 500
    assert COMPILED.find_marks(padded(data), 0, 8 * len(data)) == list(range(0, 24_000, 48))


def test_a_stream_put_together_of_blocks_is_read_by_bz2() -> None:
    pieces = [b"one", b"two", b"three" * 50]
    assert bz2.decompress(in_blocks(pieces)) == b"".join(pieces)
    assert stream_of(blocks_of(bz2.compress(b"one"))) == bz2.compress(b"one")


_CHECK = """
from bertdata.io.bzip2.decoder import CompiledDecoder, ReferenceDecoder
from tests.io.bzip2.blocks import bz2, flip, noise, padded, skewed
compiled, reference = CompiledDecoder(), ReferenceDecoder()
for text in (b"a", b"salt" * 200, bytes(9000), skewed(2500), noise(700)):
    data = bz2.compress(text)
    for bit in (None, *range(80, 8 * len(data), 1 + 3 * len(data))):
        damaged = padded(data if bit is None else flip(data, bit))
        found = compiled.decode(damaged, 32, 8 * len(data))
        assert found == reference.decode(damaged, 32, 8 * len(data)), (text[:9], bit)
        assert bit is not None or found.data == text
    for bit in range(80, min(8 * len(data), 1200), 211):
        compiled.decode(padded(flip(data, bit)), 32, 8 * len(data))
    for kept in range(10, len(data), 1 + len(data) // 9):
        cut = padded(data[:kept])
        assert compiled.decode(cut, 32, 8 * kept) == reference.decode(cut, 32, 8 * kept)
    assert compiled.find_marks(padded(data), 0, 8 * len(data)) == reference.find_marks(data, 0, 8 * len(data))
"""


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_the_kernels_hold_without_compilation_and_under_bounds_checks(setting: str, tmp_path: Path) -> None:
    environment = os.environ | {setting: "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _CHECK], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
