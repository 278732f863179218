"""Rows of text to ids: the caches of `kernels/encode.scan`, and what its caller does for it.

A cache from chunk to ids lives as long as its encoder, begins with the words of the vocabulary, and grows to at most
60 MB; then only the chunks that came first are kept. Each call has a cache of its own, so nothing is locked and no call
sees an entry half written; at most `MAX_IDLE` caches that are not in use are kept. What the kernel cannot encode goes
through `tokenizers`, once for each distinct chunk of up to 64 bytes. Special tokens are text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.characters.newer import lowered
from bertdata.errors import InputError
from bertdata.text_arrays import array_of, offsets_of, text_of, utf8_error
from bertdata.tokenizers.encode.row_ranges import padded_units
from bertdata.tokenizers.wordpiece import rebuilt
from bertdata.tokenizers.wordpiece.encode.kernels import encode as kernel
from bertdata.tokenizers.wordpiece.encode.kernels.chunks import WINDOW
from bertdata.tokenizers.wordpiece.encode.kernels.trie import SLACK
from bertdata.tokenizers.wordpiece.encode.kernels.words import PAD
from bertdata.tokenizers.wordpiece.encode.tables import ChunkCache, build_trie
from bertdata.tokenizers.wordpiece.tokenizer_json import Parts

MAX_IDLE = 8
_MAX_FIRST = 1 << 15
_READY = (4 << 19, 3 << 19, 3 << 19)
"""Bytes that are touched before the first text: Arrow then has them for it, and need not wait for the system."""


class Encoder:
    """The ids of texts under one vocabulary and normaliser. Threads may share one, and run at the same time."""

    def __init__(self, parts: Parts, dtype: type[Any]) -> None:
        """Make one whose ids have `dtype`, as its caches hold ids too."""
        self._parts, self._dtype = parts, dtype
        self._idle: deque[ChunkCache] = deque(maxlen=MAX_IDLE)

    @cached_property
    def reference(self) -> Any:
        """The `tokenizers.Tokenizer` that takes literal special tokens for text."""
        return rebuilt.build_plain(self._parts)

    @cached_property
    def trie(self) -> Any:
        """The vocabulary as the kernel has it."""
        return build_trie(rebuilt.text_tokens(self._parts))

    def reference_ids(self, text: str) -> list[int]:
        """Return the ids that `tokenizers` gives."""
        text = lowered(text) if self._parts.normalizer.do_lower_case else text
        ids: list[int] = self.reference.encode(text, add_special_tokens=False).ids
        return ids

    def __call__(self, arrays: Iterable[pa.Array], n_rows: int, size: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the ids of Arrow string arrays without nulls, and where those of each row begin and end.

        The second array is int64 and has one number more than there are rows, `n_rows` in all the arrays. About `size`
        bytes of text are expected. Raises InputError, naming the row, where the bytes of one are not UTF-8.
        """
        with self.cache() as cache:
            return _Run(self, cache, n_rows, size, self._dtype).ids(arrays)

    @contextmanager
    def cache(self) -> Iterator[ChunkCache]:
        """Borrow a cache exclusively."""
        try:
            cache = self._idle.pop()
        except IndexError:
            cache = self._new_cache()
        try:
            yield cache
        finally:
            self._idle.append(cache)

    def _new_cache(self) -> ChunkCache:
        """Return a cache that has read the vocabulary's words, with capitals too where these make no difference."""
        cache = ChunkCache(self._parts.normalizer)
        words = [token for token in self._parts.tokens if token.isascii() and token.isalnum()][:_MAX_FIRST]
        text = " ".join([*words, *map(str.capitalize, words)] if self._parts.normalizer.do_lower_case else words)
        _Run(self, cache, 1, len(text), self._dtype).ids([array_of([text])])
        for room in [pa.allocate_buffer(size) for size in _READY]:
            np.frombuffer(room, np.uint8).fill(0)
        return cache


class _Run:
    """The encoding of some arrays: the output so far, and where the kernel goes on."""

    def __init__(self, encoder: Encoder, cache: ChunkCache, n_rows: int, size: int, dtype: type[Any]) -> None:
        self._encoder, self._cache = encoder, cache
        self._buffer = pa.allocate_buffer(0, resizable=True)
        self._dtype = np.dtype(dtype)
        self._resize(size // 4 + 64 * WINDOW + 2 * SLACK)
        self._all_ends = np.zeros(n_rows + 1, np.int64)
        self._registers = np.zeros(5, np.int64)
        self._first_row = 0

    def ids(self, arrays: Iterable[pa.Array]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        registers = self._registers
        for rows in arrays:
            registers[kernel.ROW], self._ends = 0, self._all_ends[self._first_row :]
            for self._text, self._offsets, row, stop in padded_units(text_of(rows), offsets_of(rows), PAD):
                self._cache.begin()
                registers[kernel.AT] = self._offsets[row]
                self._scan(stop)
            self._first_row += len(rows)
        self._resize(int(registers[kernel.WRITTEN]))
        return self._out, self._all_ends

    def _resize(self, n: int) -> None:
        """Give the output room for `n` ids, in Arrow's memory: that is used again, and large pages are asked for."""
        self._buffer.resize(n * self._dtype.itemsize)
        self._out = np.frombuffer(self._buffer, self._dtype, n)

    def _scan(self, stop: int) -> None:
        cache, registers = self._cache, self._registers
        status = -1
        while status != kernel.DONE:
            status = kernel.scan(
                self._text,
                self._offsets,
                stop,
                cache.arrays,
                cache.characters.arrays,
                self._encoder.trie,
                cache.word,
                self._out,
                self._ends,
                cache.window,
                registers,
            )
            if status == kernel.BAD_ROW:
                raise self._utf8_error(int(registers[kernel.ROW]))
            if status == kernel.OUTPUT_FULL:
                self._resize(2 * len(self._out))
            elif status == kernel.NEW_CHARACTER:
                start, end = int(registers[kernel.CHARACTER]), int(self._offsets[stop])
                cache.characters.add_new(self._text, start, end)
            elif status == kernel.REFERENCE_CHUNK:
                self._ask(int(registers[kernel.AT]), int(registers[kernel.SIZE]))

    def _ask(self, start: int, size: int) -> None:
        """Write the ids that `tokenizers` gives for a chunk, and remember them."""
        chunk, registers = self._text[start : start + size].tobytes(), self._registers
        try:
            text = chunk.decode("utf-8")
        except UnicodeDecodeError:
            raise self._utf8_error(int(registers[kernel.ROW])) from None
        ids = np.array(self._encoder.reference_ids(text), self._out.dtype)
        self._cache.remember(chunk, ids)
        written = int(registers[kernel.WRITTEN])
        if written + len(ids) > len(self._out):
            self._resize(2 * (written + len(ids)))
        self._out[written : written + len(ids)] = ids
        registers[kernel.WRITTEN] += len(ids)
        registers[kernel.AT] += size

    def _utf8_error(self, row: int) -> InputError:
        return utf8_error(self._text, self._offsets, row, self._first_row)
