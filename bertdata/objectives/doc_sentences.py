"""Rows of whole sentences of one document up to the target length (RoBERTa section 4.2, DOC-SENTENCES)."""

from __future__ import annotations

import numpy as np

from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.chunks import cut_documents, draw_chunks, example_ids, plan_halves
from bertdata.objectives.objective import Objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate


class DocSentences(Objective):
    """Rows of one document; a sentence that would overflow the row moves to the next one, if it fits there."""

    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        """Return the examples of one copy of a block, each a chunk of a document."""
        room = template.room(config.max_seq_length, pair=False)
        chunks = cut_documents(self, block, config, copy, room, fill=False)
        ids = example_ids(draw_chunks(block, chunks, [self.key(config, "id")], copy)[0])
        return plan_halves(chunks.start, chunks.end, chunks.end, np.zeros(len(ids), np.bool_), ids)


DOC_SENTENCES = DocSentences("doc-sentences", "RoBERTa's rows of one document", settings=("short_seq_prob",))
