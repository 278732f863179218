"""Rows of one or two segments of a document without a label, as ELECTRA's example builder makes them.

A share of the chunks is one segment; the others are cut in two near the middle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.counter_rng import bernoulli, randint
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.chunks import Chunks, cut_documents, draw_chunks, example_ids, plan_halves
from bertdata.objectives.objective import Objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate


class SingleSegment(Objective):
    """Rows of one or two segments; a row of one has room for more, for it has no separator between two."""

    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        """Return the examples of one copy of a block, of one or two spans each."""
        room, room_alone = (template.room(config.max_seq_length, pair=pair) for pair in (True, False))
        share = config.single_segment_prob
        chunks = cut_documents(self, block, config, copy, room, fill=True, room_alone=room_alone, alone_prob=share)
        keys = [self.key(config, purpose) for purpose in ("alone", "short", "length", "cut", "id")]
        alone_draws, short_draws, length_draws, coins, id_draws = draw_chunks(block, chunks, keys, copy)
        short = bernoulli(short_draws, config.short_seq_prob)
        targets = np.where(short, 2 + randint(length_draws, room - 1), room)
        middle = split_near_half(block, chunks, targets // 2, coins)
        middle, ids = np.where(bernoulli(alone_draws, share), chunks.end, middle), example_ids(id_draws)
        return plan_halves(chunks.start, middle, chunks.end, np.zeros(len(ids), np.bool_), ids)


def split_near_half(block: TokenBlock, chunks: Chunks, half: Ints, coins: NDArray[np.uint64]) -> Ints:
    """Return where each chunk is cut in two as by ELECTRA's builder; its end where it is one segment.

    The first segment takes sentences while it is below `half` tokens, at least one. If it is still below, a coin
    decides whether it also takes the sentence that reaches `half`.
    """
    first = np.searchsorted(block.sentence_ends, chunks.start, side="right")
    inner = np.searchsorted(block.sentence_ends, chunks.end, side="left")
    last = np.searchsorted(block.sentence_ends, chunks.start + half, side="left") - 1
    last = np.maximum(last, first)
    below_half = block.sentence_ends[last] - chunks.start < half
    last += below_half & bernoulli(coins, 0.5)
    middle: Ints = block.sentence_ends[np.minimum(last, len(block.sentence_ends) - 1)]
    return np.where(last < inner, middle, chunks.end)


SINGLE_SEGMENT = SingleSegment(
    "single-segment",
    "ELECTRA's rows",
    segments=(1, 2),
    token_types=2,
    settings=("short_seq_prob", "single_segment_prob"),
)
