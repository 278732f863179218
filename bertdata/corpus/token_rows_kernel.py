"""The compiled core of `token_rows`: rows of a flat array moved to other places, bytes whatever their type is."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.copying import copy
from bertdata.kernels.jit import typed_kernel


def _given(kind: Any) -> Any:
    return numba.types.Array(kind, 1, "C", readonly=True)


@typed_kernel(
    numba.boolean(
        *(_given(numba.uint8), _given(numba.int32), numba.int64),
        *(_given(numba.int64), _given(numba.int64), numba.uint8[::1]),
    )
)
def move_rows(
    values: NDArray[Any],
    offsets: NDArray[Any],
    item: int,
    rows: NDArray[Any],
    targets: NDArray[Any],
    out: NDArray[Any],
) -> bool:
    """Write each of some rows, values[offsets[r] : offsets[r + 1]] in items of so many bytes, from its target on.

    Returns False where a row or its target is not there.
    """
    for number in range(len(rows)):
        row = rows[number]
        if row < 0 or row + 1 >= len(offsets):
            return False
        begin: Any = np.int64(offsets[row]) * item
        end: Any = np.int64(offsets[row + 1]) * item
        target = targets[number] * item
        if begin < 0 or end < begin or end > len(values) or target < 0 or target + end - begin > len(out):
            return False
        copy(values, begin, end, out, target)
    return True
