"""The pairs that byte-level BPE merges, in a table that stays in a processor's cache: 4 bytes a slot, one slot a pair.

The table is a perfect hash (Belazzougui et al. 2009, "Hash, displace, and compress"): the hash of a pair says which
bucket it is in, and the seed of the bucket which slot it has, so that no two pairs have the same. A slot holds 12 bits
of the hash beside the rank. A pair that is not in the table is now and then taken for another one, so `merges_to` must
be asked before a pair is merged.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined, inlined, kernel

RANK_BITS, ID_BITS = 20, 21
"""Bits of a rank and of an id, for there are fewer merges and ids."""
NO_RANK, MAX_ID = (1 << RANK_BITS) - 1, (1 << ID_BITS) - 2
NO_ID = MAX_ID + 1
"""An id of no token."""
_SEEDS = 1 << 16
_U = np.uint64
_M1, _M2 = _U(0x9E3779B97F4A7C15), _U(0xD6E8FEB86659FD93)
_ID_BITS, _IDS, _NO_RANK = _U(ID_BITS), _U((1 << ID_BITS) - 1), np.uint32(NO_RANK)
_TAG = np.uint32(~NO_RANK & 0xFFFFFFFF)


class Merges(NamedTuple):
    """The pairs that are merged: `slots` and `seeds` give ranks, `records` what each rank merges.

    A slot is a tag of 12 bits and a rank, NO_RANK where it is free. first: the rank of each pair of bytes, uint32
    (65536,), NO_RANK where they are not merged.
    """

    slots: NDArray[np.uint32]
    seeds: NDArray[np.uint16]
    records: NDArray[np.uint64]  # of each rank the left id, the right one and the one made, ID_BITS each
    bytes: NDArray[np.uint32]  # the id of each byte
    first: NDArray[np.uint32]
    bucket_shift: Any
    slot_shift: Any


@inlined
def pair_key(left: Any, right: Any) -> Any:
    """Return a pair of ids as one number."""
    return _U(left) << _ID_BITS | _U(right)


@always_inlined
def _slot_of(h: Any, seed: Any, slot_shift: Any) -> Any:
    return ((h ^ _U(seed)) * _M2) >> slot_shift


@always_inlined
def likely_rank(merges: Merges, left: Any, right: Any) -> Any:
    """Return the rank of a pair if it is merged; else NO_RANK, or rarely the rank of another pair."""
    h = pair_key(left, right) * _M1
    slot = _slot_of(h, merges.seeds[h >> merges.bucket_shift], merges.slot_shift)
    slot *= _U(left != NO_ID) & _U(right != NO_ID)  # at the ends of words not another line of the table for each id
    return min(merges.slots[slot] ^ (np.uint32(h) & _TAG), _NO_RANK)


@inlined
def merges_to(record: Any, left: Any, right: Any) -> Any:
    """Return the id that a pair is merged to if the record is of this pair, else NO_ID."""
    return np.uint32(record & _IDS) if record >> _ID_BITS == pair_key(left, right) else np.uint32(NO_ID)


@kernel
def hash_pairs(left: Any, right: Any, hashes: Any) -> None:
    """Write the hash of each pair."""
    for k in range(len(left)):
        hashes[k] = pair_key(left[k], right[k]) * _M1


@kernel
def find_seeds(hashes: Any, ranks: Any, order: Any, merges: Merges) -> Any:
    """Enter pairs by their hashes, all of one bucket one after another in `order`; returns whether all found a slot.

    The slots are free, which is all ones.
    """
    slots, shift = merges.slots, merges.slot_shift
    start: Any = 0
    while start < len(order):
        bucket = hashes[order[start]] >> merges.bucket_shift
        stop = start
        while stop < len(order) and hashes[order[stop]] >> merges.bucket_shift == bucket:
            stop += 1
        seed: Any = 0
        while seed < _SEEDS:
            j = start
            while j < stop:
                h = hashes[order[j]]
                slot = _slot_of(h, seed, shift)
                if slots[slot] & _NO_RANK != _NO_RANK:
                    break
                slots[slot] = np.uint32(h) & _TAG | np.uint32(ranks[order[j]])
                j += 1
            if j == stop:
                break
            for k in range(start, j):
                slots[_slot_of(hashes[order[k]], seed, shift)] = ~np.uint32(0)
            seed += 1
        if seed == _SEEDS:
            return False
        merges.seeds[bucket] = seed
        start = stop
    return True


@kernel
def rank_bytes(merges: Merges) -> None:
    """Fill `first`."""
    for a in range(256):
        for b in range(256):
            left, right = merges.bytes[a], merges.bytes[b]
            rank = likely_rank(merges, left, right)
            if rank < _NO_RANK and merges_to(merges.records[rank], left, right) == NO_ID:
                rank = _NO_RANK
            merges.first[a << 8 | b] = rank
