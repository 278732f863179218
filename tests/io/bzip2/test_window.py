"""A window reads on where it stopped, whatever was looked at beyond it."""

from __future__ import annotations

import io

import pytest

from bertdata.io.bzip2.decoder import decoder
from bertdata.io.bzip2.window import Window
from bertdata.io.files import CHUNK


def window_of(data: bytes, begin: int = 0) -> Window:
    return Window(io.BytesIO(data), "x.bz2", begin, decoder(False))


@pytest.mark.parametrize("begin", [0, 5, CHUNK - 3])
@pytest.mark.parametrize("zeros", [0, 3, CHUNK, 2 * CHUNK + 7])
def test_bytes_after_zeros_are_read_though_padding_was_looked_for(begin: int, zeros: int) -> None:
    tail = bytes(range(1, 200))
    window = window_of(b"head " + bytes(CHUNK) + bytes(zeros) + tail, begin)
    assert not window.padded(begin + 5)
    first = 5 + CHUNK + zeros
    assert window.reach(8 * first, len(tail))
    assert window.bits(8 * first, 8 * len(tail)) == int.from_bytes(tail, "big")
    assert not window.reach(8 * first, len(tail) + 1)


@pytest.mark.parametrize("zeros", [0, 3, CHUNK, 2 * CHUNK + 7])
def test_a_file_that_ends_with_zeros_is_padded(zeros: int) -> None:
    assert window_of(b"head " + bytes(zeros)).padded(5)
    assert not window_of(b"head " + bytes(zeros)).padded(4)
    assert not window_of(b"head " + bytes(zeros) + b"\1").padded(5)
