"""From chunk to ids: the vocabulary, the longest match, and the cache in front of both.

A chunk of printable ASCII is cut into words here and each word matched here; any other chunk goes through
`tokenizers`. Both answers are remembered, so each distinct chunk is worked out about once for the life of the object.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import Any

from bertdata.wordpiece import formats
from bertdata.wordpiece.vocabulary import CONTINUATION, UNK

Ids = tuple[int, ...]
CACHE_ENTRIES = 1 << 19
CACHED_CHARACTERS = 64
"""Longer chunks and words are worked out each time, so that hostile text cannot fill the memory."""


class Lookup:
    """The ids of chunks under one vocabulary and normaliser; special tokens are text.

    The cache holds up to `CACHE_ENTRIES` chunks and as many words, and begins anew when it is full. Threads may share
    one object: an entry is always right, and at worst two threads work out the same one.
    """

    def __init__(self, parts: formats.Parts) -> None:
        self._parts = parts
        self.ids = {token: token_id for token_id, token in enumerate(parts.tokens)}
        self._unknown = (self.ids[UNK],)
        self._longest = max(len(token.removeprefix(CONTINUATION)) for token in parts.tokens)
        self._chunks: dict[str, Ids] = {}
        self._words: dict[str, Ids] = {}

    @cached_property
    def _plain(self) -> Any:
        return formats.build_plain(self._parts)

    def __call__(self, chunks: list[str]) -> list[Ids]:
        """Return the ids of each chunk; raises TypeError for a lone surrogate, as `tokenizers` does."""
        found = map(self._chunks.get, chunks)
        return [self._chunk(chunk) if ids is None else ids for chunk, ids in zip(chunks, found, strict=True)]

    def _chunk(self, chunk: str) -> Ids:
        words = self._parts.normalizer.plain_words(chunk)
        if words is None:
            ids: Ids = tuple(self._plain.encode(chunk, add_special_tokens=False).ids)
        else:
            ids = tuple(chain.from_iterable(map(self._word, words)))
        return _remember(self._chunks, chunk, ids)

    def _word(self, word: str) -> Ids:
        ids = self._words.get(word)
        return _remember(self._words, word, self._longest_match(word)) if ids is None else ids

    def _longest_match(self, word: str) -> Ids:
        if len(word) > formats.MAX_WORD_CHARACTERS:
            return self._unknown
        ids: list[int] = []
        start = 0
        while start < len(word):
            prefix = CONTINUATION if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                token_id = self.ids.get(prefix + word[start:end])
                if token_id is not None:
                    break
            else:
                return self._unknown
            ids.append(token_id)
            start = end
        return tuple(ids)


def _remember(cache: dict[str, Ids], key: str, ids: Ids) -> Ids:
    if len(key) <= CACHED_CHARACTERS:
        if len(cache) >= CACHE_ENTRIES:
            cache.clear()
        cache[key] = ids
    return ids
