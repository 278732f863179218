"""The tables in which words are counted, and the chunks that the kernel (`kernels/counts.py`) cannot count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

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
PIECE = 1 << 16
"""Characters that are normalised at a time: `tokenizers` takes 80 bytes for each."""
_ARENA_BYTES = 16
_MARKS = r"!-/:-@\[-`{-~"
"""ASCII punctuation, each character of which is a word by itself."""
_CHINESE = r"\u4e00-\u9fff"
COLUMNS = ["word", "count"]


def pieces_of(text: str, size: int, *, chinese: bool) -> Iterator[str]:
    """Yield a text without white space in pieces of at most `size` characters that have the same words together.

    A piece ends after ASCII punctuation or, if these are words by themselves, a Chinese character. Of a longer run
    without any only the first `size` characters are taken: a word of so many is too long for any vocabulary.

    >>> list(pieces_of("ab,cd,efghi!", 4, chinese=True))
    ['ab,', 'cd,', 'efgh', '!']
    """
    if len(text) <= size:
        yield text
        return
    borders = re.compile(f"[{_MARKS}{_CHINESE if chinese else ''}]")
    begin, last = 0, 0
    for match in borders.finditer(text):
        if match.end() - begin > size and last > begin:
            yield text[begin:last]
            begin = last
        if match.end() - begin > size:
            yield text[begin : min(begin + size, match.start())]
            begin = match.start()
        last = match.end()
    for start, end in ((begin, last), (last, len(text))) if len(text) - begin > size else ((begin, len(text)),):
        if end > start:
            yield text[start : min(start + size, end)]


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
        for piece in pieces_of(text, PIECE, chinese=self._normalizer.tokenize_chinese_chars):
            for word in self._normalizer.words(piece):
                self._others[word] += count
        return True

    def _move_words(self) -> None:
        """Move the words from their table to an Arrow table."""
        self._tables.append(take_counts(self._words))
