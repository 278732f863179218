"""The tables of the tokenizer's kernel: the vocabulary, and the cache from chunk to ids.

Importing this module imports numba; import it where it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.wordpiece import kernel_cache, kernel_pieces
from bertdata.wordpiece import kernel_encode as kernel
from bertdata.wordpiece.characters import Becomes, CharacterTable
from bertdata.wordpiece.kernel_loads import BLOCK
from bertdata.wordpiece.kernel_words import MAX_ENTRIES, MAX_KEY, PAD, USED, WIDTH, Table
from bertdata.wordpiece.normalizer import Normalizer
from bertdata.wordpiece.vocabulary import CONTINUATION, UNK

CHUNKS = 1 << 20
"""Most chunks in a cache: 52 MB. A sixteenth of them, the first that came, are kept when it begins anew."""
_ARENA_BYTES, _POOL_IDS = 4, 2
"""Room for each chunk: 3 of 100 take more than the 16 bytes in their entry, 5 of 100 have ids in the pool."""


def piece_table(tokens: Sequence[str]) -> kernel_pieces.Pieces:
    """Return the table of a vocabulary; raises ConfigError for one of over 2 million tokens."""
    if len(tokens) >= MAX_ENTRIES:
        raise ConfigError(f"the vocabulary has {len(tokens)} tokens; at most {MAX_ENTRIES - 1} can be looked up")
    bodies = [token.removeprefix(CONTINUATION).encode() for token in tokens]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(list(map(len, bodies)), dtype=np.int64)])
    data = np.frombuffer(b"".join(bodies) + bytes(PAD), np.uint8)
    continues = np.array([token.startswith(CONTINUATION) for token in tokens], np.int64)
    pieces = kernel_pieces.Pieces(
        empty_table(len(tokens), len(data) + 8 * len(tokens)),
        np.zeros(1 << kernel_pieces.LENGTHS_BITS, np.uint64),
        np.array([0, tokens.index(UNK)], np.int64),
    )
    kernel_pieces.add_pieces(pieces, data, offsets, continues)
    return pieces


class ChunkCache:
    """A cache from chunk to ids, the codes of characters that came up, and room to work in; for one call at a time."""

    def __init__(self, normalizer: Normalizer, known: dict[str, Becomes]) -> None:
        self.characters = CharacterTable(normalizer, known)
        self.word = np.zeros(kernel.WORD_BYTES, np.uint8)
        self.window = kernel.Window(*(np.zeros(kernel.WINDOW + 2 * BLOCK, np.uint64) for _ in range(4)))
        self.arrays = kernel_cache.Cache(
            empty_table(CHUNKS, CHUNKS * _ARENA_BYTES), np.empty(CHUNKS * _POOL_IDS, np.uint32)
        )

    def begin(self) -> None:
        """Begin anew, with the commonest chunks, where the cache is full."""
        (_, entries, arena, counters), pool = self.arrays
        rooms = (len(entries) // WIDTH - 1, len(arena) - PAD - MAX_KEY, len(pool) - kernel_cache.MAX_IDS)
        if any(used > room for used, room in zip(counters.tolist(), rooms, strict=True)):
            kept = max(1, min(rooms[0] // 16, int(counters[USED]) // 2))
            kernel_cache.begin_anew(self.arrays, np.zeros(MAX_KEY + PAD, np.uint8), kept)

    def remember(self, chunk: bytes, ids: NDArray[Any]) -> None:
        """Enter a chunk, if there is room for it and for its ids."""
        kernel_cache.remember_chunk(self.arrays, np.frombuffer(chunk + bytes(PAD), np.uint8), len(chunk), ids)


def empty_table(n: int, arena_bytes: int) -> Table:
    """Return a table for `n` keys; what is not used of it takes no memory."""
    entries = np.empty((n + 1) * WIDTH, np.uint64)
    entries[:WIDTH] = np.array([0, 0, 0xFFFF, 0], np.uint64)
    slots = np.zeros(1 << (2 * n - 1).bit_length(), np.uint32)
    return Table(slots, entries, np.empty(arena_bytes + PAD, np.uint8), np.array([1, 0, 0], np.int64))
