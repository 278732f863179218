"""Token blocks in, rows for pretraining out; each objective is one file."""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry

OBJECTIVES: Registry[Any] = Registry(
    "objective",
    {
        "nsp": "bertdata.objectives.nsp:NSP",
        "sentence-pair-nsp": "bertdata.objectives.nsp:SENTENCE_PAIR_NSP",
        "sop": "bertdata.objectives.sop:SOP",
        "doc-sentences": "bertdata.objectives.doc_sentences:DOC_SENTENCES",
        "full-sentences": "bertdata.objectives.full_sentences:FULL_SENTENCES",
        "single-segment": "bertdata.objectives.single_segment:SINGLE_SEGMENT",
        "doc-chunks": "bertdata.objectives.doc_chunks:DOC_CHUNKS",
        "joined-chunks": "bertdata.objectives.joined_chunks:JOINED_CHUNKS",
    },
    "bertdata.objectives.objective:Objective",
)
"""The objectives that `--objective` names, each an `Objective`."""
