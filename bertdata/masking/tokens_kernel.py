"""The compiled core of masking single tokens, which is most of what is masked: nothing is sorted, a hash a token.

It reads what its offsets name and no more: `masking.Masker` checks them. The readable twin is `reference.mask_row`.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import typed_kernel
from bertdata.kernels.mixer import GOLDEN, mix
from bertdata.masking.units_kernel import ACTION, NUMBER, REPLACEMENT, UNIT

_0, _S32 = np.uint64(0), np.uint64(32)
_ALL, _NONE, _HIGHEST = 2.0**32, np.uint32(0), np.uint32(0xFFFFFFFF)
_TRIES, _STEPS = 30, 2
IGNORED = -100

_I, _U, _U32, _VOID = numba.int64, numba.uint64, numba.uint32, numba.void
_US, _US32 = numba.uint64[::1], numba.uint32[::1]
_FORMS = (
    (numba.uint16, numba.int64, numba.int64),
    (numba.int64, numba.int64, numba.int64),
    (numba.uint16, numba.uint16, numba.int16),
)
"""The types that it is compiled for: of input ids, output ids, labels."""


def _given(kind: Any) -> Any:
    return numba.types.Array(kind, 1, "C", readonly=True)


_GIVEN_IS, _GIVEN_US, _GIVEN_BS = map(_given, (_I, _U, numba.boolean))


@typed_kernel(_U32(_US32, _I, _I, _I))
def _bound(highs: NDArray[np.uint32], count: int, tokens: int, needed: int) -> Any:
    """Return a bound that `needed` of the first `count` draws are below, 0 where none is found.

    `tokens` of them are draws, the others the highest number. Draws are uniform, so the bound is found by interpolation
    between one that is too low and one that is too high; the last steps go from draw to draw. Equal draws may leave it
    with too many or too few.
    """
    low, high, fewer, more = 0.0, _ALL - 1, 0, tokens + 1
    guess = _ALL * (needed + 0.5) / more
    for _ in range(_TRIES):
        bound, found = np.uint32(guess), 0
        for place in range(count):
            found += highs[place] < bound
        if abs(found - needed) <= _STEPS:
            for _step in range(found - needed):
                highest = _NONE
                for place in range(count):
                    highest = max(highest, highs[place] if highs[place] < bound else _NONE)
                bound = highest
            for _step in range(needed - found):
                lowest = _HIGHEST
                for place in range(count):
                    lowest = min(lowest, highs[place] if highs[place] >= bound else _HIGHEST)
                bound = np.uint32(min(np.int64(lowest) + 1, np.int64(_HIGHEST)))
            return bound
        if found < needed:
            low, fewer = guess, found
        else:
            high, more = guess, found
        guess = low + (high - low) * (needed + 0.5 - fewer) / (more - fewer)
    return _NONE


@typed_kernel(_VOID(_US, _GIVEN_BS, _I, _US32))
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


@typed_kernel(
    *[
        _I(
            _given(kind),
            ids[::1],
            labels[::1],
            *(_GIVEN_IS, _GIVEN_BS, _GIVEN_IS, _GIVEN_US, _GIVEN_US, _I, _I, _GIVEN_IS),
        )
        for kind, ids, labels in _FORMS
    ],
    makes_arrays=True,
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
    """Write masked ids and labels of the rows of `given`; returns the number of rows cut to `limit` predictions.

    The other arguments are those of `units_kernel.mask_batch`. Positions outside all rows stay as they are.
    """
    longest = 1
    for row in range(len(example_ids)):
        longest = max(longest, offsets[row + 1] - offsets[row])
    place_bits, draws, highs = np.empty(longest, np.uint64), np.empty(longest, np.uint64), np.empty(longest, np.uint32)
    for place in range(longest):
        place_bits[place] = mix(np.uint64(place) + GOLDEN)
    chosen = np.empty(longest + 1, np.uint32)
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
            draw = mix(unit_key ^ place_bits[place]) | (_0 - np.uint64(row_special[place]))
            highs[place] = np.uint32(draw >> _S32)
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
        bound, taken = _bound(highs, length, tokens, wanted), 0
        for place in range(length):
            chosen[taken] = np.uint32(place)
            taken += highs[place] < bound
        if taken != wanted:
            for place in range(length):
                draws[place] = mix(unit_key ^ place_bits[place])
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


@typed_kernel(*[_VOID(_given(ids), _given(labels), _I, numba.int64[::1]) for _, ids, labels in _FORMS[1:]])
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
