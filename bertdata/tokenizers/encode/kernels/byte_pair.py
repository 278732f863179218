"""Byte-level BPE (Sennrich et al. 2016; Radford et al. 2019): pairs are merged, the lowest rank first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined, inlined, kernel
from bertdata.kernels.simd import least_of_8, prefetch
from bertdata.tokenizers.encode.kernels import word_cache
from bertdata.tokenizers.encode.kernels.id_cache import Cache, give, put_ids
from bertdata.tokenizers.encode.kernels.merge_table import NO_ID, NO_RANK, Merges, likely_rank, merges_to
from bertdata.tokenizers.encode.kernels.word_cache import NewWords, is_new

PLACE_BITS = 10
"""Bits of a place in a word, beside which there are those of a rank."""
LONGEST = (1 << PLACE_BITS) - 2
"""Bytes of the longest word; the time for one grows as their square."""
STEP = 8
"""Places of a word that are worked on together."""
N_ROOM, BESIDE = 4, 2 * STEP + 2
_U = np.uint64
_0, _1, _2, _8, _STEP = (_U(n) for n in (0, 1, 2, 8, STEP))
_NONE, _TO_RANK, _PLACE = np.uint32(NO_RANK << PLACE_BITS), np.uint32(PLACE_BITS), np.uint32((1 << PLACE_BITS) - 1)


@inlined
def _least(ranks: Any, n: Any) -> Any:
    """Return the least of the ranks of the places from 1 to n - 1, with its place in the lowest bits."""
    least = least_of_8(ranks, _1)
    at = _1 + _STEP
    while at < n:
        least = min(least, least_of_8(ranks, at))
        at += _STEP
    return least


@always_inlined
def _merge(data: Any, start: Any, length: Any, merges: Merges, room: Any) -> Any:
    """Merge `length` bytes, from 1 to LONGEST; returns how many parts are left. room: as of `merge_parts`."""
    ranks, parts = room[0], room[1]
    n, first = _U(length), _U(start)
    byte = _U(data[first])
    parts[_1] = merges.bytes[byte]
    for j in range(_1, n):
        following = _U(data[first + j])
        parts[j + _1] = merges.bytes[following]
        ranks[j] = merges.first[byte << _8 | following] << _TO_RANK | np.uint32(j)
        byte = following
    return merge_parts(length, merges, room)


@always_inlined
def merge_parts(length: Any, merges: Merges, room: Any) -> Any:
    """Merge `length` parts, from 1 to LONGEST; returns how many are left.

    room: uint32 (N_ROOM, length + BESIDE): the rank of the pair that begins at each place, with the place in the lowest
    bits, the parts of the word, and the places of the parts before and after. A part is where its first byte is, from 1
    on; before and after the word there is one that is not merged. The parts, and the ranks of all pairs, are there.
    """
    ranks, parts, before, after = room[0], room[1], room[2], room[3]
    n = _U(length)
    at = _0
    while at < n + _2:
        for j in range(STEP):
            before[at + _U(j)], after[at + _U(j)] = at + _U(j) - _1, at + _U(j) + _1
        at += _STEP
    for j in range(STEP):
        ranks[n + _U(j)] = _NONE
    parts[_0] = parts[n + _1] = np.uint32(NO_ID)
    before[_0] = 0
    last = np.uint32(len(merges.records) - 1)
    count = length
    least = _least(ranks, n)
    while least < _NONE:
        at = _U(least & _PLACE)
        gone, left = _U(after[at]), _U(before[at])
        right = _U(after[gone])
        made = merges_to(merges.records[least >> _TO_RANK], parts[at], parts[gone])
        ranks[at] = _NONE
        if made == NO_ID:
            least = _least(ranks, n)
            continue
        ranks[gone] = ranks[left] = _NONE
        least = _least(ranks, n)  # of the others, while the two new pairs are looked up
        parts[at], after[at], before[right] = made, right, at
        count -= 1
        with_right = likely_rank(merges, made, parts[right]) << _TO_RANK | np.uint32(at)
        with_left = likely_rank(merges, parts[left], made) << _TO_RANK | np.uint32(left)
        ranks[at], ranks[left] = with_right, with_left
        prefetch(merges.records, min(with_right >> _TO_RANK, last))
        prefetch(merges.records, min(with_left >> _TO_RANK, last))
        least = min(least, with_right, with_left)
    return count


@inlined
def copy_parts(room: Any, count: Any, ids: Any) -> None:
    """Write the ids of the parts that are left."""
    parts, after = room[1], room[3]
    place = _U(1)
    for j in range(count):
        ids[j] = parts[place]
        place = _U(after[place])


@inlined
def _packed_parts(room: Any, count: Any, bits: Any) -> Any:
    """Return the ids of the parts that are left as one number of so many bits for each, the first ones lowest."""
    parts, after = room[1], room[3]
    place, packed = _U(1), _U(0)
    for j in range(count):
        packed |= _U(parts[place]) << _U(bits * j)
        place = _U(after[place])
    return packed


class Model(NamedTuple):
    """The merges, and room for the ids of the longest word of a cache, of the output's type, and for `encode_word`."""

    merges: Merges
    ids: NDArray[Any]
    room: NDArray[np.uint32]


@inlined
def _encode(cache: Any, entry: Any, text: Any, start: Any, end: Any, model: Any) -> None:
    """Give a new word its ids."""
    count = _merge(text, start, end - start, model.merges, model.room)
    if count * model.ids.itemsize <= 8:
        give(cache, entry, count, _packed_parts(model.room, count, 8 * model.ids.itemsize), False)
    else:
        copy_parts(model.room, count, model.ids)
        put_ids(cache, entry, model.ids, 0, count, False)


@kernel
def write_known(
    text: Any, begin: int, positions: Any, n_words: int, offsets: Any, row: int, stop: int, cache: Cache,
    out: Any, written: int, word_starts: Any, ends: Any, left: Any, longs: Any, window: Any, model: Model,
) -> Any:  # fmt: skip
    """Write the ids of words, as `word_cache.write_known`."""
    return word_cache.write_known(
        text, begin, positions, n_words, offsets, row, stop, cache,
        out, written, word_starts, ends, left, longs, window, _encode, model,
    )  # fmt: skip


@kernel
def encode_left(cache: Cache, new: NewWords, model: Model) -> None:
    """Give ids to new words that are left."""
    for k in range(len(new.left)):
        entry, word = new.left[k, 1], new.left[k, 2]
        if is_new(cache, entry, new.first):
            start, end = np.int64(new.positions[word]), np.int64(new.positions[word + 1])
            _encode(cache, entry, new.text, new.begin + start, new.begin + end, model)


@kernel
def encode_word(text: Any, start: int, n: int, merges: Merges, ids: Any, room: Any) -> Any:
    """Write the ids of the `n` bytes, from 1 to LONGEST, of a text from `start` on; returns how many.

    room: uint32 (N_ROOM, n + BESIDE). STEP bytes after the word can be read.
    """
    count = _merge(text, start, n, merges, room)
    copy_parts(room, count, ids)
    return count
