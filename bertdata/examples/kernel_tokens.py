"""The compiled core of masking single tokens, which is most of what is masked: nothing is sorted, a hash a token.

Importing this module compiles, or loads what an earlier process compiled; import it where it is called. It reads what
its offsets name and no more: `masking.mask_tokens` checks them. The readable twin is `_educational.mask_row`.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.compiled import compiled_for
from bertdata.examples.kernel import ACTION, GOLDEN, NUMBER, REPLACEMENT, UNIT, mix

_0, _S32 = np.uint64(0), np.uint64(32)
_ALL = 2.0**64
_HIGHEST = _ALL * (1 - 2.0**-40)
_TRIES = 40
IGNORED = -100

_I, _U, _D, _VOID = numba.int64, numba.uint64, numba.float64, numba.void
_US, _US32 = numba.uint64[::1], numba.uint32[::1]
_FORMS = (
    (numba.uint16, numba.int64, numba.int64),
    (numba.int64, numba.int64, numba.int64),
    (numba.uint16, numba.uint16, numba.int16),
)
"""Of the ids given, of those written, of labels."""


def _given(kind: Any) -> Any:
    return numba.types.Array(kind, 1, "C", readonly=True)


_GIVEN_IS, _GIVEN_US, _GIVEN_BS = map(_given, (_I, _U, numba.boolean))


@compiled_for(_U(_US, _I, _I, _D))
def _bound(draws: NDArray[np.uint64], count: int, needed: int, high: float) -> Any:
    """Return a bound that `needed` of the first `count` draws are below, all being below `high`; 0 where none is found.

    Draws are spread evenly, so the bound is looked for where it lies if they are, between those known to be too low and
    too high.
    """
    low, fewer, more = 0.0, 0, count + 1
    for _ in range(_TRIES):
        guess = low + (high - low) * (needed + 0.5 - fewer) / (more - fewer)
        bound, found = np.uint64(guess), 0
        for place in range(count):
            found += draws[place] < bound
        if found == needed:
            return bound
        if found < needed:
            low, fewer = guess, found
        else:
            high, more = guess, found
    return _0


@compiled_for(_VOID(_US, _GIVEN_BS, _I, _US32))
def _take_lowest(
    draws: NDArray[np.uint64], special: NDArray[np.bool_], needed: int, chosen: NDArray[np.uint32]
) -> None:
    """Put the `needed` places of the lowest draws into `chosen`, one after another, of equal ones the first."""
    for taken in range(needed):
        lowest = -1
        for place in range(len(special)):
            if not special[place] and (lowest < 0 or draws[place] < draws[lowest]):
                barred = False
                for at in range(taken):
                    barred |= chosen[at] == place
                if not barred:
                    lowest = place
        chosen[taken] = np.uint32(lowest)


@compiled_for(
    *[
        _I(
            _given(kind),
            ids[::1],
            labels[::1],
            *(_GIVEN_IS, _GIVEN_BS, _GIVEN_IS, _GIVEN_US, _GIVEN_US, _I, _I, _GIVEN_IS),
        )
        for kind, ids, labels in _FORMS
    ]
)
def mask_batch_of_tokens(
    given: NDArray[np.integer],
    ids: NDArray[np.integer],
    labels: NDArray[np.signedinteger],
    offsets: NDArray[np.int64],
    special: NDArray[np.bool_],
    example_ids: NDArray[np.int64],
    keys: NDArray[np.uint64],
    shares: NDArray[np.uint64],
    limit: int,
    mask_token_id: int,
    replacement_ids: NDArray[np.int64],
) -> int:
    """Write the masked ids and the labels of the rows of `given`; returns in how many rows the limit bit.

    The other arguments are those of `kernel.mask_batch`. What is in no row is written by nobody.
    """
    longest = 1
    for row in range(len(example_ids)):
        longest = max(longest, offsets[row + 1] - offsets[row])
    place_bits, draws = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    for place in range(longest):
        place_bits[place] = mix(np.uint64(place) + GOLDEN)
    low_draws = np.empty(longest + 1, np.uint64)
    places, chosen = np.empty(longest + 1, np.uint32), np.empty(longest + 1, np.uint32)
    choices, to_mask, to_random = np.uint64(len(replacement_ids)), shares[1], shares[2]
    capped = 0
    for row in range(len(example_ids)):
        begin, end = offsets[row], offsets[row + 1]
        row_ids, row_labels, row_special = ids[begin:end], labels[begin:end], special[begin:end]
        owner = mix(np.uint64(example_ids[row]) + GOLDEN)
        unit_key, length = mix(keys[UNIT] ^ owner), len(row_ids)
        row_given, barred = given[begin:end], 0
        for place in range(length):
            row_ids[place] = row_given[place]
            row_labels[place] = IGNORED
        for place in range(length):
            draws[place] = mix(unit_key ^ place_bits[place]) | (_0 - np.uint64(row_special[place]))
            barred += row_special[place]
        tokens = length - barred
        if tokens == 0:
            continue
        fraction = mix(keys[NUMBER] ^ owner) >> _S32
        wanted: Any = np.int64((np.uint64(tokens) * shares[0] + fraction) >> _S32)
        wanted = min(max(wanted, 1), tokens)
        if 0 < limit < wanted:
            wanted = limit
            capped += 1
        high, found, taken, spread = 0.0, 0, 0, 3.0
        while found < wanted and high < _HIGHEST:
            high = min((wanted + spread * math.sqrt(wanted) + 4.0) / tokens * _ALL, _HIGHEST)
            limit_of_all, found, spread = np.uint64(high), 0, spread * 4.0
            for place in range(length):
                low_draws[found] = draws[place]
                places[found] = np.uint32(place)
                found += draws[place] < limit_of_all
        bound = _bound(low_draws, found, wanted, high) if found >= wanted else _0
        for at in range(found if bound else 0):
            chosen[taken] = places[at]
            taken += low_draws[at] < bound
        if taken < wanted:
            _take_lowest(draws, row_special, wanted, chosen)
        action_key, replacement_key = mix(keys[ACTION] ^ owner), mix(keys[REPLACEMENT] ^ owner)
        for at in range(wanted):
            place_at = chosen[at]
            token: Any = np.int64(row_ids[place_at])
            row_labels[place_at] = token
            action = mix(action_key ^ place_bits[place_at]) >> _S32
            if to_mask <= action < to_random:
                choice = mix(replacement_key ^ place_bits[place_at]) >> _S32
                token = replacement_ids[(choice * choices) >> _S32]
            row_ids[place_at] = mask_token_id if action < to_mask else token
    return capped


@compiled_for(*[_VOID(_given(ids), _given(labels), _I, numba.int64[::1]) for _, ids, labels in _FORMS[1:]])
def count_masked(
    ids: NDArray[np.integer], labels: NDArray[np.signedinteger], mask_token_id: int, counts: NDArray[np.int64]
) -> None:
    """Write into `counts` how many tokens are predicted, how many of these are [MASK] now, how many as they were."""
    predicted, masked, kept = 0, 0, 0
    for place in range(min(len(ids), len(labels))):
        label, shown = np.int64(labels[place]), np.int64(ids[place])
        wanted = label != IGNORED
        predicted += wanted
        masked += wanted & (shown == mask_token_id)
        kept += wanted & (shown == label)
    counts[0], counts[1], counts[2] = predicted, masked, kept
