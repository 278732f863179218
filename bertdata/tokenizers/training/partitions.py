"""Word counts in partitions: counts are partitioned by word, each partition is summed, and all are pruned together.

A hash of a word gives its partition, so partitions can be summed in parallel, each in the memory of its own words.
`frequencies` says how many words of a partition occur how often, so that the rarest words of all are dropped while
the partitions are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.counter_rng import bits, key
from bertdata.text_arrays import offsets_of, text_of
from bertdata.tokenizers.training.counts import SCHEMA, merge_counts, prune_counts

PARTITIONS = 16
COUNTED = 255
"""The largest count for which `frequencies` has a number of its own."""
_MERGE_ROWS = 4_000_000
_WIDTH = 8


def partition_words(counts: pa.Table) -> list[pa.Table]:
    """Return the rows of a table of word counts by partition, `PARTITIONS` tables, each in the order of the table.

    >>> counts = pa.table({"word": ["a", "b", "c"], "count": [1, 2, 3]}, schema=SCHEMA)
    >>> [table["word"].to_pylist() for table in partition_words(counts) if table.num_rows]
    [['a'], ['c'], ['b']]
    """
    partition = _partition_of(counts["word"])
    order = np.argsort(partition, kind="stable")
    bounds = np.searchsorted(partition[order], np.arange(PARTITIONS + 1))
    ordered = counts.take(pa.array(order)).combine_chunks()
    return [ordered.slice(start, stop - start) for start, stop in pairwise(bounds)]


def _partition_of(words: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return the partition of each word, int64 (N,), by its length, its first eight bytes and its last eight."""
    column = words.combine_chunks()
    text, offsets = text_of(column), offsets_of(column)
    lengths, short = np.diff(offsets), np.minimum(np.diff(offsets), _WIDTH)
    first, last = _numbers(text, offsets[:-1], short), _numbers(text, offsets[1:] - short, short)
    draws = bits(key(0, "word partition"), lengths, first, last)
    return (draws % np.uint64(PARTITIONS)).astype(np.int64)


def _numbers(text: NDArray[np.uint8], begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return `lengths` bytes of text from each of `begins` on, eight at most, as numbers, the first byte the lowest."""
    numbers = np.zeros(len(begins), np.uint64)
    for place in range(_WIDTH):
        longer = np.flatnonzero(lengths > place)
        numbers[longer] |= text[begins[longer] + place].astype(np.uint64) << np.uint64(8 * place)
    return numbers


def merge_words(tables: Iterable[pa.Table]) -> pa.Table:
    """Return the sum of tables of word counts, sorted by word; at most a few millions of rows wait for it at a time."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(later.num_rows for later in waiting[1:]) > _MERGE_ROWS:
            waiting = [merge_counts(waiting)]
    return merge_counts(waiting)


def source_factors(words: Mapping[str, int], temperature: float) -> dict[str, float]:
    """Return what the word counts of each source are multiplied by, so that its share is its own to a power.

    words: of each source. The source with the most words keeps its counts (multilingual.md in google-research/bert
    smooths languages so, with 0.7).

    >>> source_factors({"en": 100, "is": 4}, 0.5)
    {'en': 1.0, 'is': 5.0}
    """
    most = max(words.values(), default=0)
    return {source: (number / most) ** (temperature - 1) if number else 1.0 for source, number in words.items()}


def multiply_counts(table: pa.Table, factor: float) -> pa.Table:
    """Return a table of word counts with each count multiplied and rounded, by 1 or more.

    >>> multiply_counts(pa.table({"word": ["a", "b"], "count": [1, 3]}, schema=SCHEMA), 2.5)["count"].to_pylist()
    [2, 8]
    """
    if factor == 1:
        return table
    counts = np.rint(table["count"].to_numpy() * factor).astype(np.int64)
    return pa.table([table["word"], pa.array(counts)], SCHEMA)


def frequencies(counts: pa.Table) -> list[int]:
    """Return how many words occur once, twice and so on up to `COUNTED` times, and last how many more often than that.

    >>> frequencies(pa.table({"word": ["a", "b", "c"], "count": [1, 2, 999]}, schema=SCHEMA))[:3]
    [1, 1, 0]
    """
    numbers = np.bincount(np.minimum(counts["count"].to_numpy(), COUNTED + 1), minlength=COUNTED + 2)
    return [int(number) for number in numbers[1:]]


def least_count(every: Sequence[Sequence[int]], max_words: int) -> int:
    """Return from which count on words may be among the `max_words` most frequent, by the frequencies of partitions.

    The words it leaves are those of `prune_counts` or, where that would be more than `COUNTED`, some more.

    >>> least_count([[7, 2, 1], [5, 1, 1]], 5), least_count([[7, 2, 1], [5, 1, 1]], 17)
    (2, 1)
    """
    remaining, least = sum(map(sum, every)), 1
    while remaining > max_words and least <= COUNTED:
        remaining -= sum(partition[least - 1] for partition in every)
        least += 1
    return least


def frequent_words(tables: Iterable[pa.Table], least: int, max_words: int) -> pa.Table:
    """Return the rows of the words that occur at least so often, by `prune_counts`, sorted by word."""
    frequent = [table.filter(pc.greater_equal(table["count"], least)) for table in tables]
    return prune_counts(pa.concat_tables([SCHEMA.empty_table(), *frequent]).sort_by("word"), max_words)
