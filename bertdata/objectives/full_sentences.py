"""Rows filled with whole sentences across documents (RoBERTa section 4.2, FULL-SENTENCES)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bertdata.counter_rng import bernoulli, randint
from bertdata.objectives.blocks import Plan, TokenBlock, word_start_before
from bertdata.objectives.chunks import Chunks, draw_chunks, example_ids
from bertdata.objectives.objective import Objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate

Ints = NDArray[np.int64]


class FullSentences(Objective):
    """Rows of sentences of one document or several, with a separator between documents."""

    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        """Return the examples of one copy of a block: whole sentences in rows, one document after another."""
        room, separator = template.room(config.max_seq_length, pair=False), len(template.separator)
        pieces = sentence_pieces(block, room)
        keys = [self.key(config, purpose) for purpose in ("short", "length", "id")]
        short_draws, length_draws, id_draws = draw_chunks(block, pieces, keys, copy)
        short = bernoulli(short_draws, config.short_seq_prob)
        targets = np.where(short, 2 + randint(length_draws, room - 1), room).tolist()
        spans: list[list[int]] = []
        offsets: list[int] = []
        firsts: list[int] = []
        used, target, last = room, 0, -1
        columns = (pieces.document.tolist(), pieces.start.tolist(), pieces.end.tolist())
        for number, (document, start, end) in enumerate(zip(*columns, strict=True)):
            cost = end - start + (separator if document != last else 0)
            if used >= target or used + cost > room:
                offsets.append(len(spans))
                firsts.append(number)
                used, target = -separator, targets[number]
                cost, last = end - start + separator, -1
            if document == last:
                spans[-1][1] = end
            else:
                spans.append([start, end])
            used, last = used + cost, document
        return Plan(
            np.array(spans, np.int64).reshape(-1, 2),
            np.zeros(len(spans), np.int8),
            np.array([*offsets, len(spans)], np.int64),
            np.zeros(len(firsts), np.int8),
            example_ids(id_draws[firsts]),
        )


FULL_SENTENCES = FullSentences("full-sentences", "RoBERTa's rows across documents", segments=(1, None))


def sentence_pieces(block: TokenBlock, room: int) -> Chunks:
    """Return the sentences of all documents; those longer than a row are cut at word starts."""
    starts = np.concatenate([[0], block.sentence_ends])[:-1].astype(np.int64)
    cuts = [starts]
    for number in np.flatnonzero(block.sentence_ends - starts > room):
        begin, end = int(starts[number]), int(block.sentence_ends[number])
        while end - begin > room:
            cut = int(word_start_before(block, np.array([begin + room]), np.array([begin]))[0])
            begin = cut if cut > begin else begin + room
            cuts.append(np.array([begin], np.int64))
    start = np.sort(np.concatenate(cuts))
    ends = np.concatenate([start[1:], block.sentence_ends[-1:]])
    document = np.searchsorted(block.document_ends, start, side="right").astype(np.int64)
    first = np.searchsorted(document, document, side="left")
    return Chunks(document, np.arange(len(start), dtype=np.int64) - first, start, ends)
