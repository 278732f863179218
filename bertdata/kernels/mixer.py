"""The compiled core of `counter_rng`: the mixer, for kernels that draw for themselves, and draws put in order.

The reference of the mixer is in `counter_rng`, which makes the keys of a seed and a purpose.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, typed_kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
_BITS = 64

_I, _U, _VOID = numba.int64, numba.uint64, numba.void
_US, _US32 = numba.uint64[::1], numba.uint32[::1]


@inlined
def mix(x: Any) -> Any:
    """One step of SplitMix64, as `counter_rng.bits` takes it."""
    x = x + GOLDEN
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


@typed_kernel(_VOID(_US, _US32, _I, _I, _US32, _US32))
def sort_draws(
    draws: NDArray[np.uint64],
    units: NDArray[np.uint32],
    number: int,
    count: int,
    order: NDArray[np.uint32],
    buckets: NDArray[np.uint32],
) -> None:
    """Put units[:number] into `order` by their draws, equal ones as they are.

    Their high bits put them into buckets, as many as there are draws (`count`); then they are sorted by insertion.
    """
    width = 1
    while (1 << width) < count:
        width += 1
    shift = np.uint64(_BITS - width)
    buckets[: 1 << width] = 0
    for place in range(number):
        buckets[draws[units[place]] >> shift] += np.uint32(1)
    before = np.uint32(0)
    for place in range(1 << width):
        in_bucket = buckets[place]
        buckets[place] = before
        before += in_bucket
    for place in range(number):
        unit = units[place]
        high = draws[unit] >> shift
        order[buckets[high]] = unit
        buckets[high] += np.uint32(1)
    for place in range(1, number):
        unit = order[place]
        draw = draws[unit]
        at = place
        while at > 0 and draws[order[at - 1]] > draw:
            order[at] = order[at - 1]
            at -= 1
        order[at] = unit
