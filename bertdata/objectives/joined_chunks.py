"""Rows of a fixed number of tokens from all documents joined, as of nomic-bert (2,048 tokens) and cramming (128)."""

from __future__ import annotations

import numpy as np

from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.chunks import Chunks, cut_joined, draw_chunks, example_ids
from bertdata.objectives.objective import Objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate


class JoinedChunks(Objective):
    """Rows that are all full except the last, with a separator between documents; a border may fall inside a word.

    No row ends with a separator: one whose document ends a token before it is full is a token short.
    """

    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        """Return the examples of one copy of a block; the id of one is drawn by its first token's place."""
        starts = cut_joined(self, block, config, copy, template)
        ends = np.append(starts[1:], block.document_ends[-1:])
        document_starts = np.concatenate([[0], block.document_ends])[:-1]
        document = np.searchsorted(block.document_ends, starts, side="right")
        rows = Chunks(document, starts - document_starts[document], starts, ends)
        begins = np.union1d(starts, document_starts)
        spans = np.stack([begins, np.append(begins[1:], block.document_ends[-1:])], axis=1)
        return Plan(
            spans,
            np.zeros(len(spans), np.int8),
            np.append(np.searchsorted(begins, starts), len(spans)),
            np.zeros(len(starts), np.int8),
            example_ids(draw_chunks(block, rows, [self.key(config, "id")], copy)[0]),
        )


JOINED_CHUNKS = JoinedChunks(
    "joined-chunks",
    "full rows across documents",
    segments=(1, None),
    by_sentences=False,
    settings=("min_seq_length",),
)
