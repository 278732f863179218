"""The tables in which words are counted, and the chunks that the kernel (`kernels/counts.py`) cannot count."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.kernels.byte_table import USED, WIDTH
from bertdata.text_arrays import offsets_of, text_of
from bertdata.tokenizers.encode.kernels.id_cache import MAX_KEY
from bertdata.tokenizers.encode.row_ranges import padded_units
from bertdata.tokenizers.encode.tables import empty_table
from bertdata.tokenizers.training.count_table import clear, take_counts
from bertdata.tokenizers.wordpiece.encode.characters import character_table
from bertdata.tokenizers.wordpiece.encode.kernels.words import PAD, UNKNOWN_CHARACTER
from bertdata.tokenizers.wordpiece.encode.tables import empty_window
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.train.kernels import counts as kernel

CHUNKS, WORDS = (1 << 19) - 1, (1 << 20) - 1
"""Most distinct chunks, and words, that are held at a time: at most 130 MB in all."""
_ARENA_BYTES = 16
COLUMNS = ["word", "count"]


class WordCounter:
    """Counts the words of arrays of texts. Both methods raise UnicodeDecodeError where these are not UTF-8."""

    def __init__(self, normalizer: Normalizer) -> None:
        self._normalizer = normalizer
        self._characters = character_table(normalizer)
        self._chunks = empty_table(CHUNKS, CHUNKS * _ARENA_BYTES)
        self._words = empty_table(WORDS, WORDS * _ARENA_BYTES)
        self._window = empty_window()
        self._key = np.zeros(MAX_KEY + PAD, np.uint8)
        self._word = np.zeros(kernel.WORD_BYTES, np.uint8)
        self._others: Counter[str] = Counter()
        self._tables: list[pa.Table] = []

    def count(self, rows: pa.Array) -> None:
        """Count the words of a string array without nulls."""
        for text, offsets, row, stop in padded_units(text_of(rows), offsets_of(rows), PAD):
            registers = np.zeros(4, np.int64)
            registers[kernel.ROW], registers[kernel.PLACE] = row, offsets[row]
            arguments = text, offsets, stop, self._chunks, self._window, registers
            while (status := kernel.count_chunks(*arguments)) != kernel.DONE:
                if status == kernel.CHUNKS_FULL:
                    self._count_chunks()
                else:
                    begin, n = int(registers[kernel.PLACE]), int(registers[kernel.SIZE])
                    self._count_words(0, 1, text[begin : begin + n + PAD].copy(), n)
                    registers[kernel.PLACE] += n

    def tables(self) -> list[pa.Table]:
        """Return the counts of everything, as tables of word and count that have words in common."""
        self._count_chunks()
        self._move_words()
        others = [pa.table([list(self._others), list(self._others.values())], COLUMNS)] if self._others else []
        return self._tables + others

    def _count_chunks(self) -> None:
        """Count the words of all chunks, and take the chunks out."""
        self._count_words(1, int(self._chunks.counters[USED]), self._key)
        clear(self._chunks)

    def _count_words(self, first: int, end: int, key: NDArray[np.uint8], size: int = 0) -> None:
        """Count the words of the chunks from `first` to `end`; chunk 0 is in the first `size` bytes of `key`."""
        registers = np.zeros(4, np.int64)
        registers[kernel.ENTRY], registers[kernel.SIZE] = first, size
        arguments = self._chunks, end, key, self._characters.arrays, self._words, self._word, registers
        while (status := kernel.count_words(*arguments)) != kernel.DONE:
            entry, n = int(registers[kernel.ENTRY]), int(registers[kernel.SIZE])
            count = int(self._chunks.entries[WIDTH * entry + 3]) if entry else 1
            registers[kernel.ENTRY] += self._resolve(status, key[:n], count)

    def _resolve(self, status: int, chunk: NDArray[np.uint8], count: int) -> bool:
        """Do what the kernel could not; returns whether the chunk is counted now."""
        if status == kernel.WORDS_FULL:
            self._move_words()
            return False
        text = chunk.tobytes().decode("utf-8")
        if status == UNKNOWN_CHARACTER:
            self._characters.add(set(text))
            return False
        for word in self._normalizer.words(text):
            self._others[word] += count
        return True

    def _move_words(self) -> None:
        """Move the words from their table to an Arrow table."""
        self._tables.append(take_counts(self._words))
