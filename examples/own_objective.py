"""Build the sample corpus with an objective of your own: a row is the beginning of a document.

    python examples/own_objective.py corpus

The shards name their objective, which `bertdata verify corpus` and the loader look up, so it is named by a module that
can be imported: PYTHONPATH=examples bertdata build --output corpus --objective own_objective:BEGINNINGS.
"""

import sys

import numpy as np

import bertdata
from bertdata.counter_rng import bits
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.objective import Objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate


class Beginnings(Objective):
    """The first tokens of each document, as many as fit; the others are in no row, and counted."""

    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        """Return one row for each document."""
        starts = np.concatenate([[0], block.document_ends])[:-1]
        ends = np.minimum(starts + template.room(config.max_seq_length, pair=False), block.document_ends)
        ids = bits(self.key(config, "id"), block.document_keys, copy) >> np.uint64(1)
        none, offsets = np.zeros(len(starts), np.int8), np.arange(len(starts) + 1)
        dropped = len(block.tokens) - int((ends - starts).sum())
        spans = np.stack([starts, ends], axis=1)
        return Plan(spans, none, offsets, none, ids.astype(np.int64), {"tokens_dropped_after_the_beginning": dropped})


BEGINNINGS = Beginnings("own_objective:BEGINNINGS", "the beginning of each document")

if __name__ == "__main__":
    corpus = bertdata.build(sys.argv[1], objective=BEGINNINGS.name, vocab="bertdata-30k-uncased")
    print(corpus)
    print(f"{corpus['splits']['train']['counts']['tokens_dropped_after_the_beginning']:,} tokens are in no row")
