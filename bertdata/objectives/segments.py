"""Which tokens stand together in an example: chunks of documents, pairs of segments.

A `TokenBlock` is the tokenised documents of one shard; a `Plan` names, for each example, the spans of the block that it
is made of. Every draw is keyed by the document and the chunk, so a plan does not depend on what else was planned.

    nsp                 SEGMENT-PAIR: a document is cut into chunks of about the target length, a chunk in two at a
                        sentence border drawn uniformly (BERT section 3.1 and appendix A.2)
    sentence-pair-nsp   SENTENCE-PAIR: a chunk is two sentences, at the end of a document three where one would be left
                        over (RoBERTa section 4.2)
    sop                 chunks and cuts as nsp; label 1 swaps the two (ALBERT section 3.1)
    doc-sentences       whole sentences of one document up to the target length (RoBERTa section 4.2)
    full-sentences      the same across document borders, with a separator there (RoBERTa section 4.2)
    single-segment      a share of the chunks is one segment, the others are cut near the middle of the row; no label
                        (ELECTRA's example builder)

How NSP pairs are made, and where this is stricter than Google's code: a fair coin gives the label (of few pairs half
are NotNext). The chunks that fall on NotNext exchange their Bs among documents, each for one of about the same length.
So no token is lost or used twice, the B of a NotNext pair begins and ends where Bs begin and end, both labels have the
same lengths, and 50/50 holds whatever the chunk holds. A B is drawn by chunk, so a long document gives more of them
than a short one. What is too long for a row is cut at a word border and carried on into the next chunk. Where too few
documents have text, see `pairs.exchange`. Special tokens are added by `rows`, masks by `masking`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bertdata.counter_rng import below, happens, key, threshold
from bertdata.engine.parts import Counts
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.full_sentences import full_sentences
from bertdata.objectives.nsp import Chunks, exchange, fair_labels, split_chunks, split_near_half
from bertdata.objectives.settings import NSP_OBJECTIVES, ExamplesConfig

__all__ = ["Plan", "TokenBlock", "plan_examples"]

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]


def plan_examples(block: TokenBlock, config: ExamplesConfig, copy: int) -> Plan:
    """Return the examples of one copy (0 to dupe_factor - 1) of a block, in document order.

    NSP takes B from another document: where a block has pairs of one only, they are left out and counted.
    """
    names = ("short", "length", "cut", "label", "id", "alone")
    seeds = {name: key(config.seed, f"{config.objective} {name}") for name in names}
    if config.objective == "full-sentences":
        return full_sentences(block, config, copy, seeds)
    plan = {"doc-sentences": _doc_sentences, "single-segment": _single_segments}.get(config.objective, _pairs)
    return plan(block, config, copy, seeds)


def _doc_sentences(block: TokenBlock, config: ExamplesConfig, copy: int, seeds: dict[str, int]) -> Plan:
    chunks = _cut_documents(block, config, copy, seeds, config.max_seq_length - 2, fill=False)
    ids = _example_ids(_draw(block, chunks, [seeds["id"]], copy)[0])
    return _plan(chunks.start, chunks.end, chunks.end, np.zeros(len(ids), np.bool_), ids, {})


def _single_segments(block: TokenBlock, config: ExamplesConfig, copy: int, seeds: dict[str, int]) -> Plan:
    room = config.max_seq_length - 3
    chunks = _cut_documents(block, config, copy, seeds, room, fill=True)
    keys = [seeds[name] for name in ("alone", "short", "length", "cut", "id")]
    of_alone, of_short, of_length, coins, of_id = _draw(block, chunks, keys, copy)
    alone = happens(of_alone, config.single_segment_prob)
    drawn = np.where(happens(of_short, config.short_seq_prob), 2 + below(of_length, room - 1), room)
    near_half = split_near_half(block, chunks, drawn // 2, coins)
    ids = _example_ids(of_id)
    return _plan(
        chunks.start, np.where(alone, chunks.end, near_half), chunks.end, np.zeros(len(ids), np.bool_), ids, {}
    )


def _pairs(block: TokenBlock, config: ExamplesConfig, copy: int, seeds: dict[str, int]) -> Plan:
    room = config.max_seq_length - 3
    chunks = _cut_documents(block, config, copy, seeds, room, fill=True)
    keys = [seeds["id"], seeds["cut"], seeds["label"], key(config.seed, "nsp exchange")]
    drawn = _draw(block, chunks, keys, copy)
    owners, ids = block.document_keys[chunks.document], _example_ids(drawn[0])
    middle = split_chunks(block, chunks, drawn[1])
    whole = middle > chunks.start
    lengths = chunks.end - chunks.start
    counts = {"tokens_dropped_single_word": int(lengths[~whole].sum())}
    nsp = config.objective in NSP_OBJECTIVES
    alone = nsp and _of_one_document(owners[whole])
    lonely = int(lengths[whole].sum()) if alone else 0
    whole &= not alone
    kept = slice(None) if whole.all() else whole
    start, middle, end, ids, owners = chunks.start[kept], middle[kept], chunks.end[kept], ids[kept], owners[kept]
    if not nsp:
        return _plan(start, middle, end, happens(drawn[2], 0.5)[kept], ids, counts)
    words = config.objective == "nsp"
    pairs = exchange(block, start, middle, end, fair_labels(drawn[2][kept]), owners, room, drawn[3][kept], words=words)
    counts |= pairs.counts
    counts["tokens_dropped_no_partner"] += lonely
    first = np.stack([start, pairs.middle], axis=1)
    spans = np.stack([first, pairs.second], axis=1).reshape(-1, 2)
    types = np.tile(np.array([0, 1], np.int8), len(first))
    offsets = np.arange(0, len(spans) + 1, 2, dtype=np.int64)
    return Plan(spans, types, offsets, pairs.not_next.astype(np.int8), ids, counts)


def _draw(block: TokenBlock, chunks: Chunks, keys: list[int], copy: int) -> Keys:
    """Return `bits(key, document key, copy, number)` of each chunk (C), a row for each of the keys (K, C)."""
    from bertdata.objectives.kernels import nsp as nsp_kernel

    drawn = np.empty((len(keys), len(chunks.start)), np.uint64)
    with np.errstate(over="ignore"):
        nsp_kernel.draw_chunks(
            np.array(keys, np.uint64), block.document_keys, chunks.document, chunks.number, copy, drawn
        )
    return drawn


def _of_one_document(owners: Keys) -> bool:
    return bool(len(owners)) and bool((owners == owners[0]).all())


def _plan(start: Ints, middle: Ints, end: Ints, swapped: NDArray[np.bool_], ids: Ints, counts: Counts) -> Plan:
    """Return examples of one or two spans: start to middle and, where that is before the end, middle to end."""
    first, second = np.stack([start, middle], axis=1), np.stack([middle, end], axis=1)
    halves = np.where(swapped[:, None], [second, first], [first, second])
    spans = np.stack([halves[0], halves[1]], axis=1).reshape(-1, 2)
    two = middle < end
    kept = np.stack([np.ones(len(two), np.bool_), two], axis=1).ravel()
    types = np.tile(np.array([0, 1], np.int8), len(two))[kept]
    offsets = np.concatenate([[0], np.cumsum(1 + two)])
    return Plan(spans[kept], types, offsets, swapped.astype(np.int8), ids, counts)


def _example_ids(draws: Keys) -> Ints:
    return (draws >> np.uint64(1)).view(np.int64)


def _cut_documents(
    block: TokenBlock, config: ExamplesConfig, copy: int, seeds: dict[str, int], room: int, *, fill: bool
) -> Chunks:
    """Cut all documents into chunks of at most `room` tokens (one more where ELECTRA's rows are one segment).

    Where the sentence that reaches the target overflows the room, `fill` cuts it at a word border and carries its rest
    on; without `fill` it moves to the next chunk whole, if it fits there.
    """
    from bertdata.objectives.kernels import segments as segments_kernel

    total = len(block.tokens)
    whole = len(block.word_start) == total and len(block.document_keys) == len(block.document_ends)
    if not (whole and _reach(block.sentence_ends, total) and _reach(block.document_ends, total)):
        raise ValueError(f"the ends of sentences and documents are not those of a block of {total} tokens")
    alone = threshold(config.single_segment_prob) if config.objective == "single-segment" else 0
    keys = np.array([seeds["short"], seeds["length"], seeds["alone"]], np.uint64)
    thresholds = np.array([threshold(config.short_seq_prob), 0, alone], np.uint64)
    count, chunks = len(block.sentence_ends) + 2 * total // room + 1, np.empty((0, 4), np.int64)
    while count > len(chunks):
        chunks = np.empty((count, 4), np.int64)
        with np.errstate(over="ignore"):
            count = segments_kernel.cut_documents(
                block.sentence_ends,
                block.document_ends,
                block.document_keys,
                block.word_start,
                keys,
                thresholds,
                copy,
                room,
                room + 1,
                config.objective == "sentence-pair-nsp",
                fill,
                chunks,
            )
    return Chunks(*(np.ascontiguousarray(column) for column in chunks[:count].T))


def _reach(ends: Ints, total: int) -> bool:
    """Tell whether ends ascend from above 0 to the total."""
    return bool(ends[0] > 0 and ends[-1] == total and (ends[1:] > ends[:-1]).all()) if len(ends) else not total
