"""What rows are trained for: masked tokens, the next token, or both in one phase (GPT-BERT).

`masked` and `masked-next-token` have masks; in the second a masked token is predicted at the position before it, where
a causal model predicts it, too (masked next token prediction: Charpentier and Samuel 2024, section 2). `causal` rows
have none: each token is predicted at the position before it, from itself and the tokens before. A share, as 0.0625, is
that of the rows that are causal, beside masked-next-token ones.

Which rows are causal is a function of the seed, the epoch and the example, by the hash that masks are drawn by, so
every rank and every resumed run has the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.counter_rng import bits, key
from bertdata.errors import ConfigError

MASKED, SHIFTED, CAUSAL = "masked", "masked-next-token", "causal"
PURPOSE = "causal row"


class Training(NamedTuple):
    """What rows are trained for: the share of causal ones, and whether labels are at the position before."""

    causal_share: float = 0.0
    shifted: bool = False


_NAMED = {MASKED: Training(), SHIFTED: Training(0.0, shifted=True), CAUSAL: Training(1.0, shifted=True)}


def find_training(text: str, flag: str = "--training") -> Training:
    """Return what rows are trained for; raises ConfigError for another text.

    >>> find_training("causal"), find_training("0.0625")
    (Training(causal_share=1.0, shifted=True), Training(causal_share=0.0625, shifted=True))
    """
    if text in _NAMED:
        return _NAMED[text]
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise ConfigError(
            f"{flag} is {text!r}; expected {', '.join(_NAMED)}, or the share of causal rows, above 0 and below 1, as "
            "0.0625"
        )
    return Training(share, shifted=True)


def causal_rows(
    share: float, seed: int, example_ids: NDArray[np.int64], epochs: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which rows are causal, bool (E,), by the ids of the examples and their epochs, int64 (E,).

    >>> causal_rows(0.5, 1, np.arange(6), np.zeros(6, np.int64)).tolist()
    [True, True, False, False, True, False]
    """
    drawn = bits(key(seed, PURPOSE), epochs, example_ids) >> np.uint64(32)
    rows: NDArray[np.bool_] = drawn < np.uint64(round(share * 2**32))
    return rows
