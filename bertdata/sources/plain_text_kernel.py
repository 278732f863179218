"""The compiled core of `plain_text`: lines to documents in one pass, white space at their ends left out.

It reads nothing after the last of the line ends that it is given. Its tests compare it with a loop in plain Python.
"""

from __future__ import annotations

from typing import Any

import numba
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, typed_kernel

USED, SKIPPING, ENDED, STATES = range(4)
"""The state of `find_documents`: bytes used, whether it looks for the first blank line, whether it has finished."""

_NEWLINE, _SPACE, _TAB, _RETURN = 10, 32, 9, 13
_BYTES, _INTS = (numba.types.Array(kind, 1, "C", readonly=True) for kind in (numba.uint8, numba.int64))


@inlined
def _is_space(byte: Any) -> Any:
    return byte == _SPACE or _TAB <= byte <= _RETURN


@typed_kernel(
    numba.int64(
        *(_BYTES, _INTS, numba.int64, numba.boolean),
        *(numba.int64[::1], numba.uint8[::1], numba.int64[::1], numba.int64[::1]),
    )
)
def find_documents(
    data: NDArray[Any],
    line_ends: NDArray[Any],
    limit: int,
    whole: bool,
    state: NDArray[Any],
    text: NDArray[Any],
    text_ends: NDArray[Any],
    places: NDArray[Any],
) -> int:
    """Write the text of each document, its end there, and the place of its first line in `data`; returns how many.

    A document ends at a blank line, and at the end of the data where that is the `whole` rest; the bytes after the last
    one are left for the next call. A blank line that begins at `limit` or after it ends the work.
    """
    begin, at, count = 0, 0, 0
    # where the document that is being read begins, -1 between documents
    opened = -1
    state[USED] = 0
    for line in range(len(line_ends)):
        stop = line_ends[line]
        first, last = begin, stop
        while first < last and _is_space(data[first]):
            first += 1
        while first < last and _is_space(data[last - 1]):
            last -= 1
        if first == last:
            if opened >= 0:
                places[count], text_ends[count] = opened, at
                count += 1
                opened = -1
            if begin >= limit:
                state[ENDED] = 1
                return count
            state[SKIPPING] = 0
        elif state[SKIPPING]:
            if begin >= limit:
                state[ENDED] = 1
                return count
        else:
            if opened < 0:
                opened = begin
            else:
                text[at] = _NEWLINE
                text[at + 1] = _NEWLINE
                at += 2
            source, target = data[first:last], text[at : at + last - first]
            for place in range(len(target)):
                target[place] = source[place]
            at += last - first
        begin = stop + 1
        if opened < 0:
            state[USED] = min(begin, len(data))
    if whole:
        state[USED] = len(data)
        if opened >= 0:
            places[count], text_ends[count] = opened, at
            count += 1
    return count
