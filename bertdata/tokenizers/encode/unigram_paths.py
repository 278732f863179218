"""Unigram without the model of `tokenizers`: its normalizer and pre-tokenizer, and the best paths of their words.

What kernels leave of a text, such as words with characters that make graphemes, is encoded so. Opening the model, which
for XLM-R takes a second, is not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.tokenizers.encode.kernels import unigram_words as kernel
from bertdata.tokenizers.encode.kernels.spelled_words import Removed
from bertdata.tokenizers.encode.kernels.unigram import Path, Pieces

NOTHING = Removed(np.zeros(0, np.uint8), np.zeros(0, np.bool_))
"""No character is removed before words."""


class EncodedText(NamedTuple):
    """What `tokenizers.Encoding` says of a text: its ids, and the number of the word that each is in."""

    ids: list[int]
    word_ids: list[int]


class UnigramPaths:
    """The ids of words that are normalized, of any length.

    fallback: the ids of bytes that stand for unknown characters, int64 (256,); none where these have the unknown id.
    """

    def __init__(self, pieces: Pieces, fallback: NDArray[np.int64]) -> None:
        self.pieces, self.fallback = pieces, fallback

    def room(self, size: int, dtype: type[Any], *, asks: bool = False, removed: Removed = NOTHING) -> kernel.Model:
        """Return what kernels need, with room for words of so many bytes that no other call has."""
        starts, ids = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
        path = Path(np.empty(size, np.uint8), np.empty(size + 1), starts, ids)
        return kernel.Model(self.pieces, removed, path, asks, self.fallback, np.empty(size + 1, dtype))

    def ids_of_word(self, word: str) -> list[int]:
        """Return the ids of a word."""
        return self.ids_of([word])[0]

    def ids_of(self, words: Sequence[str]) -> list[list[int]]:
        """Return the ids of each word."""
        parts = [word.encode() for word in words]
        sizes = list(map(len, parts))
        text, ends = np.frombuffer(b"".join(parts), np.uint8), np.cumsum(sizes, dtype=np.int64)
        model = self.room(max(sizes, default=0), np.int64)
        ids, id_ends = np.empty(len(text), np.int64), np.empty(len(ends), np.int64)  # no more ids than bytes
        kernel.encode_words(text, ends, model, ids, id_ends)
        return [ids[start:end].tolist() for start, end in pairwise([0, *id_ends.tolist()])]


class UnigramReference:
    """Does what a `tokenizers.Tokenizer` without added tokens does. Threads may share one.

    reference: what has its normalizer and its pre-tokenizer.
    """

    def __init__(self, reference: Any, paths: UnigramPaths) -> None:
        self.normalizer, self.pre_tokenizer, self.paths = reference.normalizer, reference.pre_tokenizer, paths

    def words(self, text: str) -> list[str]:
        """Return the words of a text, normalized."""
        body = text if self.normalizer is None else self.normalizer.normalize_str(text)
        if self.pre_tokenizer is None:
            return [body]
        return [word for word, _ in self.pre_tokenizer.pre_tokenize_str(body)]

    def encode(self, text: str, *, add_special_tokens: bool) -> EncodedText:
        """Return the ids of a text, without special tokens around it."""
        assert not add_special_tokens
        answers = self.paths.ids_of(self.words(text))
        numbers = [number for number, ids in enumerate(answers) for _ in ids]
        return EncodedText([token_id for ids in answers for token_id in ids], numbers)
