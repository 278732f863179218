"""Streams are read by kernels as they are by Python's bz2: the same bytes, offsets and errors."""

from __future__ import annotations

import bz2
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.io.bzip2.stream_layout import END_MARK
from bertdata.io.compression import decompress
from tests.generated import examples
from tests.io.bzip2.blocks import TEXTS, flip, in_blocks, marks, noise


def outcome(data: bytes, compiled: bool, begin: int = 0) -> tuple[dict[int, bytes], str]:
    """Return the bytes of each stream, by its offset, and the error behind them."""
    raw = io.BytesIO(data)
    raw.seek(begin)
    by_place: dict[int, bytes] = {}
    try:
        for offset, output in decompress(raw, "bz2", "x", compiled=compiled):
            assert 0 < len(output) <= 4 << 20
            by_place[offset] = by_place.get(offset, b"") + output
    except InputError as error:
        return by_place, str(error)
    return by_place, ""


STREAMS = st.lists(
    st.one_of(TEXTS.map(bz2.compress), st.lists(st.binary(min_size=1, max_size=50), max_size=4).map(in_blocks)),
    max_size=4,
).map(b"".join)


@settings(deadline=None, max_examples=60)
@given(STREAMS, st.integers(0, 20))
def test_whole_streams_are_read_alike(data: bytes, zeros: int) -> None:
    whole = data + bytes(zeros if data else 0)
    assert outcome(whole, True) == outcome(whole, False)
    assert b"".join(outcome(whole, True)[0].values()) == bz2.decompress(data)


@settings(deadline=None, max_examples=examples(120))
@given(STREAMS.filter(len), st.data())
def test_damaged_and_truncated_streams_are_read_alike(data: bytes, drawn: st.DataObject) -> None:
    changed = flip(data, drawn.draw(st.integers(0, 8 * len(data) - 1)))
    cut = changed[: drawn.draw(st.integers(0, len(data)))]
    for damaged in (changed, cut):
        (by_kernels, error), (by_bz2, expected) = outcome(damaged, True), outcome(damaged, False)
        assert error == expected
        assert by_kernels.keys() == by_bz2.keys() or error
        assert all(by_bz2[offset].startswith(text) for offset, text in by_kernels.items() if offset in by_bz2)


def test_a_stream_with_another_checksum_than_its_blocks_have_is_corrupt() -> None:
    data = in_blocks([b"one", b"two"])
    changed = flip(data, marks(data, END_MARK)[-1] + 60)
    assert outcome(changed, True)[1] == outcome(changed, False)[1]
    assert outcome(changed, True)[1].startswith("x, byte 0: the bz2 stream that starts here is corrupt")


@pytest.mark.costly
def test_large_blocks_and_large_texts_are_read_alike() -> None:
    data = bz2.compress(noise(1_500_000, 30) + bytes(30_000_000) + noise(9)) + bz2.compress(b"")
    assert outcome(data, True) == outcome(data, False)


def test_reading_begins_where_the_file_stands() -> None:
    first, second = bz2.compress(b"one"), bz2.compress(b"two")
    assert outcome(first + second, True, len(first)) == ({len(first): b"two"}, "")


@pytest.mark.parametrize("data", [b"", bytes(3000), b"BZh", b"BZh9", b"plain text", bz2.compress(b"a") + b"BZh0"])
def test_what_is_no_stream_is_told_alike(data: bytes) -> None:
    assert outcome(data, True) == outcome(data, False)
