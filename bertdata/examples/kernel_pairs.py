"""The compiled core of `pairs`: draws for chunks, where a chunk is cut in two, and which pairs exchange their Bs.

Importing this module compiles, or loads what an earlier process compiled; import it where it is called. It reads within
the ends and numbers that it is given: `segments` and `pairs` check them. Its tests hold it against plain Python.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.compiled import compiled_for, inner
from bertdata.kernel_draws import GOLDEN, mix

NEAR = 64
"""How many places away a pair looks for one to swap with."""

_S32 = np.uint64(32)
_INTS, _FLAGS, _BITS = (
    numba.types.Array(kind, 1, "C", readonly=True) for kind in (numba.int64, numba.boolean, numba.uint64)
)


@compiled_for(numba.void(_BITS, _BITS, _INTS, _INTS, numba.int64, numba.uint64[:, ::1]))
def draw_chunks(
    keys: NDArray[Any],
    document_keys: NDArray[Any],
    documents: NDArray[Any],
    numbers: NDArray[Any],
    copy: int,
    draws: NDArray[Any],
) -> None:
    """Write `draws.bits(key, document key, copy, number)` of each chunk, a row for each key."""
    of_copy = mix(np.uint64(copy) + GOLDEN)
    for purpose in range(len(keys)):
        key, document, state = keys[purpose], -1, np.uint64(0)
        for chunk in range(len(documents)):
            if documents[chunk] != document:
                document = documents[chunk]
                state = mix(mix(key ^ mix(document_keys[document] + GOLDEN)) ^ of_copy)
            draws[purpose, chunk] = mix(state ^ mix(np.uint64(numbers[chunk]) + GOLDEN))


@inner
def _nearest_word_start(word_start: Any, begin: Any, end: Any) -> Any:
    """Return the word start between begin and end that is nearest the middle, of two the first; `begin` if none is."""
    before = (begin + end) // 2
    after = min(before + 1, end)
    while before > begin and not word_start[before]:
        before -= 1
    while after < end and not word_start[after]:
        after += 1
    nearer = after < end and (before == begin or 2 * after - begin - end < begin + end - 2 * before)
    return after if nearer else before


@compiled_for(numba.void(_INTS, _FLAGS, _INTS, _INTS, _BITS, numba.int64[::1]))
def split_chunks(
    sentence_ends: NDArray[Any],
    word_start: NDArray[Any],
    starts: NDArray[Any],
    ends: NDArray[Any],
    draws: NDArray[Any],
    middle: NDArray[Any],
) -> None:
    """Write where each chunk is cut in two; chunks come in order and do not overlap."""
    first = 0
    for chunk in range(len(starts)):
        begin, end = starts[chunk], ends[chunk]
        while first < len(sentence_ends) and sentence_ends[first] <= begin:
            first += 1
        inner_ends = 0
        while first + inner_ends < len(sentence_ends) and sentence_ends[first + inner_ends] < end:
            inner_ends += 1
        if inner_ends:
            chosen = ((draws[chunk] >> _S32) * np.uint64(inner_ends)) >> _S32
            middle[chunk] = sentence_ends[first + np.int64(chosen)]
        else:
            middle[chunk] = _nearest_word_start(word_start, begin, end)


@inner
def _fits(a_lengths: Any, b_lengths: Any, owners: Any, room: Any, taker: Any, source: Any) -> Any:
    return owners[taker] != owners[source] and a_lengths[taker] + b_lengths[source] <= room


@compiled_for(numba.int64(_INTS, _INTS, _INTS, _BITS, numba.int64, numba.int64[::1], numba.int64[::1]))
def deal(
    members: NDArray[Any],
    a_lengths: NDArray[Any],
    b_lengths: NDArray[Any],
    owners: NDArray[Any],
    room: int,
    givers: NDArray[Any],
    conflicts: NDArray[Any],
) -> int:
    """Write for each of the members, in order of the length of B, whose B it takes; returns how many find none.

    Of equal lengths each takes from the one before it, in a circle; lengths that occur once take turns among
    themselves. Where that does not fit, two swap that stand near each other. `conflicts` gets the places of those that
    find none.
    """
    count = len(members)
    alone, first_alone = -1, -1
    begin = 0
    while begin < count:
        end = begin + 1
        while end < count and b_lengths[members[end]] == b_lengths[members[begin]]:
            end += 1
        if end - begin > 1:
            givers[begin] = members[end - 1]
            for place in range(begin + 1, end):
                givers[place] = members[place - 1]
        else:
            if alone < 0:
                first_alone = begin
            else:
                givers[begin] = members[alone]
            alone = begin
        begin = end
    if alone >= 0:
        givers[first_alone] = members[alone]
    for place in range(count):
        if _fits(a_lengths, b_lengths, owners, room, members[place], givers[place]):
            continue
        other = -1
        for near in range(max(0, place - NEAR), min(count, place + NEAR + 1)):
            closer = other < 0 or abs(near - place) < abs(other - place)
            if (
                closer
                and _fits(a_lengths, b_lengths, owners, room, members[place], givers[near])
                and _fits(a_lengths, b_lengths, owners, room, members[near], givers[place])
            ):
                other = near
        if other >= 0:
            givers[place], givers[other] = givers[other], givers[place]
    stuck = 0
    for place in range(count):
        if not _fits(a_lengths, b_lengths, owners, room, members[place], givers[place]):
            conflicts[stuck] = place
            stuck += 1
    return stuck
