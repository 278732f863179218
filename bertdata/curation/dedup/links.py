"""Documents that share a key, as pairs of their numbers, found in one partition of the keys in rounds.

Of the documents with one key each is paired with the lowest number only: that joins them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.curation.dedup.partitions import between, rounds
from bertdata.engine.byte_ranges import Stream

LINKS = pa.schema([pa.field("lowest", pa.uint64()), pa.field("document", pa.uint64())])
ROUND_BYTES = 16 << 20
"""Bytes of the keys of one round; it takes at most about 8 times as much memory."""


@dataclass(frozen=True)
class Keys:
    """The keys of one partition in one file of the store, and the number of the first document of the file."""

    stream: Stream
    first: int


def find_links(keys: Sequence[Keys], hashes: tuple[int, int], round_bytes: int = ROUND_BYTES) -> Iterator[pa.Table]:
    """Yield pairs of documents that share a key, as tables of `LINKS`, one for each round that has any.

    hashes: what the keys are at least, and below. Memory is about 8 times `round_bytes`, and a stream.
    """
    for low, high in rounds([key.stream for key in keys], hashes, round_bytes):
        every, documents = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
        for file_keys in (key for key in keys if key.stream.length):
            rows = between(file_keys.stream, low, high)
            every.append(rows["key"])
            documents.append(rows["row"].astype(np.uint64) + np.uint64(file_keys.first))
        table = _links(np.concatenate(every), np.concatenate(documents))
        if table.num_rows:
            yield table


def _links(keys: NDArray[np.uint64], documents: NDArray[np.uint64]) -> pa.Table:
    """Return each pair once.

    >>> _links(np.array([7, 7, 9, 7, 5, 5], np.uint64), np.array([4, 2, 1, 3, 2, 3], np.uint64)).to_pydict()
    {'lowest': [2, 2], 'document': [3, 4]}
    """
    order = np.lexsort((documents, keys))
    keys, documents = keys[order], documents[order]
    same = np.concatenate([np.zeros(min(1, len(keys)), np.bool_), keys[1:] == keys[:-1]])
    begins = np.flatnonzero(~same)
    lowest = np.repeat(documents[begins], np.diff(np.append(begins, len(keys))))[same]
    other = documents[same]
    order = np.lexsort((other, lowest))
    lowest, other = lowest[order], other[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (lowest[1:] != lowest[:-1]) | (other[1:] != other[:-1])
    return pa.table([pa.array(lowest[new]), pa.array(other[new])], schema=LINKS)
