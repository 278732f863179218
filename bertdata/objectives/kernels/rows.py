"""The compiled core of `rows`: tokens gathered span by span, with the special ids of a row template around them.

It reads only within the spans; `rows.row_offsets` checks them.
"""

from __future__ import annotations

from typing import Any

import numba
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, typed_kernel


def _given(kind: Any, dimensions: int = 1) -> Any:
    return numba.types.Array(kind, dimensions, "C", readonly=True)


_IDS = (numba.uint16, numba.uint32)
_INTS, _TYPES = _given(numba.int64), _given(numba.int8)
_SPANS = _given(numba.int64, 2)
_ENDS = numba.boolean(_SPANS, _TYPES, _INTS, _INTS, numba.int64, numba.int64, numba.int64, numba.int64[::1])
_FILL = [
    numba.void(
        *(_given(ids), _SPANS, _TYPES, _INTS, _INTS),
        *(_INTS, _INTS, _INTS, numba.int64, numba.int64, ids[::1], numba.uint8[::1], numba.boolean[::1]),
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
def row_ends(
    spans: NDArray[Any],
    types: NDArray[Any],
    offsets: NDArray[Any],
    chosen: NDArray[Any],
    tokens: int,
    outer: int,
    between: int,
    ends: NDArray[Any],
) -> bool:
    """Write where each row ends into `ends`; `outer` ids stand around its spans, `between` between those of a pair.

    Returns False where an example that is not there is chosen, or one names a span or tokens that are not there.
    """
    total = 0
    separator = min(between, 1)
    for row in range(len(chosen)):
        if chosen[row] < 0 or chosen[row] >= len(offsets) - 1:
            return False
        first, last = offsets[chosen[row]], offsets[chosen[row] + 1]
        if first < 0 or last > len(spans) or last > len(types):
            return False
        total += outer
        for span in range(first, last):
            if spans[span, 0] < 0 or spans[span, 1] < spans[span, 0] or spans[span, 1] > tokens:
                return False
            total += spans[span, 1] - spans[span, 0]
            if span > first:
                total += between if types[span] != types[span - 1] else separator
        ends[row] = total
    return True


@inlined
def _write(ids: Any, count: Any, kind: Any, at: Any, input_ids: Any, token_type_ids: Any, special: Any) -> Any:
    """Write the first special ids of some, with one token type; returns where they end."""
    for place in range(count):
        input_ids[at] = ids[place]
        token_type_ids[at] = kind
        special[at] = True
        at += 1
    return at


@typed_kernel(*_FILL)
def fill_rows(
    tokens: NDArray[Any],
    spans: NDArray[Any],
    types: NDArray[Any],
    offsets: NDArray[Any],
    chosen: NDArray[Any],
    prefix: NDArray[Any],
    between: NDArray[Any],
    suffix: NDArray[Any],
    second_type: int,
    last_type: int,
    input_ids: NDArray[Any],
    token_type_ids: NDArray[Any],
    special: NDArray[Any],
) -> None:
    """Write the rows; token types come filled with 0, flags of special tokens with False.

    last_type: the token type of the last id of the suffix, -1 where it is that of the others.
    """
    at = 0
    separator = min(len(between), 1)
    for row in range(len(chosen)):
        at = _write(prefix, len(prefix), 0, at, input_ids, token_type_ids, special)
        first, last = offsets[chosen[row]], offsets[chosen[row] + 1]
        kind = 0
        for span in range(first, last):
            if span > first:
                count = len(between) if types[span] != types[span - 1] else separator
                at = _write(between, count, kind, at, input_ids, token_type_ids, special)
            start, count = spans[span, 0], spans[span, 1] - spans[span, 0]
            source, target = tokens[start : start + count], input_ids[at : at + count]
            for place in range(len(target)):
                target[place] = source[place]
            kind = second_type if types[span] else 0
            if kind:
                target_types = token_type_ids[at : at + count]
                for place in range(len(target_types)):
                    target_types[place] = kind
            at += count
        at = _write(suffix, len(suffix), kind, at, input_ids, token_type_ids, special)
        if last_type >= 0 and len(suffix):
            token_type_ids[at - 1] = last_type
