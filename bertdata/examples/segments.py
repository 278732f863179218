"""Which tokens stand together in an example: chunks of documents, pairs of segments.

A `TokenBlock` is the tokenised documents of one shard; a `Plan` names, for each example, the spans of the block that it
is made of. Every draw is keyed by the document and the chunk, so a plan does not depend on what else was planned.

How NSP pairs are made (BERT section 3.1 and appendix A.2), and where this is stricter than Google's code: a document
is cut into chunks of about the target length; a chunk is cut in two at a sentence border drawn uniformly, A and the
real B. A fair coin gives the label. The chunks that fall on NotNext exchange their Bs among documents, each for one of
about the same length. So no token is lost or used twice, the B of a NotNext pair begins and ends where Bs begin and
end, both labels have the same lengths, and 50/50 holds whatever the chunk holds. A B is drawn by chunk, so a long
document gives more of them than a short one. What is too long for a row is cut at a word border and carried on into the
next chunk. What this module does not do: special tokens (`rows`) and masks (`masking`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bertdata.config import ExamplesConfig
from bertdata.draws import below, bits, happens, key
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


@dataclass(frozen=True)
class _Chunks:
    """Consecutive pieces of documents: document number, number in the document, first token, token behind the last."""

    document: Ints
    number: Ints
    start: Ints
    end: Ints


def plan_examples(block: TokenBlock, config: ExamplesConfig, copy: int) -> Plan:
    """Return the examples of one copy (0 to dupe_factor - 1) of a block, in document order.

    NSP takes B from another document: where a block has pairs of one only, they are left out and counted.
    """
    seeds = {name: key(config.seed, f"{config.objective} {name}") for name in ("short", "length", "cut", "label", "id")}
    if config.objective == "full-sentences":
        return _full_sentences(block, config, copy, seeds)
    pairs = config.objective in ("nsp", "sop")
    room = config.max_seq_length - (3 if pairs else 2)
    chunks = _cut_documents(block, room, config.short_seq_prob, copy, seeds, fill=pairs)
    owners = block.document_keys[chunks.document]
    ids = _example_ids(seeds["id"], owners, copy, chunks.number)
    if not pairs:
        spans = np.stack([chunks.start, chunks.end], axis=1)
        return _plan(spans, np.zeros(len(spans), np.int8), 1, np.zeros(len(spans), np.int8), ids, {})

    middle = _split_chunks(block, chunks, bits(seeds["cut"], owners, copy, chunks.number))
    whole = middle > chunks.start
    lengths = chunks.end - chunks.start
    counts = {"tokens_dropped_single_word": int(lengths[~whole].sum())}
    alone = config.objective == "nsp" and _of_one_document(owners[whole])
    lonely = int(lengths[whole].sum()) if alone else 0
    whole &= not alone
    a = np.stack([chunks.start, middle], axis=1)[whole]
    b = np.stack([middle, chunks.end], axis=1)[whole]
    labels = happens(bits(seeds["label"], owners, copy, chunks.number), 0.5)[whole]
    types = np.tile(np.array([0, 1], np.int8), len(a))
    if config.objective == "sop":
        first, second = np.where(labels[:, None], b, a), np.where(labels[:, None], a, b)
    else:
        ties = bits(key(config.seed, "nsp exchange"), owners, copy, chunks.number)[whole]
        first = a
        second, exchange_counts = _exchange(block, a, b, labels, owners[whole], room, ties)
        counts |= exchange_counts
        counts["tokens_dropped_no_partner"] += lonely
    spans = np.stack([first, second], axis=1).reshape(-1, 2)
    return _plan(spans, types, 2, labels.astype(np.int8), ids[whole], counts)


def _of_one_document(owners: NDArray[np.uint64]) -> bool:
    return bool(len(owners)) and bool((owners == owners[0]).all())


def _plan(spans: Ints, types: NDArray[np.int8], each: int, labels: NDArray[np.int8], ids: Ints, counts: Counts) -> Plan:
    return Plan(spans, types, np.arange(0, len(spans) + 1, each, dtype=np.int64), labels, ids, counts)


def _example_ids(seed: int, owners: NDArray[np.uint64], copy: int, number: Ints) -> Ints:
    return (bits(seed, owners, copy, number) >> np.uint64(1)).astype(np.int64)


def _previous_word_start(block: TokenBlock) -> NDArray[np.int32]:
    """For each position, the nearest word start at or before it."""
    here = np.where(block.word_start, np.arange(len(block.tokens), dtype=np.int32), np.int32(0))
    return np.maximum.accumulate(here)


def _cut_documents(
    block: TokenBlock, room: int, short_seq_prob: float, copy: int, seeds: dict[str, int], *, fill: bool
) -> _Chunks:
    """Cut all documents into chunks of at most `room` tokens, one chunk of every document at a step.

    A chunk ends with the sentence that reaches its target. Where that overflows the row, `fill` cuts the sentence at a
    word border and carries its rest on; without `fill` the sentence moves to the next chunk whole, if it fits there.
    """
    starts = np.concatenate([[0], block.document_ends])[:-1].astype(np.int64)
    active = np.arange(len(starts), dtype=np.int64)
    position = starts.copy()
    previous = _previous_word_start(block)
    parts: list[tuple[Ints, Ints, Ints, Ints]] = []
    step = 0
    while len(active):
        begin, owner, limit = position[active], block.document_keys[active], block.document_ends[active]
        short = happens(bits(seeds["short"], owner, copy, step), short_seq_prob)
        length = 2 + below(bits(seeds["length"], owner, copy, step), room - 1)
        target = np.where(short, length, room)
        last = np.searchsorted(block.sentence_ends, begin + target, side="left")
        end = np.minimum(block.sentence_ends[np.minimum(last, len(block.sentence_ends) - 1)], limit)
        over = end - begin > room
        if over.any():
            at = begin + room
            cut = previous[np.minimum(at, len(previous) - 1)].astype(np.int64)
            if not fill:
                before = np.searchsorted(block.sentence_ends, at, side="right") - 1
                whole = np.where(before >= 0, block.sentence_ends[np.maximum(before, 0)], 0)
                cut = np.where(whole > begin, whole, cut)
            cut = np.where(cut > begin, cut, at)
            end = np.where(over, cut, end)
        parts.append((active, np.full(len(active), step, np.int64), begin, end))
        position[active] = end
        active = active[end < limit]
        step += 1
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.zeros(0, np.int64)] * 4
    order = np.lexsort((columns[1], columns[0]))
    return _Chunks(*(column[order] for column in columns))


def _split_chunks(block: TokenBlock, chunks: _Chunks, draws: NDArray[np.uint64]) -> Ints:
    """Return where each chunk is cut in two: a sentence border drawn uniformly, else a word border near the middle.

    A chunk of a single word cannot be cut; its start is returned.
    """
    first = np.searchsorted(block.sentence_ends, chunks.start, side="right")
    inner = np.searchsorted(block.sentence_ends, chunks.end, side="left") - first
    middle: Ints = block.sentence_ends[np.minimum(first + below(draws, inner), len(block.sentence_ends) - 1)].copy()
    for number in np.flatnonzero(inner == 0):
        begin, end = int(chunks.start[number]), int(chunks.end[number])
        borders = begin + 1 + np.flatnonzero(block.word_start[begin + 1 : end])
        middle[number] = begin if not len(borders) else borders[np.argmin(np.abs(2 * borders - begin - end))]
    return middle


def _exchange(
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
        previous = _previous_word_start(block)
        for place in np.flatnonzero(stuck).tolist():
            taker = int(members[place])
            span = b[_lender(taker, owners, b_length, ties)].copy()
            limit = span[0] + room - a_length[taker]
            if span[1] > limit:
                cut = int(previous[limit])
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


def _full_sentences(block: TokenBlock, config: ExamplesConfig, copy: int, seeds: dict[str, int]) -> Plan:
    """Pack whole sentences into rows across document borders, a separator between documents (RoBERTa section 4.2)."""
    room = config.max_seq_length - 2
    pieces = _sentence_pieces(block, room)
    owners = block.document_keys[pieces.document]
    short = happens(bits(seeds["short"], owners, copy, pieces.number), config.short_seq_prob)
    targets = np.where(short, 2 + below(bits(seeds["length"], owners, copy, pieces.number), room - 1), room).tolist()
    spans: list[list[int]] = []
    offsets, firsts = [0], []
    used, target, last = room, 0, -1
    columns = (pieces.document.tolist(), pieces.start.tolist(), pieces.end.tolist())
    for number, (document, start, end) in enumerate(zip(*columns, strict=True)):
        cost = end - start + (document != last)
        if used >= target or used + cost > room:
            if spans:
                offsets.append(len(spans))
            firsts.append(number)
            used, target = -1, targets[number]
            cost, last = end - start + 1, -1
        if document == last:
            spans[-1][1] = end
        else:
            spans.append([start, end])
        used, last = used + cost, document
    if spans:
        offsets.append(len(spans))
    first = np.array(firsts, np.int64)
    ids = _example_ids(seeds["id"], owners[first], copy, pieces.number[first])
    count = len(spans)
    return Plan(
        np.array(spans, np.int64).reshape(-1, 2),
        np.zeros(count, np.int8),
        np.array(offsets, np.int64),
        np.zeros(len(ids), np.int8),
        ids,
    )


def _sentence_pieces(block: TokenBlock, room: int) -> _Chunks:
    """Return the sentences, those longer than a row cut at word borders."""
    starts = np.concatenate([[0], block.sentence_ends])[:-1].astype(np.int64)
    previous = _previous_word_start(block)
    cuts = [starts]
    for number in np.flatnonzero(block.sentence_ends - starts > room):
        begin, end = int(starts[number]), int(block.sentence_ends[number])
        while end - begin > room:
            cut = int(previous[begin + room])
            begin = cut if cut > begin else begin + room
            cuts.append(np.array([begin], np.int64))
    start = np.sort(np.concatenate(cuts))
    ends = np.concatenate([start[1:], block.sentence_ends[-1:]])
    document = np.searchsorted(block.document_ends, start, side="right").astype(np.int64)
    first = np.searchsorted(document, document, side="left")
    return _Chunks(document, np.arange(len(start), dtype=np.int64) - first, start, ends)
