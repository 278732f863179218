"""Numbers joined into groups, each named by its lowest number: union-find on arrays.

`lowest` leads from each number to the lowest of its group, step by step; at first each number leads to itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.integer[Any]]


def roots(lowest: Numbers, numbers: Numbers) -> Numbers:
    """Return the lowest number that each of some numbers is joined to; shortens the ways there."""
    above: Numbers = lowest[numbers]
    while not np.array_equal(further := lowest[above], above):
        lowest[numbers] = above = further
    return above


def join(lowest: Numbers, first: Numbers, second: Numbers) -> None:
    """Join pairs of numbers, in place.

    >>> lowest = np.arange(5)
    >>> join(lowest, np.array([1, 3]), np.array([3, 4]))
    >>> roots(lowest, np.arange(5)).tolist()
    [0, 1, 2, 1, 1]
    """
    while len(first):
        ends = roots(lowest, first), roots(lowest, second)
        low, high = np.minimum(*ends), np.maximum(*ends)
        apart = low != high
        first, second, low, high = first[apart], second[apart], low[apart], high[apart]
        np.minimum.at(lowest, high, low)
