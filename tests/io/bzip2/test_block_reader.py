"""The blocks of a file are read from any byte on, each once; what is damaged is told, and costs nothing else."""

from __future__ import annotations

import bz2
import io
import itertools
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.io.bzip2 import block_reader
from bertdata.io.bzip2.block_reader import read_blocks
from bertdata.io.bzip2.stream_layout import BLOCK_MARK, END_MARK, bits_at
from tests.io.bzip2.blocks import blocks_of, flip, in_blocks, marks, noise, stream_of

Found = list[tuple[int, bytes | None]]
PIECES = [noise(40 + 13 * n, 256, n) for n in range(7)]
ONE = in_blocks(PIECES)
SEVERAL = in_blocks(PIECES[:2]) + in_blocks(PIECES[2:6]) + bz2.compress(b"") + in_blocks(PIECES[6:])
COMPILED = st.booleans()


def found_from(data: bytes, start: int = 0, compiled: bool = True) -> Found:
    return list(read_blocks(io.BytesIO(data), "x.bz2", start, compiled=compiled))


def in_ranges(data: bytes, cuts: list[int], compiled: bool) -> Found:
    """Return what each range between cuts begins, one after another."""
    edges = [0, *sorted({cut % len(data) for cut in cuts} - {0}), len(data)]
    blocks: Found = []
    for start, end in itertools.pairwise(edges):
        last = 0
        for offset, block in read_blocks(io.BytesIO(data), "x.bz2", start, end, compiled=compiled):
            last = last if block is None else offset
            if last >= end:
                break
            blocks.append((offset, block))
    return blocks


def texts(blocks: Found) -> list[bytes | None]:
    return [data for _, data in blocks]


@pytest.mark.parametrize("data", [ONE, SEVERAL], ids=["one stream", "several"])
@settings(deadline=None, max_examples=30)
@given(cuts=st.lists(st.integers(0, 1 << 20), max_size=12), compiled=COMPILED)
def test_any_ranges_have_each_block_once(data: bytes, cuts: list[int], compiled: bool) -> None:
    assert texts(in_ranges(data, cuts, compiled)) == PIECES
    assert in_ranges(data, cuts, compiled) == found_from(data)


def test_every_single_cut_has_each_block_once() -> None:
    for cut in range(len(SEVERAL)):
        assert texts(in_ranges(SEVERAL, [cut], True)) == PIECES


def test_a_block_has_the_byte_of_its_mark_as_offset_and_the_first_one_that_of_its_stream() -> None:
    begins = marks(SEVERAL)
    starts = [0, len(in_blocks(PIECES[:2])), len(SEVERAL) - len(in_blocks(PIECES[6:]))]
    expected = [at // 8 - 4 if at // 8 - 4 in starts and at % 8 == 0 else at // 8 for at in begins]
    assert [offset for offset, _ in found_from(SEVERAL)] == expected
    assert set(starts) < set(expected)


@pytest.mark.costly
@pytest.mark.parametrize("level", [1, 9])
def test_blocks_of_large_texts_are_theirs(level: int) -> None:
    text = noise(260_000, 40) + bytes(2_000_000) + noise(800_000, 8)
    data = bz2.compress(text, level)
    cuts = [len(data) * n // 7 for n in range(7)]
    assert b"".join(text or b"" for text in texts(in_ranges(data, cuts, True))) == text


def chance_mark(text: bytes) -> bytes:
    """Return a stream of one block that has the mark of a block in it.

    A block names the table of each group of 50 codes; more names than there are groups are read and have no effect.
    Here they are the bits of the mark: each name is some ones, fewer than there are tables, and a zero.
    """
    data = bz2.compress(text)
    ((_, begin, end),) = blocks_of(data)
    number_at = begin + 48 + 32 + 25 + 16 + 16 * bits_at(data, begin + 105, 16).bit_count() + 3
    behind = names_at = number_at + 15
    for _ in range(bits_at(data, number_at, 15)):
        behind += f"{bits_at(data, behind, 8):08b}".index("0") + 1
    added = f"{BLOCK_MARK:048b}0"
    pieces = [
        (bits_at(data, begin, number_at - begin), number_at - begin),
        (bits_at(data, number_at, 15) + added.count("0"), 15),
        (bits_at(data, names_at, behind - names_at), behind - names_at),
        (int(added, 2), len(added)),
        (bits_at(data, behind, end - behind), end - behind),
    ]
    bits, size = 0, 0
    for piece, count in pieces:
        bits, size = bits << count | piece, size + count
    return stream_of([((bits << -size % 8).to_bytes(-(-size // 8), "big"), 0, size)])


def test_a_mark_that_occurs_by_chance_is_no_block() -> None:
    text = noise(2000, 256, 5)
    first = chance_mark(text)
    assert bz2.decompress(first) == text
    block, mark = marks(first)
    data = first + in_blocks(PIECES)
    for compiled in (True, False):
        for cut in (block // 8 + 1, *(mark // 8 + at for at in (-1, 0, 1, 2))):
            assert texts(in_ranges(data, [cut], compiled)) == [text, *PIECES]


@settings(deadline=None, max_examples=60)
@example(several=False, bits=[22174, 39485], cuts=[], compiled=True)
@given(
    several=st.booleans(),
    bits=st.lists(st.integers(0, 1 << 20), min_size=1, max_size=3),
    cuts=st.lists(st.integers(0, 1 << 20), max_size=9),
    compiled=COMPILED,
)
def test_damage_costs_its_blocks_and_is_told_once_whatever_the_ranges(
    several: bool, bits: list[int], cuts: list[int], compiled: bool
) -> None:
    data = whole = SEVERAL if several else ONE
    begins = [*marks(whole), 8 * len(whole)]
    ends = [marks(whole, END_MARK)[-1] if n == 6 else begins[n + 1] for n in range(7)]
    if several:
        ends = [min(end, *(at for at in marks(whole, END_MARK) if at > begins[n])) for n, end in enumerate(ends)]
    hit = set()
    for bit in (bit % (8 * len(whole) - 8) for bit in bits):
        data = flip(data, bit)
        hit |= {n for n in range(7) if begins[n] <= bit < ends[n]}
    if 6 in hit and ends[6] not in marks(data, END_MARK):  # as of a file that was cut off
        with pytest.raises(InputError, match="it was cut off"):
            found_from(data, 0, compiled)
        return
    blocks = found_from(data, 0, compiled)
    left = [piece for piece in texts(blocks) if piece is not None]
    assert all(piece in left for n, piece in enumerate(PIECES) if n not in hit)
    assert [piece for piece in PIECES if piece in left] == left
    if len(left) < 7:
        assert None in texts(blocks)
    assert in_ranges(data, cuts, compiled) == blocks
    assert found_from(data, 0, not compiled) == blocks


def damaged(data: bytes, *numbers: int) -> bytes:
    """Return data with the blocks of these numbers damaged."""
    for number in numbers:
        data = flip(data, marks(SEVERAL if len(data) == len(SEVERAL) else ONE)[number] + 60)
    return data


@pytest.mark.parametrize("compiled", [True, False])
def test_damaged_blocks_in_a_row_are_told_once(compiled: bool) -> None:
    p = PIECES
    assert texts(found_from(damaged(ONE, 1, 2, 4), 0, compiled)) == [p[0], None, p[3], None, *p[5:]]
    assert texts(found_from(damaged(ONE, 0), 0, compiled)) == [None, *p[1:]]
    assert texts(found_from(damaged(SEVERAL, 6), 0, compiled)) == [*p[:6], None]
    assert texts(found_from(damaged(ONE, *range(7)), 0, compiled)) == [None]


def test_headers_and_ends_of_streams_that_are_damaged_cost_nothing() -> None:
    second = len(in_blocks(PIECES[:2]))
    for bit in (8 * second + 3, 8 * second + 30, marks(SEVERAL, END_MARK)[0] + 5, marks(SEVERAL, END_MARK)[0] + 60):
        assert texts(found_from(flip(SEVERAL, bit))) == PIECES
    last = marks(ONE, END_MARK)[-1]
    assert texts(found_from(flip(ONE, last + 1))) == texts(found_from(flip(ONE, last + 50))) == PIECES


def test_a_block_whose_mark_is_damaged_is_lost_and_the_one_before_is_not() -> None:
    data = flip(ONE, marks(ONE)[3] + 7)
    assert texts(found_from(data)) == [*PIECES[:3], None, *PIECES[4:]]
    assert found_from(data)[3] == (marks(ONE)[3] // 8, None)


def test_ranges_that_end_within_a_header_behind_damage_have_the_block_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(block_reader, "_STRIDE", 1)
    second = len(in_blocks(PIECES[:2]))
    data = flip(SEVERAL, marks(SEVERAL)[1] + 60)
    expected = found_from(data)
    for cut in range(second - 6, second + 9):
        for size in (1, 3, 7):
            assert in_ranges(data, [second - 20, cut, cut + size], True) == expected


@pytest.mark.costly
def test_large_damage_in_a_large_file_is_told_once() -> None:
    text = noise(9_000_000, 250)
    data = bytearray(bz2.compress(text))
    data[1_500_000:7_000_000] = random.Random(1).randbytes(5_500_000)
    whole = bytes(data)
    blocks = in_ranges(whole, [len(data) * n // 9 for n in range(9)], True)
    assert [number for number, (_, block) in enumerate(blocks) if block is None] == [1]
    assert blocks == found_from(whole)
    assert blocks[0][1] == text[: len(blocks[0][1] or b"")]
    assert text.endswith(b"".join(text or b"" for text in texts(blocks[2:])))


@pytest.mark.parametrize("compiled", [True, False])
def test_a_file_that_is_cut_off_gives_its_whole_blocks_and_says_where(compiled: bool) -> None:
    begins, size = marks(ONE), len(ONE)
    for kept in (begins[3] // 8 + 1, begins[3] // 8 + 30, begins[4] // 8, size - 1, size - 9, size - 11):
        blocks, whole = list[bytes | None](), sum(8 * kept >= end for _, _, end in blocks_of(ONE))
        with pytest.raises(InputError, match=rf"the file ends at byte {kept}, .*cut off") as caught:
            blocks.extend(block for _, block in read_blocks(io.BytesIO(ONE[:kept]), "x.bz2", 0, compiled=compiled))
        assert blocks == [] or texts(found_from(ONE))[:whole] == blocks
        where = blocks_of(ONE)[whole][1] if whole < 7 else marks(ONE, END_MARK)[-1]
        assert f"x.bz2, byte {where // 8}: " in str(caught.value)


def test_zero_bytes_behind_the_last_stream_are_padding_and_other_bytes_are_not() -> None:
    data = ONE + bytes(5_000_000)
    assert texts(in_ranges(data, [len(ONE) - 3, len(ONE) + 3, 4_000_000], True)) == PIECES
    with pytest.raises(InputError, match=rf"byte {len(ONE)}: what follows the bz2 stream"):
        found_from(ONE + bytes(99) + b"other bytes")
