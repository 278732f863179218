"""The tables of the tokenizer's kernel: the vocabulary, and the cache from chunk to ids.

Importing this module imports numba; import it where it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.kernels.byte_table import MAX_ENTRIES, USED, WIDTH, Table
from bertdata.kernels.simd import BLOCK
from bertdata.tokenizers.wordpiece.encode.characters import Becomes, CharacterTable
from bertdata.tokenizers.wordpiece.encode.kernels import cache as cache_kernel
from bertdata.tokenizers.wordpiece.encode.kernels import chunks as chunks_kernel
from bertdata.tokenizers.wordpiece.encode.kernels import encode as kernel
from bertdata.tokenizers.wordpiece.encode.kernels import trie as trie_kernel
from bertdata.tokenizers.wordpiece.encode.kernels.words import PAD
from bertdata.tokenizers.wordpiece.formats import MAX_WORD_CHARACTERS
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.vocabulary import CONTINUATION, UNK

CHUNKS = (1 << 20) - 1
"""Most chunks in a cache: 52 MB. When it is full, a sixteenth of them, the first that came, are kept."""
FIRST_SLOTS = 1 << 20
"""How many slots a cache begins with, so that a little text touches little memory (4 MB); they grow fourfold."""
MAX_TOKEN_BYTES = 1 + 4 * MAX_WORD_CHARACTERS
SPARE_BLOCKS = 64
_ARENA_BYTES, _POOL_IDS = 4, 2
"""Room for each chunk: 3 of 100 take more than the 16 bytes in their entry, 5 of 100 have ids in the pool."""


def build_trie(tokens: Sequence[str]) -> trie_kernel.Trie:
    """Return the trie of a vocabulary; raises ConfigError for one of over 2 million tokens."""
    if len(tokens) >= MAX_ENTRIES:
        raise ConfigError(f"the vocabulary has {len(tokens)} tokens; at most {MAX_ENTRIES - 1} can be looked up")
    roots = b"\0", b"\1"
    keys = [
        roots[1] + token[len(CONTINUATION) :].encode() if token.startswith(CONTINUATION) else roots[0] + token.encode()
        for token in tokens
    ]
    ids = sorted((i for i, key in enumerate(keys) if 1 < len(key) <= MAX_TOKEN_BYTES), key=keys.__getitem__)
    data = np.frombuffer(b"".join(keys[i] for i in ids), np.uint8)
    offsets = np.zeros(len(ids) + 1, np.int64)
    np.cumsum([len(keys[i]) for i in ids], out=offsets[1:])
    n_blocks = SPARE_BLOCKS + 2 * len(data) // trie_kernel.CELLS_A_BLOCK
    while True:
        cells = np.zeros(n_blocks * trie_kernel.CELLS_A_BLOCK, np.uint64)
        flags, fullness = np.zeros(len(cells), np.bool_), np.zeros(n_blocks, np.uint8)
        room = np.zeros((len(data) + 1, 4), np.int64), np.zeros((3, 257), np.int64)
        if trie_kernel.build(data, offsets, np.array(ids, np.int64), cells, flags, fullness, *room):
            break
        n_blocks *= 2
    n_used = 1 + int(np.flatnonzero(cells)[-1]) // trie_kernel.CELLS_A_BLOCK
    used = _room(n_used * trie_kernel.CELLS_A_BLOCK, np.uint64)
    used[:] = cells[: len(used)]
    settings = [trie_kernel.base_of(cells, root[0]) for root in roots]
    return trie_kernel.Trie(used, np.array([*settings, tokens.index(UNK)], np.int64))


class ChunkCache:
    """A cache from chunk to ids, the codes of characters, and the kernel's work arrays; for one call at a time."""

    def __init__(self, normalizer: Normalizer, known: dict[str, Becomes]) -> None:
        self.characters = CharacterTable(normalizer, known)
        self.word = np.zeros(kernel.WORD_BYTES, np.uint8)
        self.window = empty_window()
        self.arrays = cache_kernel.Cache(
            empty_table(CHUNKS, CHUNKS * _ARENA_BYTES, FIRST_SLOTS), _room(CHUNKS * _POOL_IDS, np.uint32)
        )

    def begin(self) -> None:
        """Make room for the chunks of another unit of text; of a full cache, keep the first, which are common."""
        table, pool = self.arrays
        used, n_slots = int(table.counters[USED]), len(table.slots)
        arena = len(table.arena) - PAD - chunks_kernel.MAX_KEY
        rooms = (len(table.entries) // WIDTH - 1, arena, len(pool) - cache_kernel.MAX_IDS)
        if any(used > room for used, room in zip(table.counters.tolist(), rooms, strict=True)):
            self._enter_anew(n_slots, max(1, min(rooms[0] // 16, used // 2)))
        elif 4 * used > n_slots and n_slots < 2 * (rooms[0] + 1):
            self._enter_anew(4 * n_slots, used)

    def _enter_anew(self, n_slots: int, kept: int) -> None:
        table = self.arrays.table._replace(slots=np.zeros(n_slots, np.uint32))
        self.arrays = self.arrays._replace(table=table)
        cache_kernel.enter_anew(self.arrays, np.zeros(chunks_kernel.MAX_KEY + PAD, np.uint8), kept)

    def remember(self, chunk: bytes, ids: NDArray[Any]) -> None:
        """Enter a chunk, if there is room for it and for its ids."""
        cache_kernel.remember_chunk(self.arrays, np.frombuffer(chunk + bytes(PAD), np.uint8), len(chunk), ids)


def empty_table(n: int, arena_bytes: int, most_slots: int = 1 << 32) -> Table:
    """Return a table for `n` keys; what is not used of it takes no memory."""
    entries = _room((n + 1) * WIDTH, np.uint64)
    entries[:WIDTH] = np.array([0, 0, 0xFFFF, 0], np.uint64)
    slots = np.zeros(min(most_slots, 1 << (2 * n + 1).bit_length()), np.uint32)
    return Table(slots, entries, _room(arena_bytes + PAD, np.uint8), np.array([1, 0, 0], np.int64))


def empty_window() -> chunks_kernel.Window:
    """Return room for the chunks of a window."""
    return chunks_kernel.Window(*(np.zeros(chunks_kernel.WINDOW + 2 * BLOCK, np.uint64) for _ in range(4)))


def _room(n: int, dtype: type[Any]) -> NDArray[Any]:
    """Return room for numbers in Arrow's memory, whose large pages make random access faster."""
    return np.frombuffer(pa.allocate_buffer(n * np.dtype(dtype).itemsize), dtype)
