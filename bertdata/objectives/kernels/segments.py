"""The compiled core of `chunks` and `full_sentences`: documents cut one by one, or joined and cut, each draw a hash.

It reads only within the ends that it is given; `chunks` checks them. Its tests compare it with loops in plain Python.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import typed_kernel
from bertdata.kernels.mixer import GOLDEN, mix

SHORT, LENGTH, SINGLE, ROOM = range(4)
"""Places of the keys of the draws, and of the thresholds of those that have one."""

_S32 = np.uint64(32)
_INTS, _FLAGS, _BITS = (
    numba.types.Array(kind, 1, "C", readonly=True) for kind in (numba.int64, numba.boolean, numba.uint64)
)


@typed_kernel(numba.uint64(numba.uint64, numba.uint64, numba.uint64, numba.uint64))
def _draw(key: Any, owner: Any, copy: Any, number: Any) -> Any:
    """The high half of `counter_rng.bits(key, owner, copy, number)`."""
    state = mix(mix(key ^ mix(owner + GOLDEN)) ^ mix(copy + GOLDEN))
    return mix(state ^ mix(number + GOLDEN)) >> _S32


@typed_kernel(
    numba.int64(
        *(_INTS, _INTS, _BITS, _FLAGS, _BITS, _BITS, numba.int64, numba.int64, numba.int64),
        *(numba.int64, numba.boolean, numba.boolean, numba.int64[:, ::1]),
    )
)
def cut_documents(
    sentence_ends: NDArray[Any],
    document_ends: NDArray[Any],
    document_keys: NDArray[Any],
    word_start: NDArray[Any],
    keys: NDArray[Any],
    thresholds: NDArray[Any],
    copy: int,
    room: int,
    room_alone: int,
    least_room: int,
    two_sentences: bool,
    fill: bool,
    chunks: NDArray[Any],
) -> int:
    """Write (document, number, start, end) of each chunk into `chunks`; returns how many there are, written or not.

    A chunk ends with the sentence that reaches its target, or with its second sentence; it takes a third if that is the
    last of the document and there is room. A chunk that overflows the room is cut at a word start or, without `fill`,
    after its last whole sentence if it has one.
    """
    count, begin, sentence = 0, 0, 0
    for document in range(len(document_ends)):
        limit, owner = document_ends[document], document_keys[document]
        # the last sentence of the document
        last = sentence
        while last + 1 < len(sentence_ends) and sentence_ends[last] < limit:
            last += 1
        number = 0
        while begin < limit:
            space: Any = room
            if least_room < room:
                space = least_room + np.int64(
                    _draw(keys[ROOM], owner, copy, number) * np.uint64(room - least_room + 1) >> _S32
                )
            if thresholds[SINGLE] and _draw(keys[SINGLE], owner, copy, number) < thresholds[SINGLE]:
                space = room_alone
            # `sentence` is the first that ends after `begin`, `at` the one with which the chunk ends
            at = sentence
            if two_sentences:
                third = at + 2 == last and sentence_ends[last] - begin <= space
                at = last if third else min(at + 1, last)
            else:
                target: Any = space
                if _draw(keys[SHORT], owner, copy, number) < thresholds[SHORT]:
                    drawn = _draw(keys[LENGTH], owner, copy, number) * np.uint64(space - 1)
                    target = 2 + np.int64(drawn >> _S32)
                while at < last and sentence_ends[at] - begin < target:
                    at += 1
            end = min(sentence_ends[at], limit)
            if end - begin > space:
                end = begin + space
                if not fill and sentence_ends[sentence] <= end:
                    at = sentence
                    while at < last and sentence_ends[at + 1] <= end:
                        at += 1
                    end = sentence_ends[at]
                else:
                    # back to a word start, or a cut inside a word where there is none
                    border = end
                    while border > begin and not word_start[border]:
                        border -= 1
                    if border > begin:
                        end = border
            if count < len(chunks):
                chunks[count, 0], chunks[count, 1], chunks[count, 2], chunks[count, 3] = document, number, begin, end
            count += 1
            number += 1
            begin = end
            while sentence < last and sentence_ends[sentence] <= begin:
                sentence += 1
        sentence = last + 1 if last + 1 < len(sentence_ends) else last
    return count


@typed_kernel(
    numba.int64(
        *(_INTS, _BITS, numba.uint64, numba.int64, numba.int64, numba.int64, numba.int64),
        numba.int64[::1],
    )
)
def cut_joined(
    document_ends: NDArray[Any],
    document_keys: NDArray[Any],
    key: Any,
    copy: int,
    room: int,
    least_room: int,
    separator: int,
    starts: NDArray[Any],
) -> int:
    """Write where each row of the joined documents begins into `starts`; returns how many there are, written or not.

    Within a row a document after the first costs `separator` more. A row without room for that and a token ends before.
    """
    count, begin, document, document_begin = 0, 0, 0, 0
    while document < len(document_ends):
        if count < len(starts):
            starts[count] = begin
        count += 1
        room_left: Any = room
        if least_room < room:
            drawn = _draw(key, document_keys[document], copy, begin - document_begin)
            room_left = least_room + np.int64(drawn * np.uint64(room - least_room + 1) >> _S32)
        while room_left > 0 and document < len(document_ends):
            taken = min(room_left, document_ends[document] - begin)
            begin += taken
            room_left -= taken + separator
            if begin == document_ends[document]:
                document += 1
                document_begin = begin
            else:
                break
    return count


@typed_kernel(
    numba.int64(
        *(_INTS, _INTS, _INTS, _INTS, _BITS, _BITS, numba.uint64, numba.int64, numba.int64, numba.int64),
        *(numba.int64[:, ::1], numba.int64[::1], numba.int64[::1]),
    )
)
def join_sentences(
    documents: NDArray[Any],
    numbers: NDArray[Any],
    starts: NDArray[Any],
    ends: NDArray[Any],
    document_keys: NDArray[Any],
    keys: NDArray[Any],
    short: Any,
    copy: int,
    room: int,
    separator: int,
    spans: NDArray[Any],
    offsets: NDArray[Any],
    firsts: NDArray[Any],
) -> int:
    """Write the rows of whole sentences, and return how many there are.

    documents, numbers, starts, ends: of each sentence (S,), `numbers` within its document; short: the threshold of the
    draw for a row of a drawn length. spans (S, 2) gets the spans of rows, offsets (S+1,) where each row begins in them
    and where the last ends, firsts (S,) the first sentence of each row. There are at most S spans and rows.
    """
    rows, parts = 0, 0
    used, target, last = room, np.int64(0), np.int64(-1)
    for sentence in range(len(starts)):
        document, length = documents[sentence], ends[sentence] - starts[sentence]
        cost = length + (separator if document != last else 0)
        if used >= target or used + cost > room:
            offsets[rows], firsts[rows] = parts, sentence
            rows += 1
            owner, number = document_keys[document], np.uint64(numbers[sentence])
            target = np.int64(room)
            if _draw(keys[SHORT], owner, copy, number) < short:
                target = 2 + np.int64(_draw(keys[LENGTH], owner, copy, number) * np.uint64(room - 1) >> _S32)
            used, cost, last = -separator, length + separator, np.int64(-1)
        if document == last:
            spans[parts - 1, 1] = ends[sentence]
        else:
            spans[parts, 0], spans[parts, 1] = starts[sentence], ends[sentence]
            parts += 1
        used += cost
        last = document
    offsets[rows] = parts
    return rows
