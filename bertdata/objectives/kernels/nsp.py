"""The compiled core of `nsp`: where a chunk is cut in two, and which pairs exchange their Bs.

It reads only within the ends and numbers that it is given; `chunks` and `nsp` check them. Its tests compare it with
plain Python.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, typed_kernel

NEAR = 64
"""How many places away a pair looks for one to swap with."""
TRIES = 256
"""How many pairs of other documents a pair without a partner looks at."""

_S32 = np.uint64(32)
_INTS, _FLAGS, _BITS = (
    numba.types.Array(kind, 1, "C", readonly=True) for kind in (numba.int64, numba.boolean, numba.uint64)
)
_OWN_INTS, _OWN_FLAGS = numba.int64[::1], numba.boolean[::1]


@inlined
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


@typed_kernel(numba.void(_INTS, _FLAGS, _INTS, _INTS, _BITS, numba.int64[::1]))
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


@inlined
def fits(a_lengths: Any, b_lengths: Any, owners: Any, room: Any, taker: Any, source: Any) -> Any:
    """Tell whether a pair can take the B of another pair: it must be of another document, and short enough."""
    return (owners[taker] != owners[source]) & (a_lengths[taker] + b_lengths[source] <= room)


@typed_kernel(numba.int64(_INTS, _INTS, _INTS, _BITS, numba.int64, numba.int64[::1], numba.int64[::1]))
def assign_givers(
    members: NDArray[Any],
    a_lengths: NDArray[Any],
    b_lengths: NDArray[Any],
    owners: NDArray[Any],
    room: int,
    givers: NDArray[Any],
    conflicts: NDArray[Any],
) -> int:
    """Write for each member, in order of the length of B, whose B it takes; returns how many members get none.

    Of equal lengths each takes the B of the one before it, in a circle; lengths that occur once form a circle together.
    Where that does not fit, two near each other swap. `conflicts` gets the places of members without a B.
    """
    count = len(members)
    alone, first_alone = -1, -1
    begin = 0
    while begin < count:
        end = begin + 1
        while end < count and b_lengths[members[end]] == b_lengths[members[begin]]:
            end += 1
        # a circle of equal lengths
        if end - begin > 1:
            givers[begin] = members[end - 1]
            for place in range(begin + 1, end):
                givers[place] = members[place - 1]
        else:
            # lengths that occur once form one circle, which is closed after the loop
            if alone < 0:
                first_alone = begin
            else:
                givers[begin] = members[alone]
            alone = begin
        begin = end
    if alone >= 0:
        givers[first_alone] = members[alone]
    # where a B does not fit, swap with the nearest pair such that both fit
    for place in range(count):
        if fits(a_lengths, b_lengths, owners, room, members[place], givers[place]):
            continue
        other = -1
        for near in range(max(0, place - NEAR), min(count, place + NEAR + 1)):
            closer = other < 0 or abs(near - place) < abs(other - place)
            if (
                closer
                and fits(a_lengths, b_lengths, owners, room, members[place], givers[near])
                and fits(a_lengths, b_lengths, owners, room, members[near], givers[place])
            ):
                other = near
        if other >= 0:
            givers[place], givers[other] = givers[other], givers[place]
    stuck = 0
    for place in range(count):
        if not fits(a_lengths, b_lengths, owners, room, members[place], givers[place]):
            conflicts[stuck] = place
            stuck += 1
    return stuck


@typed_kernel(numba.int64(_INTS, _INTS, _INTS, _BITS, numba.int64, _OWN_INTS, _OWN_INTS, _OWN_INTS))
def release(
    stuck: NDArray[Any],
    a_lengths: NDArray[Any],
    b_lengths: NDArray[Any],
    owners: NDArray[Any],
    room: int,
    sources: NDArray[Any],
    takers: NDArray[Any],
    free: NDArray[Any],
) -> int:
    """Take stuck pairs out of the circles in which Bs are exchanged; returns how many pairs have their own B again.

    sources: whose B each pair takes; takers: who takes its B, -1 where the pair is taken out. Both are changed in
    place, and `free` gets the pairs that are taken out. The pair that takes the B of a stuck pair takes instead the B
    that did not fit the stuck one. Where that does not fit either, all pairs of the circle are taken out, unless there
    are more than NEAR: then the stuck pair keeps the B that does not fit.
    """
    count = 0
    for place in range(len(stuck)):
        pair = stuck[place]
        source, taker = sources[pair], takers[pair]
        if taker < 0 or fits(a_lengths, b_lengths, owners, room, pair, source):
            continue
        stuck_too = not fits(a_lengths, b_lengths, owners, room, taker, pair)
        size, at = 1, pair
        if not (stuck_too or fits(a_lengths, b_lengths, owners, room, taker, source)):
            at = source
            while at != pair and size <= NEAR:
                size, at = size + 1, sources[at]
            if size > NEAR:
                continue
        else:
            sources[taker], takers[source] = source, taker
            sources[pair], takers[pair] = pair, pair
        for _ in range(size):
            following = sources[at]
            sources[at], takers[at] = at, -1
            free[count] = at
            count += 1
            at = following
    return count


@inlined
def _number_to(ends: Any, place: Any) -> Any:
    """Return how many of the ends, which ascend, are not after a place."""
    low: Any = np.int64(0)
    high: Any = len(ends)
    while low < high:
        middle = (low + high) // 2
        if ends[middle] <= place:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _inner_ends(sentence_ends: Any, begin: Any, middle: Any, end: Any) -> Any:
    """Return which sentence end is the first between begin and end, how many there are, and which of them is middle."""
    first = _number_to(sentence_ends, begin)
    return first, _number_to(sentence_ends, end - 1) - first, _number_to(sentence_ends, middle - 1) - first


@inlined
def _cut_to_fit(
    sentence_ends: Any,
    word_start: Any,
    starts: Any,
    middles: Any,
    ends: Any,
    chunk: Any,
    partner: Any,
    room: Any,
    words: Any,
) -> Any:
    """Return where two chunks are cut so that they can exchange their Bs, and whether they can.

    They are cut at sentence ends, tried in turn from where they are cut now; with `words` the other at a word start.
    """
    first, count, at = _inner_ends(sentence_ends, starts[chunk], middles[chunk], ends[chunk])
    other_first, other_count, other_at = _inner_ends(sentence_ends, starts[partner], middles[partner], ends[partner])
    for turn in range(max(count, 1)):
        middle = sentence_ends[first + (at + turn) % count] if count else middles[chunk]
        least = max(starts[partner] + 1, ends[partner] - (room - (middle - starts[chunk])))
        most = min(ends[partner] - 1, starts[partner] + room - (ends[chunk] - middle))
        if words:
            for place in range(least, most + 1):
                if word_start[place]:
                    return middle, place, True
            continue
        for other_turn in range(max(other_count, 1)):
            place = middles[partner]
            if other_count:
                place = sentence_ends[other_first + (other_at + other_turn) % other_count]
            if least <= place <= most:
                return middle, place, True
    return middles[chunk], middles[partner], False


@inlined
def _other(by_owner: Any, begin: Any, end: Any, number: Any) -> Any:
    """Return a pair by its number among those that are not between begin and end."""
    return by_owner[number if number < begin else number + end - begin]


@typed_kernel(
    numba.int64(
        *(_INTS, _INTS, _FLAGS, _INTS, _OWN_INTS, _INTS, _INTS, _INTS, _INTS, _BITS, numba.int64, numba.boolean),
        *(numba.int64, _OWN_INTS, _OWN_FLAGS, _OWN_FLAGS, _OWN_INTS),
    )
)
def pair_again(
    free: NDArray[Any],
    sentence_ends: NDArray[Any],
    word_start: NDArray[Any],
    starts: NDArray[Any],
    middles: NDArray[Any],
    ends: NDArray[Any],
    by_owner: NDArray[Any],
    begins: NDArray[Any],
    stops: NDArray[Any],
    draws: NDArray[Any],
    room: int,
    words: bool,
    surplus: int,
    sources: NDArray[Any],
    not_next: NDArray[Any],
    is_open: NDArray[Any],
    waiting: NDArray[Any],
) -> int:
    """Let free pairs exchange Bs with pairs of other documents, both cut again to fit; returns how many found none.

    A partner is another free pair, or an IsNext pair, which becomes NotNext; for each of the latter a free pair becomes
    IsNext in its turn, one that finds no partner first. by_owner: the pairs in order of their documents; begins, stops:
    where those of each free pair's document are in it; surplus: how many free pairs become IsNext at first; is_open:
    the pairs that may be partners, the free ones among them. `waiting` gets those that found none; they may since have
    become partners, and are not open then. `middles`, `sources`, `not_next` and `is_open` are changed in place.
    """
    waits = 0
    for at in range(len(free)):
        pair = free[at]
        if not is_open[pair]:
            continue
        if surplus > 0:
            not_next[pair] = False
            surplus -= 1
            continue
        others = len(starts) - (stops[at] - begins[at])
        tries = min(others, TRIES)
        start = np.int64(((draws[pair] >> _S32) * np.uint64(others)) >> _S32)
        partner = -1
        # cuts at sentence ends first, then at word starts
        for inside in range(2 if words else 1):
            for turn in range(tries):
                other = _other(by_owner, begins[at], stops[at], (start + turn) % others)
                if is_open[other]:
                    middle, place, fit = _cut_to_fit(
                        sentence_ends, word_start, starts, middles, ends, pair, other, room, inside == 1
                    )
                    if fit:
                        partner = other
                        middles[pair], middles[other] = middle, place
                        break
            if partner >= 0:
                break
        if partner < 0:
            waiting[waits] = pair
            waits += 1
            continue
        # an IsNext partner becomes NotNext, so a free pair must become IsNext
        surplus += not not_next[partner]
        not_next[partner] = True
        is_open[pair] = is_open[partner] = False
        sources[pair], sources[partner] = partner, pair
        while surplus > 0 and waits > 0:
            waits -= 1
            if is_open[waiting[waits]]:
                not_next[waiting[waits]] = False
                surplus -= 1
    return waits
