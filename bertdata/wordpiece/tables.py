"""The tables of the tokenizer's kernel, made and enlarged: the vocabulary, and the cache from chunk to ids.

Importing this module imports numba; import it where it is called.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bertdata.wordpiece import kernel_encode as kernel
from bertdata.wordpiece.characters import Becomes, CharacterTable
from bertdata.wordpiece.kernel_words import BLOCK, MAX_KEY, PAD, WIDTH, rehash
from bertdata.wordpiece.normalizer import Normalizer
from bertdata.wordpiece.vocabulary import CONTINUATION, UNK

FIRST_SLOTS, MAX_SLOTS = 1 << 15, 1 << 21
_ARENA_BYTES, _POOL_IDS = 8, 1
"""Room for each slot; a table is a quarter full at most, and the mean chunk of English takes 10 bytes."""


def piece_table(tokens: Sequence[str]) -> kernel.Pieces:
    """Return the table of a vocabulary."""
    bodies = [token.removeprefix(CONTINUATION).encode() for token in tokens]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(list(map(len, bodies)), dtype=np.int64)])
    data = np.frombuffer(b"".join(bodies) + bytes(PAD), np.uint8)
    continues = np.array([token.startswith(CONTINUATION) for token in tokens], np.int64)
    slots = 1 << (2 * len(tokens)).bit_length()
    pieces = kernel.Pieces(
        _slots(slots),
        np.zeros(len(data) + 8 * len(tokens) + PAD, np.uint8),
        np.zeros(1 << 13, np.uint64),
        np.array([0, tokens.index(UNK)], np.int64),
    )
    kernel.add_pieces(pieces, data, offsets, continues)
    return pieces


class ChunkCache:
    """A cache from chunk to ids, the codes of characters that came up, and room to work in; for one call at a time."""

    def __init__(self, normalizer: Normalizer, known: dict[str, Becomes]) -> None:
        self.characters = CharacterTable(normalizer, known)
        self.word = np.zeros(kernel.WORD_BYTES, np.uint8)
        self.found = np.zeros((BLOCK, 3), np.int64)
        self.arrays = _empty(FIRST_SLOTS)

    @property
    def slots(self) -> int:
        """The number of slots."""
        return len(self.arrays.slots) // WIDTH

    @property
    def may_grow(self) -> bool:
        """Whether the cache is below its bound."""
        return self.slots < MAX_SLOTS

    def begin(self) -> None:
        """Empty the cache where it is full and at its bound."""
        if not self.may_grow and not kernel.has_room(self.arrays):
            self.arrays = _empty(FIRST_SLOTS)

    def grow(self) -> None:
        """Double the room, up to the bound."""
        old, larger = self.arrays, _empty(2 * self.slots)
        larger.arena[: len(old.arena)], larger.pool[: len(old.pool)] = old.arena, old.pool
        larger.counters[:] = old.counters
        rehash(old.slots, larger.slots, larger.arena)
        self.arrays = larger

    @staticmethod
    def may_hold(chunk: str) -> bool:
        """Tell whether a chunk is short enough to be kept."""
        return len(chunk.encode()) <= MAX_KEY

    def remember(self, chunk: str, ids: Sequence[int]) -> bool:
        """Enter a chunk; returns False where it has too many ids or the cache is full and at its bound."""
        if not kernel.has_room(self.arrays):
            if not self.may_grow:
                return False
            self.grow()
        data = chunk.encode()
        key = np.frombuffer(data + bytes(PAD), np.uint8)
        return bool(kernel.remember_chunk(self.arrays, key, len(data), np.array(ids, np.uint32)))


def _slots(n: int) -> NDArray[np.uint64]:
    """Return free slots, none of which lies across two cache lines."""
    room = np.zeros(n * WIDTH + 8, np.uint64)
    start = -(room.ctypes.data // 8) % 8
    return room[start : start + n * WIDTH]


def _empty(slots: int) -> kernel.Cache:
    return kernel.Cache(
        _slots(slots),
        np.zeros(slots * _ARENA_BYTES, np.uint8),
        np.zeros(slots * _POOL_IDS, np.uint32),
        np.zeros(3, np.int64),
    )
