"""Find the lowest draws of a row without sorting them: a bound such that as many draws as are needed lie below it."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import typed_kernel

_I, _U32, _VOID = numba.int64, numba.uint32, numba.void
_US, _US32, _BS = numba.uint64[::1], numba.uint32[::1], numba.types.Array(numba.boolean, 1, "C", readonly=True)
_ALL, _NONE, _HIGHEST = 2.0**32, np.uint32(0), np.uint32(0xFFFFFFFF)
_TRIES, _STEPS = 30, 2


@typed_kernel(_U32(_US32, _I, _I, _I))
def bound_of(highs: NDArray[np.uint32], count: int, tokens: int, needed: int) -> Any:
    """Return a number such that `needed` of the first `count` draws are below it, 0 where none is found.

    `tokens` of them are draws, the others the highest number. Draws are uniform, so the bound is found by interpolation
    between one that is too low and one that is too high; the last steps go from draw to draw. With equal draws, more
    or fewer than `needed` may be below it.
    """
    low, high, fewer, more = 0.0, _ALL - 1, 0, tokens + 1
    guess = _ALL * (needed + 0.5) / more
    for _ in range(_TRIES):
        bound, below = np.uint32(guess), 0
        for place in range(count):
            below += highs[place] < bound
        if abs(below - needed) <= _STEPS:
            for _step in range(below - needed):
                highest = _NONE
                for place in range(count):
                    highest = max(highest, highs[place] if highs[place] < bound else _NONE)
                bound = highest
            for _step in range(needed - below):
                lowest = _HIGHEST
                for place in range(count):
                    lowest = min(lowest, highs[place] if highs[place] >= bound else _HIGHEST)
                bound = np.uint32(min(np.int64(lowest) + 1, np.int64(_HIGHEST)))
            return bound
        if below < needed:
            low, fewer = guess, below
        else:
            high, more = guess, below
        guess = low + (high - low) * (needed + 0.5 - fewer) / (more - fewer)
    return _NONE


@typed_kernel(_U32(_US32, _I, _I))
def bound_by_halves(numbers: NDArray[np.uint32], count: int, needed: int) -> Any:
    """Return a number such that `needed` of the first `count` numbers are below it, however they are spread.

    With equal numbers, fewer may be below it: then it is the lowest that `needed` are not above.
    """
    low, high = np.int64(0), np.int64(_HIGHEST)
    while low < high:
        middle = (low + high + 1) >> 1
        bound, below = np.uint32(middle), 0
        for place in range(count):
            below += numbers[place] < bound
        if below == needed:
            return bound
        if below < needed:
            low = middle
        else:
            high = middle - 1
    return np.uint32(low)


@typed_kernel(_VOID(_US, _BS, _I, _US32))
def take_lowest(draws: NDArray[np.uint64], special: NDArray[np.bool_], needed: int, chosen: NDArray[np.uint32]) -> None:
    """Write the places of the `needed` lowest draws into `chosen`, in order; of equal draws the first places."""
    for taken in range(needed):
        lowest = -1
        for place in range(len(special)):
            if not special[place] and (lowest < 0 or draws[place] < draws[lowest]):
                barred = False
                for at in range(taken):
                    barred |= chosen[at] == place
                if not barred:
                    lowest = place
        chosen[taken] = np.uint32(lowest)
