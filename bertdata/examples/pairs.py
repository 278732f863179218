"""Pairs of segments: where a chunk is cut in two, and which pairs exchange their second halves.

A `Chunks` is consecutive pieces of documents. `segments` says how NSP pairs are made; this module does it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.draws import ascending, below, bits, happens
from bertdata.examples.blocks import TokenBlock, word_start_before
from bertdata.records import Counts

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Chunks:
    """Consecutive pieces of documents: document number, number in the document, first token, token behind the last."""

    document: Ints
    number: Ints
    start: Ints
    end: Ints


def split_chunks(block: TokenBlock, chunks: Chunks, draws: NDArray[np.uint64]) -> Ints:
    """Return where each chunk is cut in two: a sentence border drawn uniformly, else a word border near the middle.

    The word border is the one nearest the middle, of two the first. A chunk of a single word cannot be cut; its start
    is returned.
    """
    from bertdata.examples import kernel_pairs

    middle = np.empty(len(chunks.start), np.int64)
    with np.errstate(over="ignore"):
        kernel_pairs.split_chunks(block.sentence_ends, block.word_start, chunks.start, chunks.end, draws, middle)
    return middle


def split_near_half(block: TokenBlock, chunks: Chunks, half: Ints, coins: NDArray[np.uint64]) -> Ints:
    """Return where each chunk is cut in two as ELECTRA's example builder does; the end where all is one segment.

    The first segment takes sentences while it stays below `half` tokens, at least one; if it is still below, a coin
    says whether the sentence that reaches it goes there too.
    """
    first = np.searchsorted(block.sentence_ends, chunks.start, side="right")
    inner = np.searchsorted(block.sentence_ends, chunks.end, side="left")
    last = np.searchsorted(block.sentence_ends, chunks.start + half, side="left") - 1
    last = np.maximum(last, first)
    below_half = block.sentence_ends[np.minimum(last, len(block.sentence_ends) - 1)] - chunks.start < half
    last += below_half & happens(coins, 0.5)
    middle: Ints = block.sentence_ends[np.minimum(last, len(block.sentence_ends) - 1)]
    return np.where(last < inner, middle, chunks.end)


def exchange(
    block: TokenBlock,
    a: Ints,
    b: Ints,
    not_next: Flags,
    owners: NDArray[np.uint64],
    room: int,
    ties: NDArray[np.uint64],
) -> tuple[Ints, Counts]:
    """Return the B of each pair, those of NotNext pairs exchanged among different documents.

    NotNext pairs are put in order of the length of B, ties by draw, and take turns: of equal lengths each takes from
    the one before it, in a circle, so a row keeps its length, and a full row does not tell IsNext. Lengths that occur
    once take turns among themselves. Where the B is of its own document or too long, a pair swaps with a neighbour.
    Where no neighbour serves (a few documents hold nearly everything), it borrows a copy of another document's B, and
    its own B is left out: both are counted.
    """
    from bertdata.examples import kernel_pairs

    result = b.copy()
    members = np.flatnonzero(not_next)
    counts = {"tokens_borrowed": 0, "tokens_dropped_no_partner": 0}
    if not len(members):
        return result, counts
    a_length, b_length = a[:, 1] - a[:, 0], b[:, 1] - b[:, 0]
    members = members[_in_order(b_length[members], ties[members])]
    giver, stuck = np.empty((2, len(members)), np.int64)
    found = kernel_pairs.deal(members, a_length, b_length, owners, room, giver, stuck)
    result[members] = b[giver]
    for place in stuck[:found].tolist():
        taker = int(members[place])
        span = b[_lender(taker, owners, b_length, ties)].copy()
        limit = span[0] + room - a_length[taker]
        if span[1] > limit:
            cut = int(word_start_before(block, np.array([limit]), span[:1])[0])
            span[1] = cut if cut > span[0] else limit
        result[taker] = span
        counts["tokens_borrowed"] += int(span[1] - span[0])
        counts["tokens_dropped_no_partner"] += int(b_length[giver[place]])
    return result, counts


def _in_order(lengths: Ints, ties: NDArray[np.uint64]) -> Ints:
    """Return the places in order of their lengths, ties by draw, and of equal draws as they are.

    >>> _in_order(np.array([4, 1, 4]), np.array([2**63, 3, 5], np.uint64)).tolist()
    [1, 2, 0]
    """
    width = np.uint64(int(lengths.max()).bit_length())
    keys = (lengths.astype(np.uint64) << (np.uint64(64) - width)) | (ties >> width)
    order = ascending(keys)
    found = keys[order]
    return order if (found[1:] > found[:-1]).all() else np.lexsort((ties, lengths))


def _lender(taker: int, owners: NDArray[np.uint64], b_length: Ints, ties: NDArray[np.uint64]) -> int:
    """Return a pair of another document whose B is borrowed: of 64 drawn ones, that with the likest length."""
    drawn = below(bits(int(ties[taker]), np.arange(64)), len(owners))
    found = drawn[owners[drawn] != owners[taker]]
    if not len(found):
        found = np.flatnonzero(owners != owners[taker])
    return int(found[np.argmin(np.abs(b_length[found] - b_length[taker]))])
