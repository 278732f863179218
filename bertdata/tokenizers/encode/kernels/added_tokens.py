"""Where tokens that were added to a vocabulary may be in a text."""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import kernel
from bertdata.kernels.simd import load64
from bertdata.tokenizers.encode.kernels.bitmaps import set_bit

_U = np.uint64


@kernel
def mark_added(text: Any, begin: int, n: int, pairs: Any, heads: Any, masks: Any, unsure: Any) -> None:
    """Set the bits in `unsure` of the bytes at which a token may begin.

    pairs: True for the first two bytes of a token, first | second << 8; for both that and any second byte if it has but
    one. heads, masks: the first 8 bytes of each token, uint64, and ones where it has bytes.
    """
    for j in range(n):
        i = begin + j
        if pairs[np.int64(text[i]) | np.int64(text[i + 1]) << 8]:
            word = load64(text, i)
            for k in range(len(heads)):
                if word & masks[k] == heads[k]:
                    set_bit(unsure, j)
                    break
