"""What a state compares a data set by, so that a run is resumed with the data it began with."""

from __future__ import annotations

import hashlib
import operator
from typing import Any, SupportsIndex

import numpy as np

from bertdata.counter_rng import text_bits
from bertdata.options.option import require

_63_BITS = (1 << 63) - 1


def data_fingerprint(dataset: Any) -> int:
    """Return 63 bits that identify a data set: its `fingerprint`, else of its `lengths` and `sizes`; 0 without these.

    Raises ConfigError where `fingerprint` is neither an integer nor a string.

    >>> class Texts(list):
    ...     fingerprint = 12
    >>> data_fingerprint(Texts()), data_fingerprint(range(5))
    (12, 0)
    """
    value = getattr(dataset, "fingerprint", None)
    if value is None:
        columns = [np.asarray(getattr(dataset, name, ()), "<i8") for name in ("lengths", "sizes")]
        if not any(map(len, columns)):
            return 0
        digest = hashlib.sha256(len(columns[0]).to_bytes(8, "little"))
        for column in columns:
            digest.update(column.tobytes())
        value = digest.hexdigest()
    require(
        isinstance(value, str | SupportsIndex),
        f"the fingerprint of the data set is of type {type(value).__name__}; expected an int or a str",
    )
    return text_bits(value) >> 1 if isinstance(value, str) else operator.index(value) & _63_BITS
