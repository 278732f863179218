"""Byte-level BPE (Sennrich et al. 2016; Radford et al. 2019): pairs are merged, the lowest rank first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined, inlined, kernel
from bertdata.tokenizers.encode.kernels import word_cache
from bertdata.tokenizers.encode.kernels.id_cache import Cache, put_ids
from bertdata.tokenizers.encode.kernels.word_cache import NewWords, is_new

RANK_BITS, ID_BITS, PLACE_BITS = 20, 22, 10
"""Bits of a rank and of an id in a slot, for there are fewer merges and ids, and of a place in a word."""
NO_RANK, MAX_ID = (1 << RANK_BITS) - 1, (1 << ID_BITS) - 2
LONGEST = (1 << PLACE_BITS) - 2
"""Bytes of the longest word; the time for one grows as their square."""
BUCKET, SCANNED = 4, 8
"""Slots that are compared together, and ranks."""
N_ROOM = 4
_U = np.uint64
_1, _2, _3, _FREE, _M = _U(1), _U(2), _U(3), ~_U(0), _U(0x9E3779B97F4A7C15)
_TO_LEFT, _TO_RIGHT, _TO_SLOT, _NO_RANK = (_U(n) for n in (RANK_BITS + ID_BITS, RANK_BITS, 40, NO_RANK))
_NO_ID, _NONE, _TO_RANK = np.uint32(MAX_ID + 1), np.uint32(NO_RANK << PLACE_BITS), np.uint32(PLACE_BITS)
_PLACE = np.uint32((1 << PLACE_BITS) - 1)


class Merges(NamedTuple):
    """The pairs that are merged, in a hash table of buckets.

    A slot is left << 42 | right << 20 | rank, all ones where free.
    first: the rank of each pair of bytes, as NO_RANK where they are not merged, uint32 (65536,).
    """

    slots: NDArray[np.uint64]
    merged: NDArray[np.uint32]  # the id that the merge of each rank makes
    bytes: NDArray[np.uint32]  # the id of each byte
    first: NDArray[np.uint32]


@inlined
def _bucket_of(slots: Any, key: Any) -> Any:
    """Return the first slot of the bucket of a pair."""
    return (key >> _TO_RIGHT) * _M >> _TO_SLOT & _U(len(slots) - BUCKET)


@inlined
def _least_unlike(slots: Any, slot: Any, key: Any) -> Any:
    """Return the rank of a pair if it is in a bucket, else a greater number than all ranks."""
    first, second = min(slots[slot] ^ key, slots[slot + _1] ^ key), min(slots[slot + _2] ^ key, slots[slot + _3] ^ key)
    return min(first, second)


@always_inlined
def _find_rank(slots: Any, left: Any, right: Any) -> Any:
    """Return the rank of a pair; NO_RANK where it is not merged."""
    key = _U(left) << _TO_LEFT | _U(right) << _TO_RIGHT
    slot = _bucket_of(slots, key)
    found = _least_unlike(slots, slot, key)
    while (found >= _NO_RANK) & (slots[slot + _3] != _FREE):
        slot = (slot + _U(BUCKET)) & _U(len(slots) - 1)
        found = _least_unlike(slots, slot, key)
    return np.uint32(min(found, _NO_RANK))


@kernel
def build_merges(left: Any, right: Any, merges: Merges) -> None:
    """Enter pairs, in the order of their ranks, into an empty table, and fill `first`; a pair's last rank counts."""
    slots = merges.slots
    for rank in range(len(left)):
        key = _U(left[rank]) << _TO_LEFT | _U(right[rank]) << _TO_RIGHT
        slot = _bucket_of(slots, key)
        while slots[slot] != _FREE and slots[slot] | _NO_RANK != key | _NO_RANK:
            slot = (slot + _1) & _U(len(slots) - 1)
        slots[slot] = key | _U(rank)
    for a in range(256):
        for b in range(256):
            merges.first[a << 8 | b] = _find_rank(slots, merges.bytes[a], merges.bytes[b])


@inlined
def _least(ranks: Any, n: Any) -> Any:
    """Return the least of the ranks of the places from 1 to n - 1, with its place in the lowest bits."""
    least = _NONE
    for i in range(1, n, SCANNED):
        a, b = min(ranks[i], ranks[i + 1]), min(ranks[i + 2], ranks[i + 3])
        c, d = min(ranks[i + 4], ranks[i + 5]), min(ranks[i + 6], ranks[i + 7])
        a, b = min(a, b), min(c, d)
        least = min(least, a, b)
    return least


@always_inlined
def _merge(data: Any, start: Any, n: Any, merges: Merges, ids: Any, room: Any) -> Any:
    """Write the ids of `n` bytes, at most LONGEST, to `ids`; returns how many.

    room: uint32 (N_ROOM, n + 2 + SCANNED): the rank of the pair that begins at each place, with the place in the lowest
    bits, the parts of the word, and the places of the parts before and after. A part is where its first byte is, from 1
    on; before and after the word there is one that is not merged.
    """
    ranks, parts, before, after = room[0], room[1], room[2], room[3]
    for j in range(n + SCANNED):
        ranks[j] = _NONE
    parts[0] = parts[n + 1] = _NO_ID
    for j in range(n + 2):
        before[j], after[j] = max(j, 1) - 1, j + 1
    for j in range(n):
        parts[j + 1] = merges.bytes[data[start + j]]
    for j in range(1, n):
        rank = merges.first[np.int64(data[start + j - 1]) << 8 | np.int64(data[start + j])]
        ranks[j] = rank << _TO_RANK | np.uint32(j)
    least = _least(ranks, n)
    while least < _NONE:
        at = _U(least & _PLACE)
        made = merges.merged[least >> _TO_RANK]
        gone = _U(after[at])
        left, right = _U(before[at]), _U(after[gone])
        parts[at], ranks[gone] = made, _NONE
        after[at], before[right] = right, at
        ranks[at] = _find_rank(merges.slots, made, parts[right]) << _TO_RANK | np.uint32(at)
        ranks[left] = _find_rank(merges.slots, parts[left], made) << _TO_RANK | np.uint32(left)
        least = _least(ranks, n)
    count: Any = 0
    place: Any = 1
    while place <= n:
        ids[count] = parts[place]
        count += 1
        place = np.int64(after[place])
    return count


class Model(NamedTuple):
    """The merges, and room for the ids of the longest word of a cache, of the output's type, and for `encode_word`."""

    merges: Merges
    ids: NDArray[Any]
    room: NDArray[np.uint32]


@inlined
def _encode(cache: Any, entry: Any, text: Any, start: Any, end: Any, model: Any) -> None:
    """Give a new word its ids."""
    put_ids(cache, entry, model.ids, 0, _merge(text, start, end - start, model.merges, model.ids, model.room), False)


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
    """Write the ids of the `n` bytes, at most LONGEST, of a text from `start` on; returns how many.

    room: uint32 (N_ROOM, n + 2 + SCANNED).
    """
    return _merge(text, start, n, merges, ids, room)
