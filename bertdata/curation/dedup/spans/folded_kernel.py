"""The compiled form of `folded.fold_plainly`: the words of units, folded, in one pass over their UTF-8 bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.curation.dedup import minhash as rules
from bertdata.curation.dedup.minhash import SEPARATOR, SINGLE
from bertdata.kernels.jit import inlined, typed_kernel
from bertdata.kernels.utf8 import decode, encode

_kind_of = inlined(rules.kind_of)
_LONGEST = 4


@typed_kernel()
def fold_units(
    data: NDArray[np.uint8],
    units: NDArray[np.int64],
    folding: NDArray[np.uint32],
    out: NDArray[np.uint8],
    places: NDArray[np.int64],
    words: NDArray[np.int64],
) -> int:
    """Write the words of units into `out`, with a space between any two; returns how many bytes, -1 without room.

    units: int64 (U, 2), where each begins and ends in the data. places, int64 (U, 2), gets where its words begin and
    end in `out`, and words (U,) how many they are. A unit without words ends before it begins.
    """
    n = 0
    for unit in range(len(units)):
        i, end = units[unit, 0], units[unit, 1]
        places[unit, 0] = n + 1 if n else 0
        count = 0
        inside = False
        while i < end:
            code: Any = 0
            code, size = decode(data, i, end)
            i += size
            kind = _kind_of(max(code, 0))
            if kind == SEPARATOR:
                inside = False
                continue
            if code < len(folding):
                code = np.int64(folding[code])
            if n + 1 + _LONGEST > len(out):
                return -1
            if kind == SINGLE or not inside:
                count += 1
                if n:
                    out[n] = 32
                    n += 1
            n = encode(code, out, n)
            inside = kind != SINGLE
        places[unit, 1] = n
        words[unit] = count
    return n
