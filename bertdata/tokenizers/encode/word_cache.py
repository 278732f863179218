"""The cache from word to ids of one call at a time, and the words of a unit of text as numbers of its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from bertdata.kernels.byte_table import POOL_USED
from bertdata.text_arrays import READ_AHEAD
from bertdata.tokenizers.encode.kernels import word_cache as kernel
from bertdata.tokenizers.encode.kernels.id_cache import MAX_IDS, MAX_KEY
from bertdata.tokenizers.encode.kernels.word_cache import NewWords
from bertdata.tokenizers.encode.scanners import Scanner
from bertdata.tokenizers.encode.tables import IdCache, room
from bertdata.tokenizers.encode.words import Words


@dataclass(frozen=True)
class Answer:
    """The ids of a word, and when what is around it decides them, so that `tokenizers` must encode the text."""

    ids: Sequence[int] | Any
    depends: Literal["never", "at an edge", "always"] = "never"


class WordCache(IdCache):
    """Words and their ids. `whole`: words with one id whatever a model says of them, which are always kept."""

    def __init__(self, whole: Mapping[bytes, int], dtype: type[Any]) -> None:
        super().__init__()
        self.word = np.zeros(MAX_KEY + READ_AHEAD, np.uint8)
        self.window = np.zeros((4, kernel.WINDOW + 1), np.uint64)
        self._dtype = dtype
        self._words: dict[int, Words] = {}
        self.answers: dict[int, Answer] = {}
        """The entries whose ids depend on what is around the word."""
        for word, token_id in whole.items():
            if len(word) <= MAX_KEY:
                self.remember(word, np.array([token_id], dtype))
        self.pinned = self.used

    def words_of(self, scanner: Scanner) -> Words:
        """Return where the words that a scanner finds are written, the same arrays each time."""
        if id(scanner) not in self._words:
            self._words[id(scanner)] = Words(scanner)
        return self._words[id(scanner)]

    def keep(self, n_slots: int, kept: int) -> None:
        """Keep the first entries, under so many slots."""
        super().keep(n_slots, kept)
        self.answers = {entry: answer for entry, answer in self.answers.items() if entry < kept}

    def make_room(self, entries: int) -> None:
        """Make room in the pool for the ids of so many entries."""
        used = int(self.arrays.table.counters[POOL_USED])
        if used + entries * MAX_IDS > len(self.arrays.pool):
            wider = room(2 * used + entries * MAX_IDS, np.uint32)
            wider[:used] = self.arrays.pool[:used]
            self.arrays = self.arrays._replace(pool=wider)

    def bytes_of(self, entry: int) -> bytes:
        """Return the word of an entry."""
        return self.word[: kernel.word_of(self.arrays.table, entry, self.word)].tobytes()

    def give(self, entry: int, answer: Answer) -> None:
        """Give an entry without ids those of an answer; over MAX_IDS ids are as if they depended on the text."""
        if len(answer.ids) > MAX_IDS:
            answer = Answer([], depends="always")
        if answer.depends != "never":
            self.answers[entry] = answer
        kernel.give_ids(self.arrays, entry, np.array(answer.ids, self._dtype), answer.depends != "never")


class Model(Protocol):
    """Gives ids of type `dtype` to words.

    whole: words with one id, whatever their parts; common: words that a cache begins with, the most common first.
    """

    dtype: type[Any]

    @property
    def whole(self) -> Mapping[bytes, int]: ...
    @property
    def common(self) -> Sequence[bytes]: ...

    write_known: Any
    """The kernel `word_cache.write_known` with how this model encodes words; its last argument is `arrays()`."""

    def arrays(self) -> Any:
        """Return what the kernels need, with room that no other call has."""

    def encode_left(self, cache: WordCache, new: NewWords) -> None:
        """Give ids to new words that are left."""

    def encode_long(self, text: Any, start: int, end: int) -> Answer:
        """Return the ids of a word of a text that is not in the cache."""


@runtime_checkable
class ModelOfRows(Model, Protocol):
    """A model that encodes a row whole where it has over `most_bytes`, or a word that is not certain by itself."""

    most_bytes: int

    def encode_row(self, row: str) -> Any:
        """Return the ids of a whole row."""
