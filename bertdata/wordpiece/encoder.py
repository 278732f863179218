"""Rows of text to ids: the tables that `kernel_encode.scan` works on, and the answers that it asks for.

A cache from chunk to ids lives as long as its encoder, and grows to at most 90 MB; then it begins anew. A call has one
to itself, so nothing is locked and nothing can be seen half-written; those not in use lie in a pile, at most `MAX_IDLE`
of them. What the kernel cannot tell goes through `tokenizers`, once for each distinct chunk. Special tokens are text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.wordpiece import formats
from bertdata.wordpiece.chunks import offsets_of, padded, text_of, utf8_error

if TYPE_CHECKING:
    from bertdata.wordpiece.tables import ChunkCache

MAX_IDLE = 8
_UNIT = 1 << 20
_MAX_PENDING = 4096


class Encoder:
    """The ids of texts under one vocabulary and normaliser. Threads may share one, and run at the same time."""

    def __init__(self, parts: formats.Parts) -> None:
        self._parts = parts
        self._known: dict[str, tuple[int, str]] = {}
        self._idle: deque[ChunkCache] = deque(maxlen=MAX_IDLE)

    @cached_property
    def reference(self) -> Any:
        """The `tokenizers.Tokenizer` that takes literal special tokens for text."""
        return formats.build_plain(self._parts)

    @cached_property
    def pieces(self) -> Any:
        """The vocabulary as the kernel has it."""
        from bertdata.wordpiece.tables import piece_table

        return piece_table(self._parts.tokens)

    def reference_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids that `tokenizers` gives."""
        return [encoding.ids for encoding in self.reference.encode_batch(texts, add_special_tokens=False)]

    def __call__(self, rows: pa.Array, first_row: int, dtype: type[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the ids of an Arrow string array without nulls, and where those of each row begin and end.

        The ids have `dtype`; the other array is int64 and has one number more than there are rows. Raises InputError,
        naming the row, where the bytes of one are not UTF-8; `first_row` is the number of the first in the message.
        """
        from bertdata.wordpiece.tables import ChunkCache

        try:
            cache = self._idle.pop()
        except IndexError:
            cache = ChunkCache(self._parts.normalizer, self._known)
        try:
            return _Run(self, cache, rows, first_row, dtype).ids()
        finally:
            self._idle.append(cache)


class _Run:
    """One array on its way through the kernel."""

    def __init__(self, encoder: Encoder, cache: ChunkCache, rows: pa.Array, first_row: int, dtype: type[Any]) -> None:
        from bertdata.wordpiece.kernel_encode import SLACK

        self._encoder, self._cache, self._first_row = encoder, cache, first_row
        self._text, self._offsets = text_of(rows), offsets_of(rows)
        size = int(self._offsets[-1] - self._offsets[0])
        self._out = np.empty(size // 3 + 2 * SLACK, dtype)
        self._ends = np.zeros(len(rows) + 1, np.int64)
        self._slow = np.zeros(len(rows), np.bool_)
        self._pending = np.zeros((_MAX_PENDING, 2), np.int64)

    def ids(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        from bertdata.wordpiece.kernel_encode import WRITTEN
        from bertdata.wordpiece.kernel_words import PAD

        registers = np.zeros(5, np.int64)
        for stop in _units(self._offsets):
            self._cache.begin()
            text, offsets = padded(self._text, self._offsets, int(registers[0]), stop, PAD)
            self._scan(text, offsets, stop, registers)
        if self._slow.any():
            return self._with_slow_rows()
        self._out.resize(int(registers[WRITTEN]), refcheck=False)
        return self._out, self._ends

    def _scan(
        self, text: NDArray[np.uint8], offsets: NDArray[np.int64], stop: int, registers: NDArray[np.int64]
    ) -> None:
        from bertdata.wordpiece import kernel_encode as kernel

        cache = self._cache
        while registers[kernel.ROW] < stop:
            registers[kernel.N_PENDING], registers[kernel.MAY_GROW] = 0, cache.may_grow
            status = kernel.scan(
                text,
                offsets,
                stop,
                cache.arrays,
                cache.characters.arrays,
                self._encoder.pieces,
                cache.word,
                self._out,
                self._ends,
                self._pending,
                self._slow,
                cache.found,
                registers,
            )
            if status == kernel.BAD_ROW:
                raise utf8_error(text, offsets, int(registers[kernel.ROW]), self._first_row)
            if status == kernel.OUTPUT_FULL:
                self._out.resize(2 * len(self._out), refcheck=False)
            elif status == kernel.CACHE_FULL:
                cache.grow()
            if n := int(registers[kernel.N_PENDING]):
                self._work_out(text, offsets, self._pending[:n])
                row = registers[kernel.FIRST_PENDING]
                registers[kernel.ROW], registers[kernel.WRITTEN] = row, self._ends[row]

    def _work_out(self, text: NDArray[np.uint8], offsets: NDArray[np.int64], pending: NDArray[np.int64]) -> None:
        """Enter codes for new characters, and the ids of chunks that need `tokenizers`, into the tables."""
        found: dict[bytes, int] = {}
        for start, length in pending.tolist():
            found.setdefault(text[start : start + length].tobytes(), start)
        chunks: dict[str, int] = {}
        for key, start in found.items():
            try:
                chunks[key.decode("utf-8")] = start
            except UnicodeDecodeError:
                row = int(np.searchsorted(offsets, start, side="right")) - 1
                raise utf8_error(text, offsets, row, self._first_row) from None
        characters = self._cache.characters
        characters.add(set().union(*chunks))
        asked = [chunk for chunk in chunks if characters.needs_reference(chunk) and self._cache.may_hold(chunk)]
        for chunk, ids in zip(asked, self._encoder.reference_ids(asked), strict=True):
            if not self._cache.remember(chunk, ids):
                self._slow[np.searchsorted(offsets, chunks[chunk], side="right") - 1] = True

    def _with_slow_rows(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the ids with those of the rows that only `tokenizers` could tell in their places."""
        lengths = np.diff(self._ends)
        parts: list[NDArray[Any]] = []
        done = 0
        for row in np.flatnonzero(self._slow).tolist():
            data = self._text[self._offsets[row] : self._offsets[row + 1]].tobytes()
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError:
                raise utf8_error(self._text, self._offsets, row, self._first_row) from None
            [ids] = self._encoder.reference_ids([text])
            parts += [self._out[done : self._ends[row]], np.array(ids, self._out.dtype)]
            done = int(self._ends[row])
            lengths[row] = len(ids)
        parts.append(self._out[done : self._ends[-1]])
        return np.concatenate(parts), np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def _units(offsets: NDArray[np.int64]) -> Iterator[int]:
    """Yield the ends of runs of rows of about a megabyte, so that little is scanned twice."""
    row, last = 0, len(offsets) - 1
    while row < last:
        row = min(last, max(row + 1, int(np.searchsorted(offsets, offsets[row] + _UNIT, side="right")) - 1))
        yield row
