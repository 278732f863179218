"""Rows of text to ids: words by a scanner, ids by a cache, new words by a model; the rest is left to `tokenizers`.

Each call has a cache of its own, so nothing is locked; at most `MAX_IDLE` caches that are not in use are kept. Special
tokens are text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.text_arrays import READ_AHEAD, arrays_of
from bertdata.tokenizers.encode.added_tokens import AddedTokens, encode_between
from bertdata.tokenizers.encode.kernels import bitmaps as bits
from bertdata.tokenizers.encode.kernels import word_cache as kernel
from bertdata.tokenizers.encode.output import Encoded, Output
from bertdata.tokenizers.encode.scanners import PatternScanner, Scanner
from bertdata.tokenizers.encode.word_cache import Answer, Model, ModelOfRows, WordCache
from bertdata.tokenizers.encode.words import UNIT_BYTES, Unit, units
from bertdata.tokenizers.newer_characters import known_to

MAX_IDLE, MAX_FIRST = 8, 1 << 16
_AROUND = 256
"""Bytes around a word that tell whether there is only white space between it and an end of its row."""


@dataclass(frozen=True)
class Encoder:
    """The ids of texts under one tokenizer. Threads may share one, and run at the same time.

    reference: the `tokenizers.Tokenizer` without added tokens, which is asked for rows that the scanner or the model is
    unsure of. added: tokens that are found before words are. normalize, inner: what the normalizer makes of a text, and
    the scanner of normalized text, for rows that the scanner is unsure of; without them these are left to the
    reference. before, after: what rewrites texts before added tokens are found in normalized text, and after. whole:
    whether a text between added tokens is one word, whatever the scanner says.
    """

    scanner: Scanner
    model: Model
    reference: Any
    added: AddedTokens
    normalize: Callable[[str], str] | None = None
    inner: Scanner | None = None
    before: Sequence[Callable[[pa.Array], pa.Array]] = ()
    after: Sequence[Callable[[pa.Array], pa.Array]] = ()
    whole: bool = False
    _idle: deque[WordCache] = field(default_factory=lambda: deque(maxlen=MAX_IDLE), init=False, compare=False)

    def __call__(self, arrays: Iterable[pa.Array], n_rows: int, size: int, *, words: bool = False) -> Encoded:
        """Return the ids of Arrow string arrays of UTF-8 without nulls, and with `words` where words begin.

        There are `n_rows` in all the arrays; about `size` bytes of text are expected.
        """
        with self._cache() as cache:

            def encode(texts: Iterable[pa.Array]) -> Encoded:
                if self.before:
                    from bertdata.tokenizers.encode.rewriting import rewritten

                    texts = rewritten(texts, self.before)
                return encode_between(self.added.normalized, texts, encode_pieces, mark_changed)

            def encode_pieces(texts: Iterable[pa.Array]) -> Encoded:
                run = _Run(self, self.scanner, cache, n_rows, size, words)
                for stage in self.after:
                    texts = map(stage, texts)
                unsure = run.encode(texts)
                encoded = run.with_answers(list(unsure), self._answers(list(unsure.values()), cache, words))
                return _with_whole_rows(encoded) if self.whole and words else encoded

            scanner = self.scanner if self.normalize is not None else None
            mark_changed = scanner.mark_unsure if isinstance(scanner, PatternScanner) else None
            return encode_between(self.added.raw, arrays, encode)

    def _begin_with(self, cache: WordCache, words: Sequence[bytes]) -> None:
        """Enter words into a new cache, where they cost less than between others."""
        data = b"".join(words)
        text, offsets = np.frombuffer(data + bytes(READ_AHEAD), np.uint8), np.array([0, len(data)])
        positions = np.cumsum([0, *map(len, words)]).astype(np.uint32)
        left, longs = np.empty((len(words), 3), np.int64), np.empty((len(words), 2), np.int64)
        cache.begin(len(words))
        unit = Unit(text, offsets, 0, 1, 0, positions, len(words), left, longs)
        Output(self.model.dtype, 1, 0, words=False).write_known(unit, cache, self.model)

    def _answers(self, rows: Sequence[str], cache: WordCache, words: bool) -> list[tuple[Any, Any]]:
        """Return ids and word starts of rows that the scanner is unsure of."""
        inner, normalize = self.inner, self.normalize
        if inner is None or normalize is None or not rows:
            return [self._ask(row, words) for row in rows]

        def encode(texts: Iterable[pa.Array]) -> Encoded:
            run = _Run(self, inner, cache, len(rows), sum(map(len, rows)), words)
            run.encode(texts)
            return run.with_answers([], [])

        ids, ends, starts = encode_between(self.added.normalized, arrays_of(list(map(normalize, rows))), encode)
        return [(ids[begin:end], starts[begin:end]) for begin, end in pairwise(ends.tolist())]

    def _ask(self, row: str, words: bool) -> tuple[Any, Any]:
        if isinstance(self.model, ModelOfRows):
            ids = self.model.encode_row(row)
            return ids, np.zeros(len(ids) if words else 0, np.bool_)
        encoded = self.reference.encode(*known_to(self.reference, [row]), add_special_tokens=False)
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


def _with_whole_rows(encoded: Encoded) -> Encoded:
    """Return ids of which each row is one word."""
    starts = np.zeros(len(encoded.ids), np.bool_)
    starts[encoded.ends[:-1][np.diff(encoded.ends) > 0]] = True
    return encoded._replace(word_starts=starts)


class _Run:
    """The encoding of some arrays: the output so far."""

    def __init__(
        self, encoder: Encoder, scanner: Scanner, cache: WordCache, n_rows: int, size: int, words: bool
    ) -> None:
        self._encoder, self._words, self._cache = encoder, cache.words_of(scanner), cache
        self._output = Output(encoder.model.dtype, n_rows, size // 3 + min(size, UNIT_BYTES), words=words)

    def encode(self, arrays: Iterable[pa.Array]) -> dict[int, str]:
        """Encode the rows; returns those that the scanner or the model is unsure of, by their numbers."""
        unsure: dict[int, str] = {}
        for text, offsets, row, stop, first_row in units(arrays):
            self._cache.begin(int(offsets[stop] - offsets[row]) // 4)
            unit = self._words.find(text, offsets, row, stop, first_row)
            for row_number in (row + np.flatnonzero(self._encode(unit))).tolist():
                unsure[first_row + row_number] = text[offsets[row_number] : offsets[row_number + 1]].tobytes().decode()
        return unsure

    def _encode(self, unit: Unit) -> NDArray[np.bool_]:
        """Write the ids of a unit; returns whether each of its rows is unsure."""
        cache, model, bitmaps = self._cache, self._encoder.model, self._words.bitmaps
        left, longs = self._output.write_known(unit, cache, model)
        answers = [model.encode_long(unit.text, start, end) for start, end in longs.tolist()]
        unsure = np.zeros(unit.stop - unit.row, np.bool_)
        bits.mark_unsure_rows(bitmaps.unsure, unit.offsets, unit.row, unit.stop, unsure)
        if isinstance(model, ModelOfRows):
            unsure |= np.diff(unit.offsets[unit.row : unit.stop + 1]) > model.most_bytes
        if len(left):
            self._output.insert_left(unit, cache, left, answers)
            self._mark_dependent(unit, left, answers, unsure)
        return unsure

    def _mark_dependent(
        self, unit: Unit, left: NDArray[np.int64], answers: Sequence[Answer], unsure: NDArray[np.bool_]
    ) -> None:
        """Mark the rows as unsure in which the ids of a word depend on what is around it."""
        longs = {kernel.LONG + number: answer for number, answer in enumerate(answers) if answer.depends != "never"}
        dependent = self._cache.answers | longs
        if not dependent:
            return
        text, offsets = unit.text, unit.offsets
        for _, number, word in left[np.isin(left[:, 1], list(dependent))].tolist():
            start, stop = (unit.begin + int(place) for place in unit.positions[word : word + 2])
            row = int(np.searchsorted(offsets, start, side="right")) - 1
            before = text[max(offsets[row], start - _AROUND) : start]
            after = text[stop : min(offsets[row + 1], stop + _AROUND)]
            edge = any(not part.tobytes().decode("utf-8", "ignore").strip() for part in (before, after))
            unsure[row - unit.row] |= edge or dependent[number].depends == "always"

    def with_answers(self, rows: Sequence[int], answers: Sequence[tuple[Any, Any]]) -> Encoded:
        """Return all ids, those of some rows replaced by answers."""
        out, ends, starts = self._output.ids, self._output.ends, self._output.word_starts
        if not rows:
            return Encoded(out, ends, starts)
        parts, marks, lengths, at = [], [], np.diff(ends), 0
        for row, (ids, begins) in zip(rows, answers, strict=True):
            parts += [out[at : ends[row]], np.array(ids, out.dtype)]
            marks += [starts[at : ends[row]], begins]
            lengths[row], at = len(ids), ends[row + 1]
        ids = np.concatenate([*parts, out[at:]])
        return Encoded(ids, np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([*marks, starts[at:]]))
