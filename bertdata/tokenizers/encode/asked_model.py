"""Any model for the encoder: the ids of each new word are asked of `tokenizers`, once, and kept in the cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.tokenizers.encode.kernels import asked_words as kernel
from bertdata.tokenizers.encode.kernels.id_cache import MAX_IDS
from bertdata.tokenizers.encode.kernels.word_cache import LONG, NewWords
from bertdata.tokenizers.encode.word_cache import Answer, WordCache


class AskedModel:
    """The model of a `tokenizers.Tokenizer`.

    ids_of: returns the ids of a word (`tokenizers.models.Model.tokenize`); spell: returns a word as the model
    takes it, such as without the white space before it; an empty one has no ids.
    """

    write_known: Any = staticmethod(kernel.write_known)
    whole: Mapping[bytes, int] = {}
    common: Sequence[bytes] = ()

    def __init__(self, ids_of: Callable[[str], list[int]], spell: Callable[[str], str], dtype: type[Any]) -> None:
        self._ids_of, self._spell, self.dtype = ids_of, spell, dtype

    def arrays(self) -> Any:
        """Return what the kernels need: nothing."""
        return kernel.Model(np.zeros(0, np.uint8))

    def encode_left(self, cache: WordCache, new: NewWords) -> None:
        """Give ids to new words that are left."""
        entries, begins, stops = new_words(new)
        data = new.text[new.begin : new.end].tobytes()
        answers = [
            self._ids(data[start:stop].decode()) for start, stop in zip(begins.tolist(), stops.tolist(), strict=True)
        ]
        ends = np.cumsum([0, *map(len, answers)], dtype=np.int64)
        ids = np.fromiter((token_id for some in answers for token_id in some), self.dtype, int(ends[-1]))
        short = np.diff(ends) <= MAX_IDS
        kernel.give_all(cache.arrays, entries, short, ids, ends)
        for number in np.flatnonzero(~short).tolist():
            cache.give(int(entries[number]), Answer(answers[number]))

    def encode_long(self, text: Any, start: int, end: int) -> Answer:
        """Return the ids of a word of a text."""
        return Answer(self._ids(text[start:end].tobytes().decode()))

    def _ids(self, word: str) -> list[int]:
        spelt = self._spell(word)
        return self._ids_of(spelt) if spelt else []


def new_words(new: NewWords) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries of new words that are left, each once, and where these begin and stop in the unit."""
    chosen = new.left[(new.left[:, 1] >= new.first) & (new.left[:, 1] < LONG)]
    _, firsts = np.unique(chosen[:, 1], return_index=True)
    numbers = chosen[firsts, 2]
    return chosen[firsts, 1], new.positions[numbers].astype(np.int64), new.positions[numbers + 1].astype(np.int64)
