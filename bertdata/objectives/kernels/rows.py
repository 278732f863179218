"""The compiled core of `rows`: tokens gathered span by span, with special tokens between them.

It reads only within the spans; `rows.build_rows` checks them.
"""

from __future__ import annotations

from typing import Any

import numba
from numpy.typing import NDArray

from bertdata.kernels.jit import typed_kernel


def _given(kind: Any, dimensions: int = 1) -> Any:
    return numba.types.Array(kind, dimensions, "C", readonly=True)


_IDS = (numba.uint16, numba.uint32)
_ENDS = numba.boolean(
    *(_given(numba.int64, 2), _given(numba.int64), _given(numba.int64), numba.int64, numba.int64[::1])
)
_FILL = [
    numba.void(
        *(_given(ids), _given(numba.int64, 2), _given(numba.int8), _given(numba.int64), _given(numba.int64)),
        *(_given(numba.int64), numba.int64, numba.int64, ids[::1], numba.uint8[::1], numba.boolean[::1]),
    )
    for ids in _IDS
]


@typed_kernel(*[numba.boolean(_given(ids), _given(numba.boolean), numba.boolean[::1]) for ids in _IDS])
def word_starts(ids: NDArray[Any], continuation: NDArray[Any], starts: NDArray[Any]) -> bool:
    """Write where words begin; returns False where an id is not in `continuation`."""
    highest = 0
    for place in range(len(ids)):
        highest = max(highest, int(ids[place]))
    if highest >= len(continuation):
        return False
    for place in range(len(ids)):
        starts[place] = not continuation[ids[place]]
    return True


@typed_kernel(_ENDS)
def row_ends(spans: NDArray[Any], offsets: NDArray[Any], chosen: NDArray[Any], tokens: int, ends: NDArray[Any]) -> bool:
    """Write where each row ends into `ends`: [CLS], and each span with a [SEP] after it.

    Returns False where an example that is not there is chosen, or one names a span or tokens that are not there.
    """
    total = 0
    for row in range(len(chosen)):
        if chosen[row] < 0 or chosen[row] >= len(offsets) - 1:
            return False
        first, last = offsets[chosen[row]], offsets[chosen[row] + 1]
        if first < 0 or last > len(spans):
            return False
        total += 1
        for span in range(first, last):
            if spans[span, 0] < 0 or spans[span, 1] < spans[span, 0] or spans[span, 1] > tokens:
                return False
            total += spans[span, 1] - spans[span, 0] + 1
        ends[row] = total
    return True


@typed_kernel(*_FILL)
def fill_rows(
    tokens: NDArray[Any],
    spans: NDArray[Any],
    types: NDArray[Any],
    offsets: NDArray[Any],
    chosen: NDArray[Any],
    ends: NDArray[Any],
    cls_token_id: int,
    sep_token_id: int,
    input_ids: NDArray[Any],
    token_type_ids: NDArray[Any],
    special: NDArray[Any],
) -> None:
    """Write the rows; token types come filled with 0, flags of special tokens with False."""
    at = 0
    for row in range(len(chosen)):
        input_ids[at] = cls_token_id
        special[at] = True
        at += 1
        for span in range(offsets[chosen[row]], offsets[chosen[row] + 1]):
            start, count = spans[span, 0], spans[span, 1] - spans[span, 0]
            source, target = tokens[start : start + count], input_ids[at : at + count]
            for place in range(len(target)):
                target[place] = source[place]
            if types[span]:
                target_types = token_type_ids[at : at + count + 1]
                for place in range(len(target_types)):
                    target_types[place] = 1
            at += count
            input_ids[at] = sep_token_id
            special[at] = True
            at += 1
