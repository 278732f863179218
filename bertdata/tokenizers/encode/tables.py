"""The tables of the tokenizers' kernels: a vocabulary as a double array, and the cache from pieces of text to ids.

Importing this module imports numba; import it where it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.kernels.byte_table import ARENA_USED, POOL_USED, USED, WIDTH, Table
from bertdata.text_arrays import READ_AHEAD, column_of, numbers_of
from bertdata.tokenizers.encode.kernels import double_array as trie_kernel
from bertdata.tokenizers.encode.kernels import id_cache as cache_kernel

ENTRIES = (1 << 20) - 1
"""Most entries of a cache: 52 MB. When it is full, a sixteenth of them, the first that came, are kept."""
FIRST_SLOTS = 1 << 20
"""How many slots a cache begins with, so that a little text touches little memory (4 MB); they grow fourfold."""
SPARE_BLOCKS = 64
_ARENA_BYTES, _POOL_IDS = 4, 2
"""Room for each entry: 3 of 100 take more than the 16 bytes in the entry, 5 of 100 have ids in the pool."""


def double_array(keys: Sequence[bytes] | pa.LargeStringArray, numbers: Sequence[int] | Any) -> NDArray[np.uint64]:
    """Return the cells of a double array of keys, which are different and not empty, each with its number."""
    if isinstance(keys, pa.LargeStringArray):
        import pyarrow.compute as pc  # takes a twentieth of a first call, of which most have few keys

        order = numbers_of(pc.sort_indices(keys))
        _, offsets_buffer, data_buffer = keys.take(column_of(order)).buffers()
        offsets = np.frombuffer(offsets_buffer, np.int64)[: len(order) + 1].copy()
        data = np.frombuffer(memoryview(data_buffer).toreadonly(), np.uint8)[: offsets[-1]]
    else:
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
        in_order = [keys[i] for i in order]
        offsets, data = np.cumsum([0, *map(len, in_order)]), np.frombuffer(b"".join(in_order), np.uint8)
    ids = np.asarray(numbers, np.int64)[order]
    n_blocks = SPARE_BLOCKS + 2 * len(data) // trie_kernel.CELLS_A_BLOCK
    while True:
        cells = np.zeros(n_blocks * trie_kernel.CELLS_A_BLOCK, np.uint64)
        flags, fullness = np.zeros(len(cells), np.bool_), np.zeros(n_blocks, np.uint8)
        working = np.zeros((len(data) + 1, 4), np.int64), np.zeros((3, 257), np.int64)
        if trie_kernel.build(data, offsets, ids, cells, flags, fullness, *working):
            break
        n_blocks *= 2
    n_used = 1 + int(np.flatnonzero(cells)[-1]) // trie_kernel.CELLS_A_BLOCK
    used = room(n_used * trie_kernel.CELLS_A_BLOCK, np.uint64)
    used[:] = cells[: len(used)]
    return used


class IdCache:
    """A cache from pieces of text to ids, for one call at a time."""

    def __init__(self) -> None:
        table = empty_table(ENTRIES, ENTRIES * _ARENA_BYTES)._replace(slots=zeros(FIRST_SLOTS, np.uint32))
        self.arrays = cache_kernel.Cache(table, room(ENTRIES * _POOL_IDS, np.uint32))
        self.pinned = 1
        self._key = np.zeros(cache_kernel.MAX_KEY + READ_AHEAD, np.uint8)

    @property
    def used(self) -> int:
        """The number of entries, the first of which is of no text."""
        return int(self.arrays.table.counters[USED])

    def begin(self, needed: int = 0) -> None:
        """Make room for `needed` more entries, if so many go in; of a full cache, keep the first, which are common."""
        table = self.arrays.table
        used, n_slots = int(table.counters[USED]), len(table.slots)
        most = len(table.entries) // WIDTH - 1
        full = used + needed > most or table.counters[POOL_USED] > most * _POOL_IDS - cache_kernel.MAX_IDS
        if full or table.counters[ARENA_USED] + needed > len(table.arena) - READ_AHEAD - cache_kernel.MAX_KEY:
            self.keep(n_slots, max(self.pinned, min(most // 16, used // 2)))
            used = self.used
        wanted = n_slots
        while 4 * used + 2 * needed > wanted and wanted < 2 * (most + 1):
            wanted *= 4
        if wanted > n_slots:
            self.keep(wanted, used)

    def keep(self, n_slots: int, kept: int) -> None:
        """Keep the first entries, under so many slots."""
        table = self.arrays.table._replace(slots=zeros(n_slots, np.uint32))
        self.arrays = self.arrays._replace(table=table)
        cache_kernel.enter_anew(self.arrays, self._key, kept)

    def remember(self, piece: bytes, ids: NDArray[Any]) -> None:
        """Enter a piece, if there is room for it and for its ids."""
        padded = np.frombuffer(piece + bytes(READ_AHEAD), np.uint8)
        cache_kernel.remember_piece(self.arrays, padded, len(piece), ids)


def empty_table(n: int, arena_bytes: int) -> Table:
    """Return a table for `n` keys; what is not used of it takes no memory."""
    entries = room((n + 1) * WIDTH, np.uint64)
    entries[:WIDTH] = np.array([0, 0, 0xFFFF, 0], np.uint64)
    slots = np.zeros(1 << (2 * n + 1).bit_length(), np.uint32)
    return Table(slots, entries, room(arena_bytes + READ_AHEAD, np.uint8), np.array([1, 0, 0], np.int64))


def room(n: int, dtype: type[Any]) -> NDArray[Any]:
    """Return room for numbers in Arrow's memory, whose large pages make random access faster."""
    return np.frombuffer(pa.allocate_buffer(n * np.dtype(dtype).itemsize), dtype)


def zeros(n: int, dtype: type[Any]) -> NDArray[Any]:
    """Return zeros in such memory."""
    numbers = room(n, dtype)
    numbers[:] = 0
    return numbers
