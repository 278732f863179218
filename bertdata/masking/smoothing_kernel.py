"""The compiled core of `smoothing`: the numbers by which tokens are drawn by weights.

`smoothing.spread` is its readable reference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined
from bertdata.masking.smoothing import SEGMENTS

_HALF, _PLACES, _BIAS = 1 << 31, 31 - SEGMENTS, 1023 << SEGMENTS
_LAST = np.int64((1 << _PLACES) - 1)


@inlined
def weigh(highs: Any, ids: Any, special: Any, table: NDArray[np.int64], delays: NDArray[np.int64]) -> None:
    """Write `smoothing.spread` plus the delay of its id in place of each draw of a row, the first L of `highs`.

    Special tokens stay as they are; ids without a delay have none.
    """
    for place in range(len(special)):
        if not special[place]:
            draw = np.int64(highs[place])
            side = np.int64(draw >= _HALF)
            size = 2 * (0xFFFFFFFF - draw if side else draw) + 1
            digits = np.float64(size).view(np.int64)  # its power of two, and what is after its first digit
            entry, part = (digits >> (52 - SEGMENTS)) - _BIAS, (digits >> 21) & _LAST
            below = table[side, entry]
            total = below + ((table[side, entry + 1] - below) * part >> _PLACES)
            token = np.int64(ids[place])
            if 0 <= token < len(delays):
                total += delays[token]
            highs[place] = np.uint32(total)
