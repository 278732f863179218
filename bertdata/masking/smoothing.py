"""Rare tokens predicted more often than frequent ones: tokens of a row drawn by weights, in integers.

XLM (Lample and Conneau 2019, section 3.2) draws the tokens to predict by weights that fall with their frequency, to the
power -0.5; DistilBERT's code (Sanh et al. 2019, its `mlm_smoothing`) takes -0.7 and the counts of its training text,
at least 1, and weight 0 for special tokens. Tokens are drawn one after another, each with a probability proportional to
its weight among those that are left.

The same draw: each token gets an exponential number, -ln(1 - u) of a uniform u, divided by its weight, and the lowest
are taken (Efraimidis and Spirakis 2006). As only the order counts, logarithms are compared: `spread(u)`, log2 of the
exponential number, plus `delays`, -log2 of the weight. Both are whole numbers of 2**-24, so that every device finds
the same order. `spread` is interpolated between entries of a table, 128 for each power of two of u and of 1 - u: it is
less than 0.00001 from the logarithm, which is as much as a weight changed by one in 140,000.
"""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal, localcontext
from functools import lru_cache

import numpy as np

from bertdata.arrays import Ints

FRACTION = 24
"""The bits of a logarithm that are behind its point."""
OFFSET = 34
"""What is added to the logarithms of exponential numbers, so that none is below 0: the lowest is -33."""
NEVER = 128 << FRACTION
"""The delay of weight 0: above all other sums, and with the highest logarithm below 2**32."""
SEGMENTS = 7
"""Each power of two is 2**7 segments of the table."""
_HALF = 1 << 31


@lru_cache(maxsize=1)
def spread_table() -> Ints:
    """Return the table that `spread` reads, int64 (2, 4097): for u below a half by u, and for others by 1 - u.

    Entry b * 128 + j is of 2**b * (1 + j / 128) in units of 2**-33. Logarithms that are so near to a half that machines
    may round them in two ways are computed again with 30 digits.
    """
    entry = np.arange((32 << SEGMENTS) + 1)
    size = (1 << (entry >> SEGMENTS)) * ((1 << SEGMENTS) + entry % (1 << SEGMENTS)).astype(np.float64)
    share = size / (1 << (33 + SEGMENTS))
    logarithms = (np.log2([-np.log1p(-share), -np.log(share)]) + OFFSET) * (1 << FRACTION)
    table: Ints = np.rint(logarithms).astype(np.int64)
    for side, place in np.argwhere(abs(abs(logarithms - table) - 0.5) < 0.001).tolist():
        with localcontext(prec=30):
            exact = Decimal(size[place]) / (1 << (33 + SEGMENTS))
            logarithm = (-(exact if side else 1 - exact).ln()).ln() / Decimal(2).ln() + OFFSET
            table[side, place] = round(logarithm * (1 << FRACTION))
    return table


def spread(draw: int) -> int:
    """Return log2 of the exponential number of a draw of 32 bits, in units of 2**-24, plus `OFFSET`.

    It is the reference of `smoothing_kernel.spread`.

    >>> import math
    >>> draw = 3_000_000_000
    >>> exact = math.log2(-math.log(1 - (draw + 0.5) / 2**32)) + OFFSET
    >>> abs(spread(draw) / 2**FRACTION - exact) < 0.00001
    True
    """
    side = int(draw >= _HALF)
    size = 2 * (2**32 - 1 - draw if side else draw) + 1
    power = size.bit_length() - 1
    entry, part = divmod((size << (31 - power)) - _HALF, 1 << (31 - SEGMENTS))
    below, above = spread_table()[side, (power << SEGMENTS) + entry :][:2].tolist()
    return int(below + ((above - below) * part >> (31 - SEGMENTS)))


def delays(counts: Ints, never: Collection[int], smoothing: float) -> Ints:
    """Return -log2 of the weight of each id, count**-smoothing, in units of 2**-24, int64 (V,).

    counts: of each id, int64 (V,), at least 1 is taken; never: the ids of weight 0, which are drawn after all others.

    >>> (delays(np.array([0, 1, 4, 16]), [0], 0.5) / 2**FRACTION).tolist()
    [128.0, 0.0, 1.0, 2.0]
    """
    id_delays: Ints = np.rint(smoothing * log2(np.maximum(counts, 1))).astype(np.int64)
    id_delays[list(never)] = NEVER
    return id_delays


def log2(numbers: Ints) -> Ints:
    """Return log2 of numbers from 1 to 2**53, in units of 2**-24 and less than one below, int64.

    It is found without a machine's logarithm: the binary digits of log2 of a number from 1 to 2 are those that squaring
    it again and again carries over 2.

    >>> (log2(np.array([1, 2, 3, 1_000_000])) / 2**FRACTION).round(5).tolist()
    [0.0, 1.0, 1.58496, 19.93157]
    """
    whole = np.frexp(numbers.astype(np.float64))[1].astype(np.int64) - 1
    up, down = np.maximum(31 - whole, 0).astype(np.uint64), np.maximum(whole - 31, 0).astype(np.uint64)
    size = (numbers.astype(np.uint64) << up) >> down
    logarithms = whole
    for _ in range(FRACTION):
        size = (size * size) >> np.uint64(31)
        carry = size >> np.uint64(32)
        size >>= carry
        logarithms = 2 * logarithms + carry.astype(np.int64)
    return logarithms
