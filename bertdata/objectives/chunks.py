"""Documents cut into chunks that fill a row, and chunks cut in two, as most objectives need them.

Every draw is keyed by the document and the number of the chunk in it, so chunks do not depend on other documents. What
is too long for a row is cut at a word boundary, and the next chunk begins with the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Flags, Ints
from bertdata.counter_rng import bits, threshold
from bertdata.engine.parts import Counts
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.objective import Objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate

Draws = NDArray[np.uint64]


@dataclass(frozen=True)
class Chunks:
    """Consecutive spans of documents: document number, number in the document, first token, and the end; int64 (C,)."""

    document: Ints
    number: Ints
    start: Ints
    end: Ints


def cut_documents(
    objective: Objective,
    block: TokenBlock,
    config: ExamplesConfig,
    copy: int,
    room: int,
    *,
    fill: bool,
    room_alone: int = 0,
    alone_prob: float = 0.0,
    least_room: int | None = None,
    two_sentences: bool = False,
) -> Chunks:
    """Cut all documents into chunks of at most `room` tokens; raises ValueError for a block whose arrays do not match.

    A chunk takes sentences until it reaches its target: the room, or, in a share `short_seq_prob` of the chunks, a
    length drawn from 2 to the room.

    two_sentences: the target is two sentences, and three at the end of a document where one would be left over.
    fill: a last sentence that overflows the room is cut at a word start, and the next chunk begins with its rest;
    without it such a sentence moves to the next chunk whole, if it fits there.
    alone_prob: the share of the chunks that have `room_alone` instead of the room.
    least_room: the room of each chunk is drawn evenly from it to `room`.
    """
    from bertdata.objectives.kernels import segments as segments_kernel

    check_block(block)
    least_room = room if least_room is None else least_room
    keys = np.array([objective.key(config, purpose) for purpose in ("short", "length", "alone", "room")], np.uint64)
    thresholds = np.array([threshold(config.short_seq_prob), 0, threshold(alone_prob)], np.uint64)
    count = len(block.sentence_ends) + 4 * len(block.tokens) // (room + least_room) + 1
    chunks = np.empty((0, 4), np.int64)
    while count > len(chunks):
        chunks = np.empty((count, 4), np.int64)
        with np.errstate(over="ignore"):
            count = segments_kernel.cut_documents(
                *(block.sentence_ends, block.document_ends, block.document_keys, block.word_start, keys, thresholds),
                *(copy, room, room_alone, least_room),
                *(two_sentences, fill, chunks),
            )
    return Chunks(*(np.ascontiguousarray(column) for column in chunks[:count].T))


def cut_joined(
    objective: Objective, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate
) -> Ints:
    """Return where rows begin in the documents joined with separators, int64 (E,), each row as full as it can be.

    Raises ValueError for a block whose arrays do not match. The key of a drawn length is the document in which the row
    begins and the place there.
    """
    from bertdata.objectives.kernels import segments as segments_kernel

    check_block(block)
    room, least = (template.room(length, pair=False) for length in (config.max_seq_length, config.least_drawn))
    starts = np.empty(2 * len(block.tokens) // least + 1, np.int64)  # of a row's room half may be separators
    with np.errstate(over="ignore"):
        count = segments_kernel.cut_joined(
            *(block.document_ends, block.document_keys, np.uint64(objective.key(config, "room")), copy),
            *(room, least, len(template.separator), starts),
        )
    return starts[:count]


def check_block(block: TokenBlock) -> None:
    """Raise ValueError for a block whose arrays do not match."""
    total = len(block.tokens)
    whole = len(block.word_start) == total and len(block.document_keys) == len(block.document_ends)
    if not (whole and _reach(block.sentence_ends, total) and _reach(block.document_ends, total)):
        raise ValueError(f"the ends of sentences and documents are not those of a block of {total} tokens")


def _reach(ends: Ints, total: int) -> bool:
    """Return whether ends ascend from above 0 to the total."""
    return bool(ends[0] > 0 and ends[-1] == total and (ends[1:] > ends[:-1]).all()) if len(ends) else not total


def draw_chunks(block: TokenBlock, chunks: Chunks, keys: Sequence[int], copy: int) -> Draws:
    """Return `bits(key, document key, copy, number)` of each chunk (C,), a row for each of the keys: uint64 (K, C)."""
    return bits(np.array(keys, np.uint64)[:, None], block.document_keys[chunks.document], copy, chunks.number)


def example_ids(draws: Draws) -> Ints:
    """Return draws as ids that are not negative, int64."""
    return (draws >> np.uint64(1)).view(np.int64)


def split_chunks(block: TokenBlock, chunks: Chunks, draws: Draws) -> Ints:
    """Return where each chunk is cut in two: at a uniformly drawn sentence end, else at a word start near the middle.

    The word start is the nearest, of two the first. A chunk of a single word cannot be cut; its start is returned.
    """
    from bertdata.objectives.kernels import nsp as nsp_kernel

    middle = np.empty(len(chunks.start), np.int64)
    with np.errstate(over="ignore"):
        nsp_kernel.split_chunks(block.sentence_ends, block.word_start, chunks.start, chunks.end, draws, middle)
    return middle


@dataclass(frozen=True)
class SegmentPairs:
    """Chunks cut in two: A is start to middle, B is middle to end.

    start, middle, end, ids: int64 (N,); owners: the keys of their documents, label_draws, and more_draws (a row for
    each key asked for): uint64; counts: tokens that are in no pair.
    """

    start: Ints
    middle: Ints
    end: Ints
    ids: Ints
    owners: Draws
    label_draws: Draws
    more_draws: Draws
    counts: Counts


def cut_pairs(
    objective: Objective,
    block: TokenBlock,
    config: ExamplesConfig,
    copy: int,
    template: RowTemplate,
    *,
    two_sentences: bool = False,
    more_keys: Sequence[int] = (),
) -> SegmentPairs:
    """Cut documents into chunks and each chunk into two segments; chunks of a single word are omitted and counted.

    A chunk is cut at a uniformly drawn sentence end (BERT section 3.1 and appendix A.2).
    """
    room = template.room(config.max_seq_length, pair=True)
    chunks = cut_documents(objective, block, config, copy, room, fill=True, two_sentences=two_sentences)
    keys = [objective.key(config, purpose) for purpose in ("id", "cut", "label")]
    draws = draw_chunks(block, chunks, [*keys, *more_keys], copy)
    middle = split_chunks(block, chunks, draws[1])
    whole = middle > chunks.start
    dropped = int((chunks.end - chunks.start)[~whole].sum())
    selected = slice(None) if whole.all() else whole
    return SegmentPairs(
        chunks.start[selected],
        middle[selected],
        chunks.end[selected],
        example_ids(draws[0])[selected],
        block.document_keys[chunks.document][selected],
        draws[2][selected],
        draws[3:, selected],
        {"tokens_dropped_single_word": dropped},
    )


def plan_halves(start: Ints, middle: Ints, end: Ints, swapped: Flags, ids: Ints, counts: Counts | None = None) -> Plan:
    """Return examples of one or two spans: start to middle and, where that is before the end, middle to end.

    swapped: which examples have the second span first, bool (E,); it is their label.
    """
    first, second = np.stack([start, middle], axis=1), np.stack([middle, end], axis=1)
    halves = np.where(swapped[:, None], [second, first], [first, second])
    spans = np.stack([halves[0], halves[1]], axis=1).reshape(-1, 2)
    two = middle < end
    present = np.stack([np.ones(len(two), np.bool_), two], axis=1).ravel()
    types = np.tile(np.array([0, 1], np.int8), len(two))[present]
    offsets = np.concatenate([[0], np.cumsum(1 + two)])
    return Plan(spans[present], types, offsets, swapped.astype(np.int8), ids, counts or {})
