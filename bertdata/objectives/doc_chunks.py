"""Rows of consecutive tokens of one document, whatever its sentences, as encoders of long rows are trained on.

NeoBERT's and GTE's documents up to the length of a row, the chunks of mmBERT and Ettin, EuroBERT's random lengths.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.chunks import cut_documents, draw_chunks, example_ids, plan_halves
from bertdata.objectives.objective import Objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate


class DocChunks(Objective):
    """Chunks that follow one another in a document, the last one the rest.

    A chunk ends at the last word start that its length has room for; only a word longer than that is cut.
    """

    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        """Return the examples of one copy of a block, each a chunk of a document."""
        room, least = (template.room(length, pair=False) for length in (config.max_seq_length, config.least_drawn))
        unbroken = replace(block, sentence_ends=block.document_ends)
        chunks = cut_documents(self, unbroken, config, copy, room, fill=True, least_room=least)
        ids = example_ids(draw_chunks(block, chunks, [self.key(config, "id")], copy)[0])
        return plan_halves(chunks.start, chunks.end, chunks.end, np.zeros(len(ids), np.bool_), ids)


DOC_CHUNKS = DocChunks(
    "doc-chunks", "rows of so many tokens of one document", by_sentences=False, settings=("min_seq_length",)
)
