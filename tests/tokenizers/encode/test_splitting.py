"""What is removed from a text is a part of the word after it."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bertdata.tokenizers.encode.kernels.splitting import join_gone


def bitmap(places: list[int], n: int) -> np.ndarray:
    bits = np.zeros(n // 64 * 64 + 128, np.bool_)
    bits[places] = True
    return np.packbits(bits, bitorder="little").view(np.uint64)


@pytest.mark.parametrize("n", [0, 1, 5, 62, 63, 64, 65, 127, 128, 129, 500])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_gone_is_joined_to_the_next_segment_of_its_row(n: int, seed: int) -> None:
    draw = random.Random(seed)
    share = draw.choice([0.02, 0.3, 0.9])
    rows = sorted({0, n, *(at for at in range(n) if draw.random() < share / 5)})
    cuts = sorted({*rows, *(at for at in range(n) if draw.random() < share)})
    gone = [at for at in cuts if at < n and draw.random() < 0.5]
    expected = [at for place, at in enumerate(cuts) if at in rows or place == 0 or cuts[place - 1] not in gone]
    starts = np.full(n // 64 + 2, ~np.uint64(0), np.uint64)
    join_gone(bitmap(cuts, n), bitmap(gone, n), bitmap(rows, n), n, starts)
    begins = np.flatnonzero(np.unpackbits(starts[: n // 64 + 1].view(np.uint8), bitorder="little"))
    assert begins.tolist() == expected
