"""Any model for the encoder: the ids of each new word are asked of `tokenizers`, once, and kept in the cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bertdata.tokenizers.encode.kernels import asked_words as kernel
from bertdata.tokenizers.encode.kernels.id_cache import MAX_IDS
from bertdata.tokenizers.encode.kernels.word_cache import LONG, NewWords
from bertdata.tokenizers.encode.word_cache import Answer, WordCache


class AskedModel:
    """The model of a `tokenizers.Tokenizer`.

    tokenize: returns the tokens of a word (`tokenizers.models.Model.tokenize`); spell: returns a word as the model
    takes it, such as without the white space before it; an empty one has no ids.
    """

    write_known = staticmethod(kernel.write_known)
    whole: Mapping[bytes, int] = {}
    common: Sequence[bytes] = ()

    def __init__(self, tokenize: Callable[[str], list[Any]], spell: Callable[[str], str], dtype: type[Any]) -> None:
        self._tokenize, self._spell, self.dtype = tokenize, spell, dtype

    def arrays(self) -> kernel.Model:
        """Return what the kernels need: nothing."""
        return kernel.Model(np.zeros(0, np.uint8))

    def encode_left(self, cache: WordCache, new: NewWords) -> None:
        """Give ids to new words that are left."""
        chosen = new.left[(new.left[:, 1] >= new.first) & (new.left[:, 1] < LONG)]
        _, firsts = np.unique(chosen[:, 1], return_index=True)
        data = new.text[new.begin : new.end].tobytes()
        entries, ends, ids = [], [], list[int]()
        for _, entry, word in chosen[firsts].tolist():
            found = self._ids(data[new.positions[word] : new.positions[word + 1]])
            if len(found) > MAX_IDS:
                cache.give(entry, Answer(found))
                continue
            ids += found
            entries.append(entry)
            ends.append(len(ids))
        kernel.give_all(cache.arrays, np.array(entries, np.int64), np.array(ids, self.dtype), np.array(ends, np.int64))

    def encode_long(self, text: Any, start: int, end: int) -> Answer:
        """Return the ids of a word of a text."""
        return Answer(self._ids(text[start:end].tobytes()))

    def _ids(self, word: bytes) -> list[int]:
        spelt = self._spell(word.decode())
        return [token.id for token in self._tokenize(spelt)] if spelt else []
