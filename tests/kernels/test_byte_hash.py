"""The hash of bytes is that of its readable twin, and reads nothing outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bertdata.kernels.byte_hash import hash_bytes
from bertdata.kernels.jit import kernel

M1, M2, M3, M4 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD, 0xBF58476D1CE4E5B9
MASK = (1 << 64) - 1


@kernel
def hash_of(data: Any, begin: Any, end: Any) -> Any:
    return hash_bytes(data, begin, end)


def reference(data: bytes) -> int:
    """Fold words of 8 bytes into four states in turn, those after the last 32 into the first, and then the last 8."""

    def folded(state: int, word: int) -> int:
        state = (state ^ word) * M2 & MASK
        return state ^ state >> 29

    states, whole = [M1, M2, M3, M4], len(data) // 32 * 32
    for place in range(0, len(data) - 7, 8):
        lane = place // 8 % 4 if place < whole else 0
        states[lane] = folded(states[lane], int.from_bytes(data[place : place + 8], "little"))
    last = int.from_bytes(data[-8:], "little") if len(data) >= 8 else int.from_bytes(data, "big")
    states[0] = folded(states[0], (last + len(data) * M1) & MASK)
    state = states[0]
    for other in states[1:]:
        state = folded(state, other)
    return mixed(state)


def mixed(x: int) -> int:
    x = (x + M1) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


@pytest.mark.parametrize("length", [*range(70), 1000])
def test_the_kernel_hashes_as_its_twin_wherever_the_bytes_lie(length: int) -> None:
    data = np.random.default_rng(length).integers(0, 256, length + 20, np.uint8)
    for begin in (0, 3, 20):
        assert int(hash_of(data, begin, begin + length)) == reference(data[begin : begin + length].tobytes())


def test_each_bit_and_the_number_of_bytes_matter() -> None:
    data = np.random.default_rng(0).integers(0, 256, 80, np.uint8)
    hashes = {int(hash_of(data, 0, length)) for length in range(81)}
    for bit in range(8 * len(data)):
        changed = data.copy()
        changed[bit // 8] ^= 1 << bit % 8
        hashes.add(int(hash_of(changed, 0, len(changed))))
    assert len(hashes) == 81 + 8 * 80
