"""Sentence order prediction: two neighbouring segments of a document, half of the pairs swapped (ALBERT section 3.1).

Chunks and cuts are those of `nsp`; label 1: the two are swapped.
"""

from __future__ import annotations

from bertdata.counter_rng import bernoulli
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.chunks import cut_pairs, plan_halves
from bertdata.objectives.objective import Objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate


class SentenceOrder(Objective):
    """Pairs of neighbours, swapped by a fair coin."""

    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        """Return the examples of one copy of a block; chunks of a single word are omitted and counted."""
        pairs = cut_pairs(self, block, config, copy, template)
        swapped = bernoulli(pairs.label_draws, 0.5)
        return plan_halves(pairs.start, pairs.middle, pairs.end, swapped, pairs.ids, pairs.counts)


SOP = SentenceOrder(
    "sop",
    "ALBERT's sentence order",
    label="sentence_order_label",
    label_names=("in order", "swapped"),
    label_meanings=("B follows A", "A follows B"),
    segments=(2, 2),
    token_types=2,
    sentence_pairs=True,
    settings=("short_seq_prob",),
)
