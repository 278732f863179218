"""Pairs of segments: where a chunk is cut in two, and which pairs exchange their second halves.

A `Chunks` is consecutive pieces of documents. `segments` says how NSP pairs are made; this module does it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.draws import below, bits, happens
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

    A chunk of a single word cannot be cut; its start is returned.
    """
    first = np.searchsorted(block.sentence_ends, chunks.start, side="right")
    inner = np.searchsorted(block.sentence_ends, chunks.end, side="left") - first
    middle: Ints = block.sentence_ends[np.minimum(first + below(draws, inner), len(block.sentence_ends) - 1)].copy()
    uncut = np.flatnonzero(inner == 0)
    middle[uncut] = _nearest_word_start(block, chunks.start[uncut], chunks.end[uncut])
    return middle


def _nearest_word_start(block: TokenBlock, begin: Ints, end: Ints) -> Ints:
    """Return the word start between begin and end that is nearest the middle, of two the first; `begin` if none is."""
    middle = (begin + end) // 2
    before = word_start_before(block, middle, begin)
    after = np.minimum(middle + 1, end)
    moving = np.flatnonzero(after < end)
    moving = moving[~block.word_start[after[moving]]]
    while len(moving):
        after[moving] += 1
        moving = moving[after[moving] < end[moving]]
        moving = moving[~block.word_start[after[moving]]]
    nearer = (after < end) & ((before == begin) | (2 * after - begin - end < begin + end - 2 * before))
    return np.where(nearer, after, before)


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

    NotNext pairs are put in order of the length of B, ties by draw, and take turns (see `_rotation`). Where the B is of
    its own document or too long, a pair swaps with a neighbour; where no neighbour serves (a few documents hold nearly
    everything), it borrows a copy of another document's B, and its own B is left out: both are counted.
    """
    result = b.copy()
    members = np.flatnonzero(not_next)
    counts = {"tokens_borrowed": 0, "tokens_dropped_no_partner": 0}
    if not len(members):
        return result, counts
    members = members[np.lexsort((ties[members], (b[:, 1] - b[:, 0])[members]))]
    a_length, b_length = a[:, 1] - a[:, 0], b[:, 1] - b[:, 0]
    giver = members[_rotation(b_length[members])]

    def fits(taker: Ints | int, source: Ints | int) -> Flags:
        good: Flags = (owners[taker] != owners[source]) & (a_length[taker] + b_length[source] <= room)
        return good

    conflicts: list[int] = np.flatnonzero(~fits(members, giver)).tolist()
    for place in conflicts:
        if fits(members[place], giver[place]):
            continue
        near = np.arange(max(0, place - 64), min(len(members), place + 65))
        good = near[fits(members[place], giver[near]) & fits(members[near], giver[place])]
        if len(good):
            other = int(good[np.argmin(np.abs(good - place))])
            giver[[place, other]] = giver[[other, place]]
    stuck = ~fits(members, giver)
    result[members] = b[giver]
    if stuck.any():
        for place in np.flatnonzero(stuck).tolist():
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


def _rotation(lengths: Ints) -> Ints:
    """Return the place each place takes from: of sorted lengths, the one before it of the same length, in a circle.

    So a row keeps its length, and a full row does not tell IsNext. Lengths that occur once take turns among themselves.

    >>> _rotation(np.array([1, 4, 4, 4, 9])).tolist()
    [4, 3, 1, 2, 0]
    """
    places = np.arange(len(lengths), dtype=np.int64)
    first = np.searchsorted(lengths, lengths, side="left")
    last = np.searchsorted(lengths, lengths, side="right") - 1
    result = np.where(places == first, last, places - 1)
    single = np.flatnonzero(first == last)
    result[single] = np.roll(single, 1)
    return result


def _lender(taker: int, owners: NDArray[np.uint64], b_length: Ints, ties: NDArray[np.uint64]) -> int:
    """Return a pair of another document whose B is borrowed: of 64 drawn ones, that with the likest length."""
    drawn = below(bits(int(ties[taker]), np.arange(64)), len(owners))
    found = drawn[owners[drawn] != owners[taker]]
    if not len(found):
        found = np.flatnonzero(owners != owners[taker])
    return int(found[np.argmin(np.abs(b_length[found] - b_length[taker]))])
