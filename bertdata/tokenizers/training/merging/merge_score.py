"""What makes one merge better than another: the three criteria of the vocabulary trainer, and their logarithm.

Shared by the fast trainer and its slow reference; the formulas are in `trainer.py` and `tests/oracles/merges.py`.
"""

from __future__ import annotations

import math
from typing import Literal

Criterion = Literal["likelihood", "frequency", "score"]
LIKELIHOOD, FREQUENCY, SCORE = 0, 1, 2
CODES: dict[str, int] = {"likelihood": LIKELIHOOD, "frequency": FREQUENCY, "score": SCORE}

_LN_2 = 0.6931471805599453


def natural_log(n: int) -> float:
    """Return the natural logarithm of a positive integer up to 2**53, and 0 for 0.

    It uses nothing but additions, products and quotients of doubles, which round alike everywhere; the logarithms of
    the C libraries differ in the last bit, and so would the vocabularies.

    >>> natural_log(1), round(natural_log(1000), 12)
    (0.0, 6.907755278982)
    """
    if n <= 0:
        return 0.0
    fraction, exponent = math.frexp(float(n))
    if fraction < 0.7071067811865476:
        fraction *= 2.0
        exponent -= 1
    s = (fraction - 1.0) / (fraction + 1.0)
    square = s * s
    total = 0.0
    for k in range(23, 0, -2):
        total = total * square + 1.0 / k
    return exponent * _LN_2 + 2.0 * s * total
