"""Word counts of texts, the input of the vocabulary trainer.

Words are exactly what BERT's normaliser and pre-tokenizer give. Distinct chunks between spaces are counted first and
each is normalised once (`kernels/counts.py`), so the cost is that of finding them. No word is left out: that is for who
has the counts of everything (`prune_counts`).
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError
from bertdata.text_arrays import Texts, arrays_of, as_strings, check_utf8, offsets_of, text_of
from bertdata.tokenizers.wordpiece.encode.strings import padded_units
from bertdata.tokenizers.wordpiece.normalizer import Normalizer

SCHEMA = pa.schema([pa.field("word", pa.string(), nullable=False), pa.field("count", pa.int64(), nullable=False)])
CHUNKS, WORDS = (1 << 19) - 1, (1 << 20) - 1
"""Most distinct chunks, and words, that are held at a time: at most 130 MB in all."""
_CHUNK_ARENA, _WORD_ARENA = 16, 16


def count_words(
    texts: Texts,
    *,
    do_lower_case: bool = True,
    strip_accents: bool | None = None,
    tokenize_chinese_chars: bool = True,
) -> pa.Table:
    """Return the words of `texts` and how often each occurs: word (string), count (int64), sorted by word.

    `texts` is a list of strings or an Arrow string array, sliced or chunked. Literal special tokens are text. The GIL
    is released, and memory is that of the table and of `CHUNKS` and `WORDS`. Raises ConfigError and InputError as
    `WordPieceTokenizer.encode_batch` does.

    >>> count_words(["To be, or not to be"]).to_pydict()
    {'word': [',', 'be', 'not', 'or', 'to'], 'count': [1, 2, 1, 1, 2]}
    """
    normalizer = Normalizer(do_lower_case, strip_accents, tokenize_chinese_chars)
    with np.errstate(over="ignore"):  # uncompiled, a hash that wraps around warns
        counter = _Counter(normalizer)
        if all(map(counter.count, arrays_of(texts))) and (table := counter.table()) is not None:
            return table
    check_utf8(as_strings(texts))
    raise InputError("the texts are not UTF-8; build the array from decoded text")


@functools.cache
def _known(normalizer: Normalizer) -> dict[str, Any]:
    return {}


class _Counter:
    """The tables of one count, and what they cannot hold."""

    def __init__(self, normalizer: Normalizer) -> None:
        from bertdata.tokenizers.wordpiece.encode.characters import CharacterTable
        from bertdata.tokenizers.wordpiece.encode.kernels.chunks import MAX_KEY
        from bertdata.tokenizers.wordpiece.encode.kernels.words import PAD, UNKNOWN_CHARACTER
        from bertdata.tokenizers.wordpiece.encode.tables import empty_table, empty_window
        from bertdata.tokenizers.wordpiece.train.kernels import counts as kernel

        self._kernel, self._padding, self._unknown = kernel, PAD, UNKNOWN_CHARACTER
        self._normalizer = normalizer
        self._characters = CharacterTable(normalizer, _known(normalizer))
        self._chunks = empty_table(CHUNKS, CHUNKS * _CHUNK_ARENA)
        self._words = empty_table(WORDS, WORDS * _WORD_ARENA)
        self._window = empty_window()
        self._key = np.zeros(MAX_KEY + PAD, np.uint8)
        self._word = np.zeros(kernel.WORD_BYTES, np.uint8)
        self._others: Counter[str] = Counter()
        self._tables: list[pa.Table] = []

    def count(self, rows: pa.Array) -> bool:
        """Count an array; returns False where it is found to be no UTF-8."""
        return all(self._count_unit(*unit) for unit in padded_units(text_of(rows), offsets_of(rows), self._padding))

    def _count_unit(self, text: NDArray[np.uint8], offsets: NDArray[np.int64], row: int, stop: int) -> bool:
        kernel, registers = self._kernel, np.zeros(4, np.int64)
        registers[kernel.ROW], registers[kernel.PLACE] = row, offsets[row]
        arguments = text, offsets, stop, self._chunks, self._window, registers
        while (status := kernel.count_chunks(*arguments)) != kernel.DONE:
            if status == kernel.CHUNKS_FULL:
                if not self._flush():
                    return False
            else:
                begin, n = int(registers[kernel.PLACE]), int(registers[kernel.SIZE])
                if not self._add_long(text[begin : begin + n + self._padding], n):
                    return False
                registers[kernel.PLACE] += n
        return True

    def table(self) -> pa.Table | None:
        """Return the counts of everything, None where it was no UTF-8."""
        if not self._flush():
            return None
        self._spill()
        if self._others:
            self._tables.append(pa.table([list(self._others), list(self._others.values())], SCHEMA))
        return self._tables[0].sort_by("word").cast(SCHEMA) if len(self._tables) == 1 else merge_counts(self._tables)

    def _flush(self) -> bool:
        """Count the words of all chunks, and take the chunks out."""
        kernel, registers = self._kernel, np.zeros(4, np.int64)
        registers[kernel.ENTRY] = 1
        arguments = self._chunks, self._key, self._characters.arrays, self._words, self._word, registers
        while (status := kernel.count_words(*arguments)) != kernel.DONE:
            entry, n = int(registers[kernel.ENTRY]), int(registers[kernel.SIZE])
            answer = self._resolve(status, self._key[:n], int(self._chunks.entries[4 * entry + 3]))
            if answer is None:
                return False
            registers[kernel.ENTRY] += answer
        kernel.clear(self._chunks)
        return True

    def _add_long(self, chunk: NDArray[np.uint8], n: int) -> bool:
        kernel, one = self._kernel, np.uint64(1)
        arguments = chunk.copy(), n, one, self._characters.arrays, self._words, self._word
        while (status := kernel.add_words(*arguments)) != kernel.DONE:
            answer = self._resolve(status, chunk[:n], 1)
            if answer is None:
                return False
            if answer:
                break
        return True

    def _resolve(self, status: int, chunk: NDArray[np.uint8], count: int) -> bool | None:
        """Do what the kernel could not; returns whether the chunk is counted now, None where it is no UTF-8."""
        if status == self._kernel.WORDS_FULL:
            self._spill()
            return False
        try:
            text = chunk.tobytes().decode("utf-8")
        except UnicodeDecodeError:
            return None
        if status == self._unknown:
            self._characters.add(set(text))
            return False
        for word in self._normalizer.words(text):
            self._others[word] += count
        return True

    def _spill(self) -> None:
        """Put the words aside, and take them out of the table."""
        kernel = self._kernel
        n = int(self._words.counters[0]) - 1
        data = np.empty(kernel.key_bytes(self._words), np.uint8)
        offsets, counts = np.zeros(n + 1, np.int64), np.empty(n, np.int64)
        kernel.write_counts(self._words, data, offsets, counts)
        kernel.clear(self._words)
        words = pa.Array.from_buffers(pa.large_string(), n, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
        self._tables.append(pa.table([words, pa.array(counts)], _LARGE))


_LARGE = SCHEMA.set(0, SCHEMA.field("word").with_type(pa.large_string()))


def merge_counts(tables: Iterable[pa.Table]) -> pa.Table:
    """Return the sum of tables of word counts, sorted by word; the order of the tables makes no difference.

    Raises ConfigError where a table has other columns than word and count.

    >>> merge_counts([count_words(["a b"]), count_words(["b"])]).to_pydict()
    {'word': ['a', 'b'], 'count': [1, 2]}
    """
    found = list(tables)
    for table in found:
        if sorted(table.column_names) != ["count", "word"]:
            raise ConfigError(f"a table of word counts has the columns word and count, found {table.column_names}")
    if not found:
        return SCHEMA.empty_table()
    whole = pa.concat_tables([table.select(["word", "count"]).cast(_LARGE) for table in found])
    summed = whole.group_by("word").aggregate([("count", "sum")]).sort_by("word")
    return pa.table([summed["word"], summed["count_sum"]], _LARGE).cast(SCHEMA)


def prune_counts(table: pa.Table, max_words: int) -> pa.Table:
    """Return the rows of a table of word counts whose words occur often enough for at most `max_words` to be left.

    Words are told apart by their counts alone: all that occur as often as a word that is left are left too. So what is
    left is a function of the whole count, however it came about. Where all words fit, all are left.

    >>> prune_counts(count_words(["a b a c b a d"]), 3).to_pydict()
    {'word': ['a', 'b'], 'count': [3, 2]}
    """
    if table.num_rows <= max_words:
        return table
    counts = table["count"].to_numpy()
    least = int(np.partition(counts, len(counts) - max_words - 1)[len(counts) - max_words - 1]) + 1
    return table.filter(pc.greater_equal(table["count"], least))
