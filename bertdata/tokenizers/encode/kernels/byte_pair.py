"""Byte-level BPE (Sennrich et al. 2016; Radford et al. 2019): pairs are merged, the lowest rank first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.byte_table import read_key
from bertdata.kernels.jit import always_inlined, kernel
from bertdata.tokenizers.encode.kernels.id_cache import Cache, put_ids

RANK_BITS, ID_BITS = 20, 22
"""Bits of a rank and of an id in a slot: there are fewer merges and ids than these can hold."""
NO_RANK = (1 << RANK_BITS) - 1
_U = np.uint64
_0, _1, _FREE, _M = _U(0), _U(1), ~_U(0), _U(0x9E3779B97F4A7C15)
_TO_LEFT, _TO_RIGHT, _TO_SLOT, _RANK, _ID = (
    _U(n) for n in (RANK_BITS + ID_BITS, RANK_BITS, 40, NO_RANK, (1 << ID_BITS) - 1)
)


class Merges(NamedTuple):
    """The pairs that are merged. A slot of the hash table is left << 42 | right << 20 | rank, all ones where free.

    first: the rank of each pair of bytes, as NO_RANK where they are not merged, uint32 (65536,).
    """

    slots: NDArray[np.uint64]
    merged: NDArray[np.uint32]  # the id that the merge of each rank makes
    bytes: NDArray[np.uint32]  # the id of each byte
    first: NDArray[np.uint32]


@always_inlined
def _find_rank(merges: Merges, left: Any, right: Any) -> Any:
    """Return the rank of a pair; NO_RANK where it is not merged."""
    slots = merges.slots
    key = _U(left) << _TO_LEFT | _U(right) << _TO_RIGHT
    last = _U(len(slots) - 1)
    slot = (key >> _TO_RIGHT) * _M >> _TO_SLOT & last
    while slots[slot] != _FREE:
        if slots[slot] | _RANK == key | _RANK:
            return np.uint32(slots[slot] & _RANK)
        slot = (slot + _1) & last
    return np.uint32(NO_RANK)


@kernel
def build_merges(left: Any, right: Any, merges: Merges) -> None:
    """Enter pairs, in the order of their ranks, into an empty table, and fill `first`; a pair's last rank counts."""
    slots = merges.slots
    last = _U(len(slots) - 1)
    for rank in range(len(left)):
        key = _U(left[rank]) << _TO_LEFT | _U(right[rank]) << _TO_RIGHT
        slot = (key >> _TO_RIGHT) * _M >> _TO_SLOT & last
        while slots[slot] != _FREE and slots[slot] | _RANK != key | _RANK:
            slot = (slot + _1) & last
        slots[slot] = key | _U(rank)
    for a in range(256):
        for b in range(256):
            merges.first[a << 8 | b] = _find_rank(merges, merges.bytes[a], merges.bytes[b])


@always_inlined
def _merge(data: Any, start: Any, n: Any, merges: Merges, ids: Any, ranks: Any) -> Any:
    """Write the ids of `n` bytes to `ids`; returns how many. ranks: uint32, room for `n` numbers."""
    for j in range(n):
        ids[j] = merges.bytes[data[start + j]]
    for j in range(n - 1):
        ranks[j] = merges.first[np.int64(data[start + j]) << 8 | np.int64(data[start + j + 1])]
    while n > 1:
        best, at = ranks[0], 0
        for j in range(1, n - 1):
            if ranks[j] < best:
                best, at = ranks[j], j
        if best == NO_RANK:
            break
        ids[at] = merges.merged[best]
        n -= 1
        for j in range(at + 1, n):
            ids[j] = ids[j + 1]
        for j in range(at, n - 1):
            ranks[j] = ranks[j + 1]
        if at > 0:
            ranks[at - 1] = _find_rank(merges, ids[at - 1], ids[at])
        if at < n - 1:
            ranks[at] = _find_rank(merges, ids[at], ids[at + 1])
    return n


@kernel
def encode_new(cache: Cache, first: int, last: int, merges: Merges, word: Any, ids: Any, ranks: Any) -> None:
    """Give the entries from `first` to `last` their ids. Room: word uint8, ids of the output's type, ranks uint32."""
    for entry in range(first, last):
        n = read_key(cache.table, entry, word, 0)
        put_ids(cache, entry, ids, 0, _merge(word, 0, n, merges, ids, ranks))


@kernel
def encode_word(text: Any, start: int, n: int, merges: Merges, ids: Any, ranks: Any) -> Any:
    """Write the ids of the `n` bytes of a text from `start` on; returns how many. ranks: uint32, room for `n`."""
    return _merge(text, start, n, merges, ids, ranks)
