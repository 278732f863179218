"""The compiled core of masking: units of words, and single tokens, which are most of what is masked; a hash a draw.

Kernels read what the offsets name and no more: `masking.Masker` checks them. The readable reference of both is
`tests/oracles/masking.py`.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, typed_kernel
from bertdata.kernels.mixer import GOLDEN, mix, sort_draws
from bertdata.masking.lowest_kernel import bound_by_halves, bound_of, take_lowest
from bertdata.masking.smoothing_kernel import weigh

NUMBER, UNIT, LENGTH, WINDOW, ACTION, REPLACEMENT = range(6)
"""Places of the keys of a mask's draws."""
IGNORED = -100

_0, _S32 = np.uint64(0), np.uint64(32)


def _read_only(kind: Any) -> Any:
    return numba.types.Array(kind, 1, "C", readonly=True)


_I, _U32, _B, _VOID = numba.int64, numba.uint32, numba.boolean, numba.void
_IS, _US, _US32 = numba.int64[::1], numba.uint64[::1], numba.uint32[::1]
_READ_IS, _READ_US, _READ_BS = map(_read_only, (_I, numba.uint64, _B))
_TABLE = numba.types.Array(_I, 2, "C", readonly=True)
_FORMS = (
    (numba.uint16, numba.int64, numba.int64),
    (numba.int64, numba.int64, numba.int64),
    (numba.uint16, numba.uint16, numba.int16),
)
"""The types that the kernel of single tokens is compiled for: of input ids, output ids, labels."""


@inlined
def _most_tokens(offsets: Any, rows: Any) -> Any:
    """Return the tokens of the longest row, at least 1."""
    longest = 1
    for row in range(rows):
        longest = max(longest, offsets[row + 1] - offsets[row])
    return longest


@inlined
def _mix_places(place_bits: Any) -> None:
    """Write what the places of a row add to a draw: `place_bits[p]` is `mix(p + GOLDEN)`."""
    for place in range(len(place_bits)):
        place_bits[place] = mix(np.uint64(place) + GOLDEN)


_ROWS = (_READ_IS, _READ_BS, _READ_IS, _READ_IS, _READ_US)
"""The types of `masked.Rows`."""
_SHARES, _TURNS = (_READ_IS,) * 3, (_READ_IS,) * 5
"""The types of a `law.RowLaw`, and of its turns."""


@inlined
def _of(values: Any, row: Any) -> Any:
    """Return the value of a row: its own, or the one of all rows."""
    return np.uint64(values[row if row < len(values) else 0])


@typed_kernel(
    _I(*(_IS, _IS), *_ROWS, *_SHARES, *_TURNS, *(_READ_BS, _READ_BS, _READ_US, _I, _I, _READ_IS, _B)),
    makes_arrays=True,
)
def mask_units(
    ids: NDArray[np.int64],
    labels: NDArray[np.int64],
    offsets: NDArray[np.int64],
    special: NDArray[np.bool_],
    example_ids: NDArray[np.int64],
    epochs: NDArray[np.int64],
    keys: NDArray[np.uint64],
    rate: NDArray[np.int64],
    to_mask: NDArray[np.int64],
    to_random: NDArray[np.int64],
    rounds: NDArray[np.int64],
    part: NDArray[np.int64],
    parts: NDArray[np.int64],
    reach: NDArray[np.int64],
    most_share: NDArray[np.int64],
    continuation: NDArray[np.bool_],
    word_starts: NDArray[np.bool_],
    lengths: NDArray[np.uint64],
    limit: int,
    mask_token_id: int,
    replacement_ids: NDArray[np.int64],
    action_by_unit: bool,
) -> int:
    """Mask units of words in place and write the labels, which come filled with -100.

    epochs: of all rows, (1,), or of each; keys: those of the seed; rate, to_mask, to_random, and rounds, part, parts,
    reach, most_share: as `law.RowLaw` and its turns have them; continuation: for each id, whether it continues a word;
    word_starts: for each token, whether it begins one, empty where `continuation` tells; lengths: the thresholds of 1,
    2, ... words in a unit. In a row, `most` is the most places that a unit has on the circle, and `around` how many
    places the circle has (see `masking`). Returns how many rows the limit shortened.
    """
    longest = _most_tokens(offsets, len(example_ids))
    place_bits, draws = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    _mix_places(place_bits)
    first, size = np.empty(longest, np.int64), np.empty(longest, np.int64)
    unit_numbers, order = np.empty(longest, np.uint32), np.empty(longest, np.uint32)
    buckets = np.empty(2 * longest + 2, np.uint32)
    choices = np.uint64(len(replacement_ids))
    capped = 0
    for row in range(len(example_ids)):
        begin, end = offsets[row], offsets[row + 1]
        owner, epoch = mix(np.uint64(example_ids[row]) + GOLDEN), mix(_of(epochs, row) + GOLDEN)
        # rows masked in turn draw their units by the round: all epochs of a round have the same units
        share, of_units = _of(rate, row), epoch
        if len(part):
            share, of_units = _of(most_share, row), mix(_of(rounds, row) + GOLDEN)
        unit_key, length_key = mix(mix(keys[UNIT] ^ of_units) ^ owner), mix(mix(keys[LENGTH] ^ of_units) ^ owner)

        # word w is the size[w] tokens from place first[w] of the row on; a special token ends a word
        words, tokens, joined = 0, 0, False
        for position in range(begin, end):
            if special[position]:
                joined = False
                continue
            token = ids[position]
            begins = (
                word_starts[position]
                if len(word_starts)
                else not (0 <= token < len(continuation) and continuation[token])
            )
            if joined and not begins:
                size[words - 1] += 1
            else:
                first[words], size[words] = position - begin, 1
                words += 1
            joined = True
            tokens += 1
        if tokens == 0:
            continue

        # no unit takes more places than the arc has; where that shortens a word, the circle and its arc shrink: repeat
        most: Any = max(np.int64((np.uint64(tokens) * share) >> _S32), 1)
        while True:
            around: Any = 0
            for word in range(words):
                around += min(size[word], most)
            fewer: Any = np.int64((np.uint64(around) * share) >> _S32)
            if most <= max(fewer, 1):
                break
            most = max(fewer, 1)

        # units overwrite the words in `first` and `size`: there are never more units than words read so far
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
                unit_numbers[units] = np.uint32(units)
                units += 1
            words_left -= 1

        # the arc begins at place `window` of the circle and has `wanted` places
        fraction = mix(mix(keys[NUMBER] ^ epoch) ^ owner) >> _S32
        window: Any = np.int64(((mix(mix(keys[WINDOW] ^ epoch) ^ owner) >> _S32) * np.uint64(around)) >> _S32)
        wanted: Any = np.int64((np.uint64(around) * share + fraction) >> _S32)
        if len(part):
            turn_of_row, turns_of_round = np.int64(_of(part, row)), np.int64(_of(parts, row))
            window = turn_of_row * around // turns_of_round
            arc = (turn_of_row + 1) * around // turns_of_round - window
            wanted = max(np.int64((np.uint64(arc) * _of(reach, row) + fraction) >> _S32), most)
        wanted = min(max(wanted, 1), around)
        sort_draws(draws, unit_numbers, units, tokens, order, buckets)
        # order[at], at place `start`: the first unit that begins at the arc's first place or after it, round the circle
        start, at = 0, 0
        while at < units and start < window:
            start += min(size[order[at]], most)
            at += 1
        if at == units:
            start, at = 0, 0
        distance = start - window if start >= window else start - window + around
        # `distance`: from the beginning of the arc to that of the next unit, round the circle
        chosen, turns = 0, 0
        while turns < units and distance < wanted:
            count = size[order[(at + turns) % units]]
            chosen += count
            distance += min(count, most)
            turns += 1
        # over the limit, units are tried all round the circle; what does not fit is passed over, the first is cut
        room: Any = chosen
        if 0 < limit < chosen:
            room, turns = limit, units
            capped += 1
        taken = 0
        action_key = mix(mix(keys[ACTION] ^ epoch) ^ owner)
        replacement_key = mix(mix(keys[REPLACEMENT] ^ epoch) ^ owner)
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
                # one draw for all tokens of a unit, by its first place, or one for each
                acting = head if action_by_unit else place
                action = mix(action_key ^ place_bits[acting]) >> _S32
                if action < _of(to_mask, row):
                    ids[position] = mask_token_id
                elif action < _of(to_random, row):
                    choice = mix(replacement_key ^ place_bits[place]) >> _S32
                    ids[position] = replacement_ids[np.int64((choice * choices) >> _S32)]
    return capped


@typed_kernel(
    *[
        _I(
            _read_only(kind),
            ids[::1],
            labels[::1],
            *(*_ROWS, *_SHARES, _I, _I, _READ_IS, _TABLE, _READ_IS, _B),
        )
        for kind, ids, labels in _FORMS
    ],
    makes_arrays=True,
)
def mask_tokens(
    given: NDArray[np.integer],
    ids: NDArray[np.integer],
    labels: NDArray[np.signedinteger],
    offsets: NDArray[np.int64],
    special: NDArray[np.bool_],
    example_ids: NDArray[np.int64],
    epochs: NDArray[np.int64],
    keys: NDArray[np.uint64],
    rate: NDArray[np.int64],
    to_mask: NDArray[np.int64],
    to_random: NDArray[np.int64],
    limit: int,
    mask_token_id: int,
    replacement_ids: NDArray[np.int64],
    spread_table: NDArray[np.int64],
    delays: NDArray[np.int64],
    independent: bool,
) -> int:
    """Write masked ids and labels of the rows of `given`; returns how many rows the limit shortened.

    spread_table, delays: those of `smoothing`, by which ids are drawn by their weights; empty where each has the same.
    independent: each token is predicted where its own draw is below the rate, not as many as there should be. The other
    arguments are those of `mask_units`. Positions outside all rows are not written.
    """
    longest = _most_tokens(offsets, len(example_ids))
    place_bits, draws, highs = np.empty(longest, np.uint64), np.empty(longest, np.uint64), np.empty(longest, np.uint32)
    _mix_places(place_bits)
    chosen = np.empty(longest + 1, np.uint32)
    choices = np.uint64(len(replacement_ids))
    capped, epoch, of_epoch = 0, _0, np.empty(REPLACEMENT + 1, np.uint64)
    for row in range(len(example_ids)):
        # the keys of the epoch, once where all rows have the same
        if row < len(epochs):
            epoch = mix(np.uint64(epochs[row]) + GOLDEN)
            for purpose in range(len(of_epoch)):
                of_epoch[purpose] = mix(keys[purpose] ^ epoch)
        begin, end = offsets[row], offsets[row + 1]
        row_ids, row_labels, row_special = ids[begin:end], labels[begin:end], special[begin:end]
        owner = mix(np.uint64(example_ids[row]) + GOLDEN)
        unit_key, length = mix(of_epoch[UNIT] ^ owner), len(row_ids)
        share, mask_below, random_below = _of(rate, row), _of(to_mask, row), _of(to_random, row)
        row_given, barred = given[begin:end], 0
        for place in range(length):
            row_ids[place] = row_given[place]
            row_labels[place] = IGNORED
        for place in range(length):
            # all ones for a special token, so that it is never among the lowest
            draw = mix(unit_key ^ place_bits[place]) | (_0 - np.uint64(row_special[place]))
            highs[place] = np.uint32(draw >> _S32)
            barred += row_special[place]
        tokens = length - barred
        if tokens == 0:
            continue
        fraction = mix(of_epoch[NUMBER] ^ owner) >> _S32
        wanted: Any = np.int64((np.uint64(tokens) * share + fraction) >> _S32)
        wanted = min(max(wanted, 1), tokens)
        if 0 < limit < wanted:
            wanted = limit
            capped += 1
        # each place is written at chosen[taken], and stays there if `taken` grows: no branch, room for one more
        taken: Any = 0
        if independent:
            for place in range(length):
                chosen[taken] = np.uint32(place)
                taken += (np.uint64(highs[place]) < share) & (not row_special[place])
            wanted = taken
        else:
            if len(delays):
                weigh(highs, row_given, row_special, spread_table, delays)
                bound = bound_by_halves(highs, length, wanted)
            else:
                bound = bound_of(highs, length, tokens, wanted)
            for place in range(length):
                chosen[taken] = np.uint32(place)
                taken += highs[place] < bound
        # equal numbers at the bound: take the lowest exactly
        if taken != wanted:
            for place in range(length):
                draws[place] = np.uint64(highs[place]) if len(delays) else mix(unit_key ^ place_bits[place])
            take_lowest(draws, row_special, wanted, chosen)
        action_key, replacement_key = mix(of_epoch[ACTION] ^ owner), mix(of_epoch[REPLACEMENT] ^ owner)
        for at in range(wanted):
            place_at = chosen[at]
            token: Any = np.int64(row_ids[place_at])
            row_labels[place_at] = token
            action = mix(action_key ^ place_bits[place_at]) >> _S32
            if mask_below <= action < random_below:
                choice = mix(replacement_key ^ place_bits[place_at]) >> _S32
                token = replacement_ids[(choice * choices) >> _S32]
            row_ids[place_at] = mask_token_id if action < mask_below else token
    return capped


@typed_kernel(*[_VOID(_read_only(ids), _read_only(labels), _I, _IS) for _, ids, labels in _FORMS[1:]])
def count_masked(
    ids: NDArray[np.integer], labels: NDArray[np.signedinteger], mask_token_id: int, counts: NDArray[np.int64]
) -> None:
    """Write into `counts` how many tokens are predicted, how many of them are [MASK] now, how many are unchanged."""
    predicted, masked, unchanged = 0, 0, 0
    for place in range(min(len(ids), len(labels))):
        label, token = np.int64(labels[place]), np.int64(ids[place])
        wanted = label != IGNORED
        predicted += wanted
        masked += wanted & (token == mask_token_id)
        unchanged += wanted & (token == label)
    counts[0], counts[1], counts[2] = predicted, masked, unchanged
