"""Where a word begins after what its pre-tokenizer removes before it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined
from bertdata.kernels.utf8 import decode


class Removed(NamedTuple):
    """The class of each code point, uint8, and which classes are removed, bool; both empty where nothing is."""

    classes: NDArray[np.uint8]
    apart: NDArray[np.bool_]


@inlined
def skip_removed(text: Any, start: Any, end: Any, removed: Removed) -> Any:
    """Return where a word begins; `end` where all of it is removed."""
    while len(removed.apart) > 0 and start < end:
        point, size = decode(text, start, end)
        if not removed.apart[removed.classes[max(point, 0)]]:
            break
        start += size
    return start
