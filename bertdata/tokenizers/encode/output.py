"""The ids of one call as they are written, with where words begin and rows end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.tokenizers.encode.kernels import word_cache as kernel
from bertdata.tokenizers.encode.kernels.word_cache import NewWords
from bertdata.tokenizers.encode.tables import room
from bertdata.tokenizers.encode.word_cache import Answer, Model, WordCache
from bertdata.tokenizers.encode.words import Unit


class Encoded(NamedTuple):
    """Ids (T,); where those of each row begin and end, int64 (N + 1,); at which a word begins, bool (T,) or (0,)."""

    ids: NDArray[Any]
    ends: NDArray[np.int64]
    word_starts: NDArray[np.bool_]


class Output:
    """Ids of texts, as they are written unit by unit.

    n_rows, n_ids: rows and ids that are expected; words: whether it says where words begin.
    """

    def __init__(self, dtype: type[Any], n_rows: int, n_ids: int, *, words: bool) -> None:
        self._dtype, self._words, self._n = dtype, words, 0
        self._ids, self._starts = room(0, dtype), np.zeros(0, np.bool_)
        self._ends, self._n_rows = np.zeros(n_rows + 1, np.int64), 0
        self._make_room(n_ids)

    @property
    def ids(self) -> NDArray[Any]:
        """The ids so far."""
        return self._ids[: self._n]

    @property
    def word_starts(self) -> NDArray[np.bool_]:
        """Where a word begins, bool, as long as `ids` or of length 0."""
        return self._starts[: self._n]

    @property
    def ends(self) -> NDArray[np.int64]:
        """A 0, and where the ids of each row end."""
        return self._ends[: self._n_rows + 1]

    def _make_rows(self, n: int) -> None:
        """Make room for the first `n` rows."""
        if n >= len(self._ends):
            ends = np.zeros(max(n + 1, 2 * len(self._ends)), np.int64)
            ends[: self._n_rows + 1] = self.ends
            self._ends = ends
        self._n_rows = max(n, self._n_rows)

    def _make_room(self, n: int) -> None:
        """Make room for `n` more ids, and the 8 bytes that may be written after them."""
        needed = self._n + n + 8
        if needed > len(self._ids):
            ids = room(max(needed, 2 * len(self._ids)), self._dtype)
            starts = np.zeros(len(ids) if self._words else 0, np.bool_)
            ids[: self._n], starts[: self._n] = self.ids, self.word_starts
            self._ids, self._starts = ids, starts

    def write_known(self, unit: Unit, cache: WordCache, model: Model) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Write the ids of the words of a unit, and let the model give new ones that are left theirs.

        Returns the words that are left and the long ones, as `kernel.write_known` has them.
        """
        self._make_rows(unit.first_row + unit.stop)
        self._make_room(kernel.MOST_SHORT * unit.n_words)
        first = cache.used
        to = self._ids, self._n, self._starts, self._ends[unit.first_row :], unit.left, unit.longs, cache.window
        rows = unit.offsets, unit.row, unit.stop, cache.arrays
        words = unit.text, unit.begin, unit.positions, unit.n_words
        n, n_left, n_long = model.write_known(*words, *rows, *to, model.arrays())
        self._n, left = int(n), unit.left[:n_left]
        if n_left and cache.used > first:
            cache.make_room(cache.used - first)
            model.encode_left(cache, NewWords(unit.text, unit.begin, unit.end, unit.positions, left, first))
        return left, unit.longs[:n_long]

    def insert_left(self, unit: Unit, cache: WordCache, left: NDArray[np.int64], answers: Sequence[Answer]) -> None:
        """Insert the ids of the words that are left; the ids of the long ones are those of the answers."""
        long_ids = np.concatenate(
            [np.zeros(0, self._dtype), *(np.array(answer.ids, self._dtype) for answer in answers)]
        )
        long_ends = np.cumsum([0, *(len(answer.ids) for answer in answers)])
        total = int(kernel.count_left(left, len(left), cache.arrays)) + len(long_ids)
        self._make_room(total)
        kernel.insert_left(
            left, len(left), unit.positions, unit.offsets, unit.row, unit.stop, cache.arrays, long_ids, long_ends,
            self._ids, self._n, total, self._starts, self._ends[unit.first_row :],
        )  # fmt: skip
        self._n += total
