"""The compiled core of masking units of words: one pass over a batch, in place, each draw a hash.

It reads what its offsets name and no more: `masking.Masker` checks them. The readable twin is `reference.mask_row`.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import typed_kernel
from bertdata.kernels.mixer import GOLDEN, mix, sort_draws

NUMBER, UNIT, LENGTH, WINDOW, ACTION, REPLACEMENT = range(6)
"""Places of the keys of a mask's draws."""

_S32 = np.uint64(32)

_I, _U, _B, _VOID = numba.int64, numba.uint64, numba.boolean, numba.void
_IS, _US, _US32 = numba.int64[::1], numba.uint64[::1], numba.uint32[::1]
_GIVEN_IS, _GIVEN_US, _GIVEN_BS = (numba.types.Array(kind, 1, "C", readonly=True) for kind in (_I, _U, _B))


@typed_kernel(
    _I(
        *(_IS, _IS, _GIVEN_IS, _GIVEN_BS, _GIVEN_IS, _GIVEN_BS, _GIVEN_US, _GIVEN_US, _GIVEN_US),
        *(_I, _I, _GIVEN_IS, _B),
    ),
    makes_arrays=True,
)
def mask_batch(
    ids: NDArray[np.int64],
    labels: NDArray[np.int64],
    offsets: NDArray[np.int64],
    special: NDArray[np.bool_],
    example_ids: NDArray[np.int64],
    continuation: NDArray[np.bool_],
    keys: NDArray[np.uint64],
    shares: NDArray[np.uint64],
    lengths: NDArray[np.uint64],
    limit: int,
    mask_token_id: int,
    replacement_ids: NDArray[np.int64],
    action_by_unit: bool,
) -> int:
    """Mask rows in place and write their labels; returns in how many rows the limit bit.

    keys: those of the draws, the epoch mixed in; shares: the thresholds of prediction, [MASK], and [MASK] or random;
    lengths: the thresholds of 1, 2, ... words in a unit; labels come filled with -100. In a row, `most` is how many
    places a unit has on the circle at most, and `around` is how many places the circle has (see `masking`).
    """
    longest = 1
    for row in range(len(example_ids)):
        longest = max(longest, offsets[row + 1] - offsets[row])
    place_bits = np.empty(longest, np.uint64)
    for place in range(longest):
        place_bits[place] = mix(np.uint64(place) + GOLDEN)
    draws = np.empty(longest, np.uint64)
    first, size = np.empty(longest, np.int64), np.empty(longest, np.int64)
    kept, order = np.empty(longest, np.uint32), np.empty(longest, np.uint32)
    buckets = np.empty(2 * longest + 2, np.uint32)
    choices = np.uint64(len(replacement_ids))
    capped = 0
    for row in range(len(example_ids)):
        begin, end = offsets[row], offsets[row + 1]
        owner = mix(np.uint64(example_ids[row]) + GOLDEN)
        unit_key = mix(keys[UNIT] ^ owner)
        length_key = mix(keys[LENGTH] ^ owner)

        words, tokens, joined = 0, 0, False
        for position in range(begin, end):
            if special[position]:
                joined = False
                continue
            token = ids[position]
            if joined and 0 <= token < len(continuation) and continuation[token]:
                size[words - 1] += 1
            else:
                first[words], size[words] = position - begin, 1
                words += 1
            joined = True
            tokens += 1
        if tokens == 0:
            continue

        most: Any = max(np.int64((np.uint64(tokens) * shares[0]) >> _S32), 1)
        while True:
            around: Any = 0
            for word in range(words):
                around += min(size[word], most)
            fewer: Any = np.int64((np.uint64(around) * shares[0]) >> _S32)
            if most <= max(fewer, 1):
                break
            most = max(fewer, 1)

        longest_unit = min(most, limit) if limit > 0 else most
        units, words_left = 0, 0
        for word in range(words):
            head, count = first[word], size[word]
            in_segment = head > 0 and not special[begin + head - 1]
            if words_left > 0 and in_segment and size[units - 1] + count <= longest_unit:
                size[units - 1] += count
            else:
                draw = mix(length_key ^ place_bits[head]) >> _S32
                words_left = 1
                for shorter in range(len(lengths) - 1):
                    words_left += draw >= lengths[shorter]
                first[units], size[units] = head, count
                draws[units] = mix(unit_key ^ place_bits[head])
                kept[units] = np.uint32(units)
                units += 1
            words_left -= 1

        fraction = mix(keys[NUMBER] ^ owner) >> _S32
        wanted: Any = np.int64((np.uint64(around) * shares[0] + fraction) >> _S32)
        wanted = min(max(wanted, 1), around)
        window: Any = np.int64(((mix(keys[WINDOW] ^ owner) >> _S32) * np.uint64(around)) >> _S32)
        sort_draws(draws, kept, units, tokens, order, buckets)
        start, at = 0, 0
        while at < units and start < window:
            start += min(size[order[at]], most)
            at += 1
        if at == units:
            start, at = 0, 0
        distance = start - window if start >= window else start - window + around
        chosen, turns = 0, 0
        while turns < units and distance < wanted:
            count = size[order[(at + turns) % units]]
            chosen += count
            distance += min(count, most)
            turns += 1
        room: Any = chosen
        if 0 < limit < chosen:
            room, turns = limit, units
            capped += 1
        taken = 0
        action_key, replacement_key = mix(keys[ACTION] ^ owner), mix(keys[REPLACEMENT] ^ owner)
        for turn in range(turns):
            unit = np.int64(order[(at + turn) % units])
            head, count = first[unit], size[unit]
            if taken == 0:
                count = min(count, room)
            if taken + count > room:
                continue
            taken += count
            for place in range(head, head + count):
                position = begin + place
                labels[position] = ids[position]
                acting = head if action_by_unit else place
                action = mix(action_key ^ place_bits[acting]) >> _S32
                if action < shares[1]:
                    ids[position] = mask_token_id
                elif action < shares[2]:
                    choice = mix(replacement_key ^ place_bits[place]) >> _S32
                    ids[position] = replacement_ids[np.int64((choice * choices) >> _S32)]
    return capped
