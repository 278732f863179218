"""The compiled core of `nsp`: draws for chunks, where a chunk is cut in two, and which pairs exchange their Bs.

It reads only within the ends and numbers that it is given; `chunks` and `nsp` check them. Its tests compare it with
plain Python.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, typed_kernel
from bertdata.kernels.mixer import GOLDEN, mix

NEAR = 64
"""How many places away a pair looks for one to swap with."""
TRIES = 256
"""How many pairs of other documents a pair without a partner looks at."""

_S32, _S63 = np.uint64(32), np.uint64(63)
_INTS, _FLAGS, _BITS = (
    numba.types.Array(kind, 1, "C", readonly=True) for kind in (numba.int64, numba.boolean, numba.uint64)
)
_OWN_INTS, _OWN_FLAGS = numba.int64[::1], numba.boolean[::1]


@typed_kernel(numba.void(_BITS, _BITS, _INTS, _INTS, numba.int64, numba.uint64[:, ::1]))
def draw_chunks(
    keys: NDArray[Any],
    document_keys: NDArray[Any],
    documents: NDArray[Any],
    numbers: NDArray[Any],
    copy: int,
    draws: NDArray[Any],
) -> None:
    """Write `counter_rng.bits(key, document key, copy, number)` of each chunk, a row for each key."""
    of_copy = mix(np.uint64(copy) + GOLDEN)
    for purpose in range(len(keys)):
        key, document, state = keys[purpose], -1, np.uint64(0)
        for chunk in range(len(documents)):
            if documents[chunk] != document:
                document = documents[chunk]
                state = mix(mix(key ^ mix(document_keys[document] + GOLDEN)) ^ of_copy)
            draws[purpose, chunk] = mix(state ^ mix(np.uint64(numbers[chunk]) + GOLDEN))


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
def _fits(a_lengths: Any, b_lengths: Any, owners: Any, room: Any, taker: Any, source: Any) -> Any:
    return owners[taker] != owners[source] and a_lengths[taker] + b_lengths[source] <= room


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
    """Write for each member, in order of the length of B, whose B it takes; returns for how many there is none.

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


@typed_kernel(numba.int64(_INTS, _INTS, _INTS, _BITS, numba.int64, _OWN_INTS, _OWN_INTS), makes_arrays=True)
def release(
    stuck: NDArray[Any],
    a_lengths: NDArray[Any],
    b_lengths: NDArray[Any],
    owners: NDArray[Any],
    room: int,
    sources: NDArray[Any],
    free: NDArray[Any],
) -> int:
    """Take stuck pairs out of the circles in which Bs are exchanged; returns how many pairs have their own B again.

    sources: whose B each pair takes, changed in place; `free` gets the pairs that are taken out. The pair that takes
    the B of a stuck pair takes instead the B that did not fit the stuck one. Where that does not fit either, all pairs
    of the circle are taken out, unless there are more than NEAR: then the stuck pair keeps the B that does not fit.
    """
    takers, out = np.empty(len(sources), np.int64), np.zeros(len(sources), np.bool_)
    for pair in range(len(sources)):
        takers[sources[pair]] = pair
    count = 0
    for pair in stuck:
        source, taker = sources[pair], takers[pair]
        if out[pair] or _fits(a_lengths, b_lengths, owners, room, pair, source):
            continue
        stuck_too = not _fits(a_lengths, b_lengths, owners, room, taker, pair)
        size, at = 1, pair
        if not (stuck_too or _fits(a_lengths, b_lengths, owners, room, taker, source)):
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
            sources[at], takers[at], out[at] = at, at, True
            free[count] = at
            count += 1
            at = following
    return count


@inlined
def _inner_ends(sentence_ends: Any, begin: Any, end: Any) -> Any:
    """Return the first sentence end between begin and end, by number, and how many there are."""
    first = np.searchsorted(sentence_ends, begin, side="right")
    return first, np.searchsorted(sentence_ends, end, side="left") - first


@inlined
def _cut_to_fit(
    sentence_ends: Any,
    word_start: Any,
    starts: Any,
    middles: Any,
    ends: Any,
    one: Any,
    other: Any,
    room: Any,
    words: Any,
) -> Any:
    """Return where two chunks are cut so that they can exchange their Bs, and whether they can.

    They are cut at sentence ends, tried in turn from where they are cut now; with `words` the other at a word start.
    """
    first, count = _inner_ends(sentence_ends, starts[one], ends[one])
    at = np.searchsorted(sentence_ends, middles[one]) - first if count else 0
    other_first, other_count = _inner_ends(sentence_ends, starts[other], ends[other])
    other_at = np.searchsorted(sentence_ends, middles[other]) - other_first if other_count else 0
    for turn in range(max(count, 1)):
        middle = sentence_ends[first + (at + turn) % count] if count else middles[one]
        least = max(starts[other] + 1, ends[other] - (room - (middle - starts[one])))
        most = min(ends[other] - 1, starts[other] + room - (ends[one] - middle))
        if words:
            for place in range(least, most + 1):
                if word_start[place]:
                    return middle, place, True
            continue
        for other_turn in range(max(other_count, 1)):
            place = middles[other]
            if other_count:
                place = sentence_ends[other_first + (other_at + other_turn) % other_count]
            if least <= place <= most:
                return middle, place, True
    return middles[one], middles[other], False


@inlined
def _other(by_owner: Any, begin: Any, end: Any, number: Any) -> Any:
    """Return a pair by its number among those that are not between begin and end."""
    return by_owner[number if number < begin else number + end - begin]


@typed_kernel(
    numba.int64(
        *(_INTS, _INTS, _FLAGS, _INTS, _OWN_INTS, _INTS, _INTS, _INTS, _INTS, _BITS, numba.int64, numba.boolean),
        *(_OWN_INTS, _OWN_FLAGS, _OWN_INTS),
    ),
    makes_arrays=True,
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
    sources: NDArray[Any],
    not_next: NDArray[Any],
    left: NDArray[Any],
) -> int:
    """Let free pairs exchange Bs with pairs of other documents, both cut again to fit; returns how many are left.

    A partner is another free pair, or an IsNext pair, which becomes NotNext; for each of the latter a free pair becomes
    IsNext in its turn, one that finds no partner first. by_owner: the pairs in order of their documents; begins, stops:
    where those of each free pair's document are in it. `middles`, `sources` and `not_next` are changed in place.
    """
    count = len(starts)
    open_ = ~not_next
    for pair in free:
        open_[pair] = True
    found = np.int64(0)
    for pair in range(count):
        found += not_next[pair]
    surplus = np.int64(0)
    if len(free):
        surplus = np.int64(2 * found > count or (2 * found == count and draws[free[0]] >> _S63 == 1))
    waiting = np.empty(len(free), np.int64)
    waits = 0
    for at in range(len(free)):
        pair = free[at]
        if not open_[pair]:
            continue
        if surplus > 0:
            not_next[pair] = False
            surplus -= 1
            continue
        others = count - (stops[at] - begins[at])
        tries = min(others, TRIES)
        start = np.int64(((draws[pair] >> _S32) * np.uint64(others)) >> _S32)
        partner = -1
        for inside in range(2 if words else 1):
            for turn in range(tries):
                other = _other(by_owner, begins[at], stops[at], (start + turn) % others)
                if open_[other]:
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
        surplus += not not_next[partner]
        not_next[partner] = True
        open_[pair] = open_[partner] = False
        sources[pair], sources[partner] = partner, pair
        while surplus > 0 and waits > 0:
            waits -= 1
            if open_[waiting[waits]]:
                not_next[waiting[waits]] = False
                surplus -= 1
    lefts = 0
    for at in range(waits):
        if open_[waiting[at]]:
            left[lefts] = waiting[at]
            lefts += 1
    return lefts
