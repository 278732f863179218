"""Word counts as the trainers by merges have them: checked, with the characters of all words in one array."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError
from bertdata.text_arrays import as_strings, check_text

WordCounts: TypeAlias = Mapping[str, int] | pa.Table | Iterable[tuple[str, int]]
Words: TypeAlias = tuple[pa.Array, NDArray[np.int64], NDArray[np.int64]]
CHUNK_WORDS = 1 << 17
_EXPECTED = "expected a mapping from word to count, pairs of both, or a table of them, as count_words(texts) gives"
_EXACT = 1 << 53
_MOST_PLACES = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Corpus:
    """Distinct words without their rare characters, and without the words that then are empty.

    `points` (int32) are the code points of all of them, `inside` is False where one was at the start of its word, and
    `lengths` (int64) and `counts` (int64) have one number a word.
    `characters` are the characters that were kept, and `continuing` those of them that follow another somewhere,
    both by code point.
    """

    points: NDArray[np.int32]
    inside: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]
    characters: list[str]
    continuing: list[str]


def chunks(lengths: NDArray[np.int64]) -> Iterator[tuple[slice, slice]]:
    """Yield the words in runs of `CHUNK_WORDS`, and the characters of each run, so that few are copied at a time.

    >>> list(chunks(np.array([2, 1, 3])))
    [(slice(0, 3, None), slice(0, 6, None))]
    """
    start = 0
    for first in range(0, len(lengths), CHUNK_WORDS):
        last = min(first + CHUNK_WORDS, len(lengths))
        stop = start + int(lengths[first:last].sum())
        yield slice(first, last), slice(start, stop)
        start = stop


def read_counts(word_counts: WordCounts, length: Callable[[pa.Array], pa.Array]) -> Words:
    """Return the words that occur, their counts, and their lengths by `length`, a function of `pyarrow.compute`.

    Raises ConfigError for what is not a mapping, pairs or a table, and where a table has not one column word and one
    column count, of strings and whole numbers; InputError where a word is null, no string, not UTF-8, or holds a lone
    surrogate; where a count is not a whole number from 0; and where all words together stand for over 2**53
    characters, or the distinct ones have over 2**31.

    >>> [array.tolist() for array in read_counts({"of": 2, "no": 0}, pc.binary_length)]
    [['of'], [2], [2]]
    """
    words, counts = _of_table(word_counts) if isinstance(word_counts, pa.Table) else _of_pairs(word_counts)
    lengths = length(words).to_numpy(zero_copy_only=False).astype(np.int64)
    occurs = (counts > 0) & (lengths > 0)
    if not occurs.all():
        words, counts, lengths = words.filter(pa.array(occurs)), counts[occurs], lengths[occurs]
    if np.dot(lengths.astype(np.float64), counts.astype(np.float64)) > _EXACT:
        raise InputError("the words stand for over 2**53 characters, which cannot be counted exactly; scale them down")
    if int(lengths.sum()) + 3 * len(lengths) > _MOST_PLACES:
        raise InputError("the distinct words have over 2**31 - 1 characters; leave out the rarest words")
    return words, counts, lengths


def _of_table(table: pa.Table) -> tuple[pa.Array, NDArray[np.int64]]:
    if sorted(name for name in table.column_names if name in ("word", "count")) != ["count", "word"]:
        raise ConfigError(f"the table has the columns {table.column_names}; expected word and count")
    if not pa.types.is_integer(table["count"].type):
        raise ConfigError(f"the counts are {table['count'].type}; cast the column to pa.int64()")
    try:
        words: Any = as_strings(table["word"]).cast(pa.large_string())
        words.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"the words are not UTF-8 ({error}); build the column from decoded text") from error
    whole = pa.chunked_array(words.chunks, pa.large_string()).combine_chunks()
    array = whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)
    column = table["count"]
    if column.null_count:
        raise InputError(f"the count of {array[pc.index(column.is_null(), True).as_py()].as_py()!r} is null")
    least = pc.min(column).as_py()
    if least is not None and least < 0:
        word = array[pc.index(column, least).as_py()].as_py()
        raise InputError(f"the count of {word!r} is {least}; expected a whole number from 0")
    if len(table) and pc.max(column).as_py() > _EXACT:
        raise InputError("the words stand for over 2**53 characters, which cannot be counted exactly; scale them down")
    return array, column.cast(pa.int64()).to_numpy()


def _of_pairs(word_counts: Any) -> tuple[pa.Array, NDArray[np.int64]]:
    if isinstance(word_counts, str | bytes) or not isinstance(word_counts, Iterable):
        raise ConfigError(f"the word counts are {type(word_counts).__name__}; {_EXPECTED}")
    pairs = list(word_counts.items() if isinstance(word_counts, Mapping) else word_counts)
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ConfigError(f"among the word counts is {reprlib.repr(pair)}; {_EXPECTED}")
        word, count = pair
        if not isinstance(word, str):
            raise InputError(f"a word is {word!r}; expected a string")
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise InputError(f"the count of {word!r} is {count!r}; expected a whole number from 0")
        if count > _EXACT:
            raise InputError(f"the count of {word!r} is over 2**53, which cannot be counted exactly; scale them down")
    try:
        words = pa.array([word for word, _ in pairs], pa.large_string())
    except UnicodeEncodeError:
        for word, _ in pairs:
            check_text(word, f"the word {word!r}")
        raise
    return words, np.array([count for _, count in pairs], np.int64)
