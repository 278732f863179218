"""`TokenBlock`, the tokens of a shard's documents, and `Plan`, the examples that an objective makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Flags, Ints
from bertdata.engine.parts import Counts

DROPPED, BORROWED = "tokens_dropped_", "tokens_borrowed"
"""The prefix of the counts of tokens in no example, by reason; the name of the count of tokens used twice."""


@dataclass(frozen=True)
class TokenBlock:
    """The tokenised documents of one shard, one after another.

    tokens: ids, uint16 or uint32, shape (T,); word_start: True where a token begins a word, shape (T,);
    sentence_ends: position after each sentence, int64 (S,); document_ends: the same for documents, int64 (D,);
    document_keys: the hash of each document's id, uint64 (D,). No document and no sentence is empty.
    document_sources: the source of each document, int16 (D,); empty where it is unknown. document_values: the columns
    of documents that rows carry, by name, int64 or float64 (D,).
    """

    tokens: NDArray[np.unsignedinteger]
    word_start: Flags
    sentence_ends: Ints
    document_ends: Ints
    document_keys: NDArray[np.uint64]
    document_sources: NDArray[np.int16] = field(default_factory=lambda: np.zeros(0, np.int16))
    document_values: Mapping[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """The examples of one copy of a block.

    spans: the first token of each span and the token after its last, int64 (N, 2); types: token type of each span, int8
    (N,); offsets: example i has spans offsets[i] to offsets[i+1], int64 (E+1,); labels: int8 (E,), all 0 where the
    objective has none; ids: int64 (E,), which masks are drawn by; counts: tokens in no example by the reason
    (`tokens_dropped_REASON`) and those used twice (`tokens_borrowed`).
    """

    spans: Ints
    types: NDArray[np.int8]
    offsets: Ints
    labels: NDArray[np.int8]
    ids: Ints
    counts: Counts = field(default_factory=dict)


def word_start_before(block: TokenBlock, position: Ints, begin: Ints) -> Ints:
    """Return the nearest word start at or before each position, `begin` where there is none in between.

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


def take_documents(block: TokenBlock, taken: Flags) -> TokenBlock:
    """Return a block of the documents whose flags (D,) are True, in the same order; the block itself where all are.

    >>> block = TokenBlock(np.arange(6, dtype=np.uint16), np.ones(6, bool), np.array([1, 3, 6]), np.array([3, 6]),
    ...     np.array([8, 9], np.uint64))
    >>> second = take_documents(block, np.array([False, True]))
    >>> second.tokens.tolist(), second.sentence_ends.tolist(), second.document_ends.tolist()
    ([3, 4, 5], [3], [3])
    """
    if taken.all():
        return block
    sizes = np.diff(block.document_ends, prepend=0)
    of_tokens = np.repeat(taken, sizes)
    sentences = of_tokens[block.sentence_ends - 1]
    lengths = np.diff(block.sentence_ends, prepend=0)
    return TokenBlock(
        block.tokens[of_tokens],
        block.word_start[of_tokens],
        np.cumsum(lengths[sentences], dtype=np.int64),
        np.cumsum(sizes[taken], dtype=np.int64),
        block.document_keys[taken],
        block.document_sources[taken] if len(block.document_sources) else block.document_sources,
        {name: values[taken] for name, values in block.document_values.items()},
    )
