"""What examples are made from, and what names them: a `TokenBlock` and a `Plan`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bertdata.records import Counts

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class TokenBlock:
    """The tokenised documents of one shard, one after another.

    tokens: ids, uint16 or uint32, shape (T,); word_start: True where a token begins a word, shape (T,);
    sentence_ends: position behind each sentence, int64 (S,); document_ends: the same for documents, int64 (D,);
    document_keys: the hash of each document's id, uint64 (D,). No document and no sentence is empty.
    """

    tokens: NDArray[np.unsignedinteger]
    word_start: Flags
    sentence_ends: Ints
    document_ends: Ints
    document_keys: NDArray[np.uint64]


@dataclass(frozen=True)
class Plan:
    """The examples of one copy of a block.

    spans: first and last-but-one token of each span, int64 (N, 2); types: token type of each span, int8 (N,);
    offsets: example i has spans offsets[i] to offsets[i+1], int64 (E+1,); labels: int8 (E,), all 0 where the objective
    has none; ids: int64 (E,), identifies an example for masks; counts: tokens by what became of them.
    """

    spans: Ints
    types: NDArray[np.int8]
    offsets: Ints
    labels: NDArray[np.int8]
    ids: Ints
    counts: Counts = field(default_factory=dict)


def word_start_before(block: TokenBlock, position: Ints, begin: Ints) -> Ints:
    """Return the nearest word start at or before each position, `begin` where there is none behind that.

    >>> block = TokenBlock(np.zeros(6, np.uint16), np.array([1, 0, 1, 0, 0, 1], bool), np.array([6]), np.array([6]),
    ...     np.array([1], np.uint64))
    >>> word_start_before(block, np.array([4, 5, 4]), np.array([0, 0, 3])).tolist()
    [2, 5, 3]
    """
    result = np.maximum(position, begin)
    moving = np.flatnonzero((result > begin) & ~block.word_start[result])
    while len(moving):
        result[moving] -= 1
        at = result[moving]
        moving = moving[(at > begin[moving]) & ~block.word_start[at]]
    return result
