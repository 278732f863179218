"""What an objective needs of its documents, looked at before a vocabulary is trained or a token made.

What it does not do: counting what the examples leave out, which the manifest tells.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.compute as pc

from bertdata.documents import cut_ranges, read_range
from bertdata.engine.parts import PartMetadata
from bertdata.errors import ConfigError
from bertdata.objectives.settings import NSP_OBJECTIVES
from bertdata.sentences import SentenceSegmenter

SENTENCE_OBJECTIVES = ("sentence-pair-nsp", "sop")
"""The objectives of which a pair is two sentences of one document, or two runs of them."""

_AT_ONCE = 256


def require_documents_for(
    objective: str, parts: Sequence[tuple[str, PartMetadata]], segmenter: SentenceSegmenter
) -> None:
    """Raise ConfigError where parts (path, record) have not what an objective needs.

    NSP takes B from another document, so it needs two; pairs of sentences need a document that has two of them. Only as
    many documents are read as it takes to find one, which is all of them only where there is none.
    """
    total = sum(record.counts.get("documents", 0) for _, record in parts)
    if objective in NSP_OBJECTIVES and total < 2:
        raise ConfigError(
            f"next sentence prediction takes B from another document, and the corpus has {total}; "
            "add documents, or choose --objective sop, doc-sentences, full-sentences or single-segment"
        )
    if objective in SENTENCE_OBJECTIVES and total and not _has_two_sentences(parts, segmenter):
        raise ConfigError(
            f"--objective {objective} makes pairs of the sentences of a document, and none of the {total:,} documents "
            "has two; give documents of several sentences, other --sentences parameters if these do not find their "
            "ends, or choose --objective full-sentences, doc-sentences or single-segment"
        )


def _has_two_sentences(parts: Sequence[tuple[str, PartMetadata]], segmenter: SentenceSegmenter) -> bool:
    for one in cut_ranges(parts):
        for table in read_range(one):
            for begin in range(0, table.num_rows, _AT_ONCE):
                sentences = segmenter.segment_batch(table["text"].slice(begin, _AT_ONCE))
                if (pc.max(pc.list_value_length(sentences)).as_py() or 0) > 1:
                    return True
    return False
