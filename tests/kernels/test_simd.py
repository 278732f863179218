"""Masks of bytes are those of their plain versions."""

from __future__ import annotations

import numpy as np
import pytest

from bertdata.kernels import simd
from bertdata.kernels.jit import kernel


@kernel
def masks(data: np.ndarray, first: int, more: int) -> tuple[int, int]:
    return simd.range_bits(data, np.int64(3), np.uint8(first), np.uint8(more)), simd.equal_bits(
        data, np.int64(3), np.uint8(first)
    )


@pytest.mark.parametrize(("first", "more"), [(65, 25), (0, 31), (127, 0), (250, 5), (0, 255), (200, 0)])
def test_bytes_of_a_range_have_their_bits(first: int, more: int) -> None:
    data = np.random.default_rng(first).integers(0, 256, 200, np.uint8)
    within, equal = masks(data, first, more)
    block = data[3:67].astype(np.int64)
    expected = [(block >= first) & (block <= first + more), block == first]
    for bits, marks in zip((within, equal), expected, strict=True):
        assert [bool(int(bits) >> place & 1) for place in range(64)] == marks.tolist()
    plain = simd.plain_range_bits(data, np.int64(3), np.uint8(first), np.uint8(more))
    assert plain == within
