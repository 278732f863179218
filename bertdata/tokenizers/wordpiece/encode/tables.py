"""The tables of WordPiece's kernel: the vocabulary, and the cache from chunk to ids with what goes with it.

Importing this module imports numba; import it where it is called.
"""

from __future__ import annotations

import functools

import numpy as np

from bertdata.errors import ConfigError
from bertdata.kernels.byte_table import MAX_ENTRIES
from bertdata.kernels.simd import BLOCK
from bertdata.tokenizers.encode.kernels.double_array import base_of
from bertdata.tokenizers.encode.tables import IdCache, double_array
from bertdata.tokenizers.wordpiece.encode.characters import character_table
from bertdata.tokenizers.wordpiece.encode.kernels import chunks as chunks_kernel
from bertdata.tokenizers.wordpiece.encode.kernels import encode as kernel
from bertdata.tokenizers.wordpiece.encode.kernels.trie import Trie
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.tokenizer_json import MAX_WORD_CHARACTERS
from bertdata.tokenizers.wordpiece.vocabulary import CONTINUATION, UNK

MAX_TOKEN_BYTES = 1 + 4 * MAX_WORD_CHARACTERS


@functools.lru_cache(maxsize=4)
def build_trie(tokens: tuple[str, ...]) -> Trie:
    """Return the trie of a vocabulary; the last few are kept. Raises ConfigError for one of over 2 million tokens."""
    if len(tokens) >= MAX_ENTRIES:
        raise ConfigError(f"the vocabulary has {len(tokens)} tokens; at most {MAX_ENTRIES - 1} can be looked up")
    roots = b"\0", b"\1"
    keys = [
        roots[1] + token[len(CONTINUATION) :].encode() if token.startswith(CONTINUATION) else roots[0] + token.encode()
        for token in tokens
    ]
    ids = [i for i, key in enumerate(keys) if 1 < len(key) <= MAX_TOKEN_BYTES]
    cells = double_array([keys[i] for i in ids], ids)
    return Trie(cells, np.array([*(base_of(cells, root[0]) for root in roots), tokens.index(UNK)], np.int64))


class ChunkCache(IdCache):
    """A cache from chunk to ids, the codes of characters, and the kernel's work arrays; for one call at a time."""

    def __init__(self, normalizer: Normalizer) -> None:
        super().__init__()
        self.characters = character_table(normalizer)
        self.word = np.zeros(kernel.WORD_BYTES, np.uint8)
        self.window = empty_window()


def empty_window() -> chunks_kernel.Window:
    """Return room for the chunks of a window."""
    return chunks_kernel.Window(*(np.zeros(chunks_kernel.WINDOW + 2 * BLOCK, np.uint64) for _ in range(4)))
