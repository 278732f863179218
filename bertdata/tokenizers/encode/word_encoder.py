"""Rows of text to ids: words by a scanner, ids by a cache, new words by a model; the rest is left to `tokenizers`.

Each call has a cache of its own, so nothing is locked; at most `MAX_IDLE` caches that are not in use are kept. Special
tokens are text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.text_arrays import READ_AHEAD, arrays_of
from bertdata.tokenizers.encode.added_tokens import AddedTokens
from bertdata.tokenizers.encode.kernels import bitmaps as bits
from bertdata.tokenizers.encode.kernels import word_cache as kernel
from bertdata.tokenizers.encode.scanners import Scanner
from bertdata.tokenizers.encode.tables import room
from bertdata.tokenizers.encode.word_cache import Answer, WordCache
from bertdata.tokenizers.encode.words import units

MAX_IDLE, MAX_FIRST = 8, 1 << 16
_AROUND = 256
"""Bytes around a word that tell whether there is only white space between it and an end of its row."""


class Model(Protocol):
    """Gives ids of type `dtype` to words.

    whole: words with one id, whatever their parts; common: words that a cache begins with, the most common first.
    """

    dtype: type[Any]

    @property
    def whole(self) -> Mapping[bytes, int]: ...
    @property
    def common(self) -> Sequence[bytes]: ...

    def encode_new(self, cache: WordCache, first: int, text: Any, begin: int, end: int) -> None:
        """Give ids to the entries from `first` on, which are words of text[begin:end]."""

    def encode_long(self, text: Any, start: int, end: int) -> Answer:
        """Return the ids of a word of a text that is not in the cache."""


class Encoded(NamedTuple):
    """Ids (T,); where those of each row begin and end, int64 (N + 1,); at which a word begins, bool (T,) or (0,)."""

    ids: NDArray[Any]
    ends: NDArray[np.int64]
    word_starts: NDArray[np.bool_]


@dataclass(frozen=True)
class Encoder:
    """The ids of texts under one tokenizer. Threads may share one, and run at the same time.

    reference: the `tokenizers.Tokenizer`, which takes literal special tokens for text. added: tokens that are found
    before words are; the rows that hold any, or that the scanner is unsure of, are cut by `added.split` and their texts
    encoded with `inner`, the scanner of normalized text. Without it these rows are left to the reference. prefix_space:
    whether a space is put before a text that begins with none.
    """

    scanner: Scanner
    model: Model
    reference: Any
    added: AddedTokens | None = None
    inner: Scanner | None = None
    prefix_space: bool = False
    _idle: deque[WordCache] = field(default_factory=lambda: deque(maxlen=MAX_IDLE), init=False, compare=False)

    def __call__(self, arrays: Iterable[pa.Array], n_rows: int, size: int, *, words: bool = False) -> Encoded:
        """Return the ids of Arrow string arrays without nulls, and with `words` where words begin.

        There are `n_rows` in all the arrays; about `size` bytes of text are expected. Raises InputError, naming the
        row, where the bytes of one are not UTF-8.
        """
        with self._cache() as cache:
            run = _Run(self, self.scanner, cache, n_rows, size, words)
            unsure = run.encode(map(_with_space, arrays) if self.prefix_space else arrays)
            return run.with_answers(list(unsure), self._answers(list(unsure.values()), cache, words))

    def _begin_with(self, cache: WordCache, words: Sequence[bytes]) -> None:
        """Enter words into a new cache, where they cost less than between others."""
        text = np.frombuffer(b"".join(words) + bytes(READ_AHEAD), np.uint8)
        positions = np.cumsum([0, *map(len, words)]).astype(np.uint32)
        end = int(positions[-1])
        cache.begin(len(words))
        first = cache.used
        found, longs = np.empty(len(words), np.uint32), np.empty((len(words) + 1, 2), np.int64)
        cache.look_up(text, 0, positions, len(words), found, longs)
        cache.make_room(cache.used - first)
        self.model.encode_new(cache, first, text, 0, end)

    def _answers(self, rows: Sequence[str], cache: WordCache, words: bool) -> list[tuple[Any, Any]]:
        """Return ids and word starts of rows that the scanner is unsure of."""
        if self.added is None or self.inner is None or not rows:
            return [self._ask(row, words) for row in rows]
        parts = list(map(self.added.split, rows))
        texts = [part for row in parts for part in row if isinstance(part, str)]
        run = _Run(self, self.inner, cache, len(texts), sum(map(len, texts)), words)
        run.encode(arrays_of(texts))
        ids, ends, starts = run.with_answers([], [])
        found = iter([(ids[begin:end], starts[begin:end]) for begin, end in pairwise(ends.tolist())])
        one = np.ones(int(words), np.bool_)
        answers: list[tuple[Any, Any]] = []
        for row in parts:
            both = [next(found) if isinstance(part, str) else (np.array([part], ids.dtype), one) for part in row]
            row_ids, row_starts = zip((ids[:0], starts[:0]), *both, strict=True)
            answers.append((np.concatenate(row_ids), np.concatenate(row_starts)))
        return answers

    def _ask(self, row: str, words: bool) -> tuple[Any, Any]:
        encoded = self.reference.encode(row, add_special_tokens=False)
        starts = [before != word for before, word in pairwise([None, *encoded.word_ids])] if words else []
        return encoded.ids, np.array(starts, np.bool_)

    @contextmanager
    def _cache(self) -> Iterator[WordCache]:
        """Borrow a cache exclusively."""
        try:
            cache = self._idle.pop()
        except IndexError:
            cache = WordCache(self.model.whole, self.model.dtype)
            self._begin_with(cache, self.model.common[:MAX_FIRST])
        try:
            yield cache
        finally:
            self._idle.append(cache)


def _with_space(rows: pa.Array) -> pa.Array:
    """Return texts with a space before each that begins with none."""
    rows = rows.cast(pa.large_string())
    empty, space = (pa.scalar(text, rows.type) for text in ("", " "))
    spaced = pc.binary_join_element_wise(empty, rows, space)
    return pc.if_else(pc.or_(pc.starts_with(rows, " "), pc.equal(rows, "")), rows, spaced)


class _Run:
    """The encoding of some arrays: the output so far."""

    def __init__(
        self, encoder: Encoder, scanner: Scanner, cache: WordCache, n_rows: int, size: int, words: bool
    ) -> None:
        self._encoder, self._found, self._cache = encoder, cache.words_of(scanner), cache
        self._dtype, self._words = np.dtype(encoder.model.dtype), words
        self._out, self._starts, self._written = room(0, self._dtype.type), np.zeros(0, np.bool_), 0
        self._widen(size // 3 + 4096)
        self._ends = np.zeros(n_rows + 1, np.int64)

    def _widen(self, n: int) -> None:
        """Give the output room for `n` ids."""
        wider, starts = room(n, self._dtype.type), np.zeros(n if self._words else 0, np.bool_)
        wider[: self._written] = self._out[: self._written]
        starts[: self._written] = self._starts[: self._written]
        self._out, self._starts = wider, starts

    def encode(self, arrays: Iterable[pa.Array]) -> dict[int, str]:
        """Encode the rows; returns those that the scanner or the model is unsure of, by their numbers."""
        left: dict[int, str] = {}
        for text, offsets, row, stop, first_row in units(arrays):
            unsure = np.zeros(stop - row, np.bool_)
            self._encode(text, offsets, row, stop, self._ends[first_row:], unsure)
            for one in (row + np.flatnonzero(unsure)).tolist():
                left[first_row + one] = text[offsets[one] : offsets[one + 1]].tobytes().decode()
        return left

    def _encode(self, text: Any, offsets: Any, row: int, stop: int, ends: Any, unsure: Any) -> None:
        """Write the ids of some rows, and set `unsure`, one for each of them."""
        begin, end = int(offsets[row]), int(offsets[stop])
        cache, model, words = self._cache, self._encoder.model, self._found
        cache.begin((end - begin) // 4)
        n_words = words.find(text, offsets, row, stop)
        found, positions = words.found, words.positions
        if self._encoder.added is not None and words.scanner is self._encoder.scanner:
            self._encoder.added.mark(text, begin, end - begin, words.bitmaps.unsure)
        first = cache.used
        n_long = cache.look_up(text, begin, positions, n_words, found, words.longs)
        if cache.used > first:
            cache.make_room(cache.used - first)
            model.encode_new(cache, first, text, begin, end)
        answers = [model.encode_long(text, start, after) for start, after in words.longs[:n_long].tolist()]
        long_ends = np.cumsum([0, *(len(answer.ids) for answer in answers)])[1:]
        long_ids = np.concatenate([np.zeros(0, self._dtype), *(np.array(one.ids, self._dtype) for one in answers)])
        bits.mark_unsure_rows(words.bitmaps.unsure, offsets, row, stop, unsure)
        self._mark_dependent(text, offsets, row, n_words, answers, unsure)
        arguments = (found, positions, n_words, offsets, row, stop, cache.arrays, long_ids, long_ends)
        while (written := kernel.write_ids(*arguments, self._out, self._written, self._starts, ends)) < 0:
            self._widen(2 * len(self._out) + len(long_ids))
        self._written = written

    def _mark_dependent(
        self, text: Any, offsets: Any, first: int, n_words: int, answers: Sequence[Answer], unsure: Any
    ) -> None:
        """Mark the rows from `first` on as unsure in which the ids of a word depend on what is around it."""
        begin = int(offsets[first])
        found, positions = self._found.found[:n_words], self._found.positions[: n_words + 1]
        longs = {kernel.LONG + number: answer for number, answer in enumerate(answers)}
        dependent = {
            number: answer.depends
            for number, answer in (self._cache.answers | longs).items()
            if answer.depends != "never"
        }
        if dependent:
            at = np.flatnonzero(np.isin(found, list(dependent)))
            rows = np.searchsorted(offsets, begin + positions[at].astype(np.int64), side="right") - 1
            for number, row, word in zip(found[at].tolist(), rows.tolist(), at.tolist(), strict=True):
                start, stop = begin + int(positions[word]), begin + int(positions[word + 1])
                before = text[max(offsets[row], start - _AROUND) : start]
                after = text[stop : min(offsets[row + 1], stop + _AROUND)]
                edge = any(not part.tobytes().decode("utf-8", "ignore").strip() for part in (before, after))
                unsure[row - first] |= edge or dependent[number] == "always"

    def with_answers(self, rows: Sequence[int], answers: Sequence[tuple[Any, Any]]) -> Encoded:
        """Return all ids, those of some rows replaced by answers."""
        out, ends, starts = self._out[: self._written], self._ends, self._starts[: self._written]
        if not rows:
            return Encoded(out, ends, starts)
        parts, marks, lengths, at = [], [], np.diff(ends), 0
        for row, (ids, begins) in zip(rows, answers, strict=True):
            parts += [out[at : ends[row]], np.array(ids, self._dtype)]
            marks += [starts[at : ends[row]], begins]
            lengths[row], at = len(ids), ends[row + 1]
        ids = np.concatenate([*parts, out[at:]])
        return Encoded(ids, np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([*marks, starts[at:]]))
