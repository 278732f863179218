"""A cache from pieces of text, such as words, to the ids they become."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels import byte_table
from bertdata.kernels.byte_table import ARENA_USED, OWNER_SHIFT, POOL_USED, USED, WIDTH, Table
from bertdata.kernels.jit import always_inlined, kernel
from bertdata.kernels.simd import store64

MAX_KEY = 64
"""Bytes of the longest piece that is kept."""
MAX_IDS = 127
_U = np.uint64
_0, _2, _3 = _U(0), _U(2), _U(3)
IN_POOL, COUNT_SHIFT, COUNT_MASK = _U(1 << OWNER_SHIFT), _U(OWNER_SHIFT + 1), _U(MAX_IDS)
APART = _U(1 << 63)
WITHOUT_IDS = 1
"""The owner's bits of an entry that has no ids yet: none, in the pool."""
_OWNED, _SOME = _U(255 << OWNER_SHIFT), _U(254 << OWNER_SHIFT)
_ARENA_SHIFT = _U(byte_table.ARENA_SHIFT)


class Cache(NamedTuple):
    """Pieces and their ids: as many as go into 8 bytes of output are the value, else that is where they are in `pool`.

    The owner's 8 bits of `meta` are 1 that says `pool` and 7 of the number of ids. Ids in the pool may be `APART`, a
    bit beside where they are, for the caller to know.
    """

    table: Table
    pool: NDArray[np.uint32]


@always_inlined
def remember(
    cache: Cache, slot: Any, low: Any, high: Any, h: Any, data: Any, i: Any, n: Any, ids: Any, first: Any, count: Any
) -> None:
    """Enter a piece and ids[first : first + count] at its free slot, if they are few enough and there is room.

    `ids` has the type of the output.
    """
    pooled = count * ids.itemsize > 8
    pool_used = cache.table.counters[POOL_USED]
    if count > min(n, MAX_IDS) or not byte_table.has_room(cache.table, 1, n):
        return
    if pooled and pool_used + count > len(cache.pool):
        return
    entry = cache.table.counters[USED]
    byte_table.enter(cache.table, slot, low, high, h, 0, 0, data, i, n)
    put_ids(cache, entry, ids, first, count, False)


@always_inlined
def put_ids(cache: Cache, entry: Any, ids: Any, first: Any, count: Any, apart: Any) -> None:
    """Give an entry without ids those of ids[first : first + count], at most MAX_IDS; there is room in the pool.

    apart: whether they are `APART`, and so go there even if they are few.
    """
    pooled = apart or count * ids.itemsize > 8
    value = _0
    if pooled:
        used = cache.table.counters[POOL_USED]
        value = np.uint64(used) | (APART if apart else _0)
        for j in range(count):
            cache.pool[used + j] = ids[first + j]
        cache.table.counters[POOL_USED] += count
    else:
        for j in range(count):
            value |= np.uint64(ids[first + j]) << np.uint64(8 * ids.itemsize * j)
    give(cache, entry, count, value, pooled)


@always_inlined
def give(cache: Cache, entry: Any, count: Any, value: Any, pooled: Any) -> None:
    """Give an entry so many ids, which are its value or, if `pooled`, where that says."""
    place = entry * WIDTH
    owned = np.uint64(count << 1 | pooled) << np.uint64(OWNER_SHIFT)
    cache.table.entries[place + 2] = cache.table.entries[place + 2] & ~_OWNED | owned
    cache.table.entries[place + 3] = value


@always_inlined
def count_of(cache: Cache, place: Any) -> Any:
    """Return how many ids an entry has."""
    return np.int64(cache.table.entries[place + _2] >> COUNT_SHIFT & COUNT_MASK)


@always_inlined
def has_own(cache: Cache, place: Any) -> Any:
    """Tell whether an entry has ids, and not `APART`."""
    meta, value = cache.table.entries[place + _2], cache.table.entries[place + _3]
    return meta & IN_POOL == _0 or (meta & _SOME != _0 and value & APART == _0)


@always_inlined
def copy_ids(cache: Cache, place: Any, out: Any, written: int) -> Any:
    """Write the ids of an entry of the cache, for which there is room; returns how many ids there are now."""
    meta, value = cache.table.entries[place + _2], cache.table.entries[place + _3]
    count = np.int64(meta >> COUNT_SHIFT & COUNT_MASK)
    if meta & IN_POOL == _0:
        store64(out, np.uint64(written), value)
    else:
        for j in range(count):
            out[written + j] = cache.pool[np.int64(value) + j]
    return written + count


@always_inlined
def read_ids(cache: Cache, place: Any, out: Any, to: Any) -> None:
    """Write the ids of an entry, and nothing after them, to out[to:]."""
    meta, value = cache.table.entries[place + _2], cache.table.entries[place + _3]
    for j in range(np.int64(meta >> COUNT_SHIFT & COUNT_MASK)):
        if meta & IN_POOL == _0:
            out[to + j] = value >> _U(8 * out.itemsize * j)
        else:
            out[to + j] = cache.pool[np.int64(value & ~APART) + j]


@kernel
def enter_anew(cache: Cache, key_bytes: Any, kept: int) -> None:
    """Point the slots, which are all free, to the first `kept` entries; forget the others.

    `key_bytes` is room for the longest key.
    """
    table = cache.table
    table.counters[USED] = kept
    table.counters[ARENA_USED] = table.counters[POOL_USED] = 0
    for entry in range(1, kept):
        place = entry * WIDTH
        low, high, meta = table.entries[place], table.entries[place + 1], table.entries[place + 2]
        n = byte_table.read_key(table, entry, key_bytes, 0)
        byte_table.claim(table, byte_table.hash_key(low, high, key_bytes, 0, n), entry)
        if n > 16:
            table.counters[ARENA_USED] = np.int64(meta >> _ARENA_SHIFT) + (n + 7) // 8 * 8 - 16
        if meta & IN_POOL != _0:
            used = np.int64((table.entries[place + 3] & ~APART) + (meta >> COUNT_SHIFT & COUNT_MASK))
            table.counters[POOL_USED] = max(table.counters[POOL_USED], used)


@kernel
def remember_piece(cache: Cache, key: Any, n: int, ids: Any) -> None:
    """Enter a piece that `tokenizers` encoded, if there is room and it is not there."""
    if n <= MAX_KEY:
        low, high = byte_table.first_words(key, 0, n)
        h = byte_table.hash_key(low, high, key, 0, n)
        slot = byte_table.seek(cache.table, low, high, h, key, 0, n)
        if byte_table.place_at(cache.table, slot) == _0:
            remember(cache, slot, low, high, h, key, 0, n, ids, 0, len(ids))
