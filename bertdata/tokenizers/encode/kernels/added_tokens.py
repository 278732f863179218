"""Where tokens that were added to a vocabulary may be in a text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import kernel
from bertdata.kernels.simd import BLOCK, equal_bits, load64, lowest_bit
from bertdata.tokenizers.encode.kernels.bitmaps import bytes_of_block, set_bit

_0, _1 = np.uint64(0), np.uint64(1)


class Heads(NamedTuple):
    """How tokens begin: first bytes, and second ones, uint8, of which none are given where a token has but one byte.

    words, masks: the first 8 bytes of each token, and ones where it has bytes.
    """

    first: NDArray[np.uint8]
    second: NDArray[np.uint8]
    words: NDArray[np.uint64]
    masks: NDArray[np.uint64]


@kernel
def mark_added(text: Any, begin: int, n: int, heads: Heads, unsure: Any) -> None:
    """Set the bits in `unsure` of the bytes at which a token may begin."""
    for b in range(n // BLOCK + 1):
        i = begin + b * BLOCK
        marks = seconds = _0
        for byte in heads.first:
            marks |= equal_bits(text, i, byte)
        for byte in heads.second:
            seconds |= equal_bits(text, i + 1, byte)
        if len(heads.second) > 0:
            marks &= seconds
        marks &= bytes_of_block(n, b)
        while marks != _0:
            at = b * BLOCK + np.int64(lowest_bit(marks))
            marks &= marks - _1
            word = load64(text, begin + at)
            for k in range(len(heads.words)):
                if word & heads.masks[k] == heads.words[k]:
                    set_bit(unsure, at)
                    break
