"""Next sentence prediction: pairs of segments A and B, half of which have a B from another document.

    nsp                 a document is cut into chunks of about the target length, a chunk in two at a sentence border
                        drawn uniformly (BERT section 3.1 and appendix A.2; RoBERTa section 4.2, SEGMENT-PAIR)
    sentence-pair-nsp   a chunk is two sentences, at the end of a document three where one would be left over (RoBERTa
                        section 4.2, SENTENCE-PAIR)

This differs from Google's code: the label is a fair coin (of few pairs exactly half are NotNext), and NotNext pairs
exchange their Bs among documents, each for one of about the same length. So no token is lost or used twice, every B
begins and ends at the same kind of boundary, pairs of both labels have the same lengths, and the labels are balanced
whatever the chunks hold. Each chunk has one B, so long documents give more of them than short ones. For blocks in which
one document has nearly all the text, see `exchange`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Flags, Ints
from bertdata.counter_rng import argsort, bernoulli, bits, key, randint
from bertdata.engine.parts import Counts
from bertdata.objectives.blocks import Plan, TokenBlock, word_start_before
from bertdata.objectives.chunks import cut_pairs
from bertdata.objectives.objective import Objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate

FEW_PAIRS = 500
"""Of fewer pairs exactly half are NotNext: the share of heads in 500 coins has a standard deviation of 2.2%."""
DRAWN = 64
"""Pairs that are drawn as candidates to borrow a B from."""
_AT_ONCE = 4096
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


@dataclass(frozen=True)
class NextSentence(Objective):
    """two_sentences: whether A and B are one sentence each."""

    two_sentences: bool = False

    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        """Return the examples of one copy of a block; none where all its pairs are of one document."""
        exchange_key = key(config.seed, "nsp exchange")
        pairs = cut_pairs(
            self, block, config, copy, template, two_sentences=self.two_sentences, more_keys=[exchange_key]
        )
        selected = slice(0 if _of_one_document(pairs.owners) else None)
        start, middle, end, owners = (
            pairs.start[selected],
            pairs.middle[selected],
            pairs.end[selected],
            pairs.owners[selected],
        )
        labels, room = fair_labels(pairs.label_draws[selected]), template.room(config.max_seq_length, pair=True)
        ties, words = pairs.more_draws[0][selected], not self.two_sentences
        exchanged = exchange(block, start, middle, end, labels, owners, room, ties, words=words)
        counts = pairs.counts | exchanged.counts
        counts["tokens_dropped_no_partner"] += int((pairs.end - pairs.start).sum() - (end - start).sum())
        first = np.stack([start, exchanged.middle], axis=1)
        spans = np.stack([first, exchanged.second], axis=1).reshape(-1, 2)
        types = np.tile(np.array([0, 1], np.int8), len(first))
        offsets = np.arange(0, len(spans) + 1, 2, dtype=np.int64)
        return Plan(spans, types, offsets, exchanged.not_next.astype(np.int8), pairs.ids[selected], counts)


def _of_one_document(owners: NDArray[np.uint64]) -> bool:
    return bool(len(owners)) and bool((owners == owners[0]).all())


NSP = NextSentence(
    "nsp",
    "BERT's pairs of segments",
    label="next_sentence_label",
    label_names=("IsNext", "NotNext"),
    label_meanings=("B follows A", "B is from another document"),
    segments=(2, 2),
    token_types=2,
    min_documents=2,
    settings=("short_seq_prob",),
)
SENTENCE_PAIR_NSP = replace(
    NSP, name="sentence-pair-nsp", help="pairs of sentences", settings=(), sentence_pairs=True, two_sentences=True
)


def fair_labels(draws: NDArray[np.uint64]) -> Flags:
    """Return which pairs are NotNext: by a fair coin for each, of fewer than 500 pairs the half with the lowest draws.

    Half of an odd number is rounded up or down by a coin.
    """
    if len(draws) >= FEW_PAIRS:
        return bernoulli(draws, 0.5)
    order = np.argsort(draws, kind="stable")
    result = np.zeros(len(draws), np.bool_)
    result[order[: (len(draws) + int(draws[order[:1]].sum() & np.uint64(1))) // 2]] = True
    return result


@dataclass(frozen=True)
class Exchanged:
    """Pairs after the exchange: where each chunk is cut, the B of each pair (N, 2), which are NotNext, counts."""

    middle: Ints
    second: Ints
    not_next: Flags
    counts: Counts


def exchange(
    block: TokenBlock,
    start: Ints,
    middle: Ints,
    end: Ints,
    not_next: Flags,
    owners: NDArray[np.uint64],
    room: int,
    ties: NDArray[np.uint64],
    *,
    words: bool,
) -> Exchanged:
    """Exchange the Bs of NotNext pairs among different documents; chunks begin at start, B at middle.

    NotNext pairs are sorted by the length of B, ties by draw. Those of equal length form a circle in which each takes
    the B of the one before it, so rows keep their length, and a full row does not reveal the label. Lengths that occur
    once form a circle together. Where a B is of the same document or too long, a pair swaps with a near one.

    A pair without such a neighbour leaves its circle and looks for a pair of another document, NotNext or IsNext, with
    which it can exchange Bs if both are cut at other sentence ends or, with `words`, at a word boundary. To keep the
    labels balanced, every second such pair becomes IsNext instead. If no such pair exists (one document has nearly
    all the text), it borrows a copy of another document's B, and its own B is in no row; both are counted.
    """
    from bertdata.kernels.jit import plain
    from bertdata.objectives.kernels import nsp as nsp_kernel

    middle, not_next, sources = middle.copy(), not_next.copy(), np.arange(len(start))
    members = np.flatnonzero(not_next)
    takers = members[:0]
    if len(members):
        a_length, b_length = middle - start, end - middle
        members = members[_in_order(b_length[members], ties[members])]
        giver, stuck = np.empty((2, len(members)), np.int64)
        number_stuck = nsp_kernel.assign_givers(members, a_length, b_length, owners, room, giver, stuck)
        sources[members] = giver
        takers = members[stuck[:number_stuck]]
    if len(takers):
        free, by_source = np.empty(len(members), np.int64), np.empty_like(sources)
        by_source[sources] = np.arange(len(sources))
        free = free[: nsp_kernel.release(takers, a_length, b_length, owners, room, sources, by_source, free)]
        given = sources[takers]
        still_takers = takers[
            (given != takers) & ~plain(nsp_kernel.fits)(a_length, b_length, owners, room, takers, given)
        ]
        by_owner = np.argsort(owners, kind="stable")
        begins, stops = (np.searchsorted(owners[by_owner], owners[free], side) for side in _SIDES)
        is_open, waiting = ~not_next, np.empty_like(free)
        is_open[free] = True
        majority = 2 * int(not_next.sum()) - len(start)
        surplus = majority > 0 or (majority == 0 and not bernoulli(ties[free[:1]], 0.5).all())
        with np.errstate(over="ignore"):
            count = nsp_kernel.pair_again(
                *(free, block.sentence_ends, block.word_start, start, middle, end, by_owner, begins, stops),
                *(ties, room, words, int(surplus), sources, not_next, is_open, waiting),
            )
        waiting = waiting[:count]
        takers = np.concatenate([still_takers, waiting[is_open[waiting]]])
    second = np.stack([middle, end], axis=1)
    dropped = int((end - middle)[sources[takers]].sum())
    lent = second[_lenders(takers, owners, end - middle, ties)]
    second = second[sources]
    limit = lent[:, 0] + room - (middle - start)[takers]
    over = lent[:, 1] > limit
    cut = word_start_before(block, limit[over], lent[over, 0])
    lent[over, 1] = np.where(cut > lent[over, 0], cut, limit[over])
    second[takers] = lent
    counts = {"tokens_borrowed": int((lent[:, 1] - lent[:, 0]).sum()), "tokens_dropped_no_partner": dropped}
    return Exchanged(middle, second, not_next, counts)


def _in_order(lengths: Ints, ties: NDArray[np.uint64]) -> Ints:
    """Return the indices sorted by length, ties by draw; stable.

    >>> _in_order(np.array([4, 1, 4]), np.array([2**63, 3, 5], np.uint64)).tolist()
    [1, 2, 0]
    """
    width = np.uint64(int(lengths.max()).bit_length())
    keys = (lengths.astype(np.uint64) << (np.uint64(64) - width)) | (ties >> width)
    order = argsort(keys)
    sorted_keys = keys[order]
    return order if (sorted_keys[1:] > sorted_keys[:-1]).all() else np.lexsort((ties, lengths))


def _lenders(takers: Ints, owners: NDArray[np.uint64], b_length: Ints, ties: NDArray[np.uint64]) -> Ints:
    """Return for each taker a pair of another document whose B it borrows: of 64 drawn, the one of the nearest length.

    Where all 64 are of its own document, 64 are drawn among the others.
    """
    result = np.empty(len(takers), np.int64)
    by_owner = np.argsort(owners, kind="stable")
    sorted_owners = owners[by_owner]
    for first in range(0, len(takers), _AT_ONCE):
        here = takers[first : first + _AT_ONCE]
        drawn = randint(bits(ties[here][:, None], np.arange(DRAWN)), len(owners))
        of_others = owners[drawn] != owners[here][:, None]
        none = np.flatnonzero(~of_others.any(1))
        begin, end = (np.searchsorted(sorted_owners, owners[here[none]], side)[:, None] for side in _SIDES)
        number = randint(bits(ties[here[none]][:, None], np.arange(DRAWN, 2 * DRAWN)), len(owners) - (end - begin))
        drawn[none], of_others[none] = by_owner[np.where(number < begin, number, number + end - begin)], True
        unlike = np.where(of_others, np.abs(b_length[drawn] - b_length[here][:, None]), np.iinfo(np.int64).max)
        result[first : first + _AT_ONCE] = drawn[np.arange(len(here)), unlike.argmin(1)]
    return result
