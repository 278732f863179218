"""Check that the documents suit the objective, before a vocabulary is trained and documents are tokenized."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.compute as pc

from bertdata.documents import cut_ranges, read_range
from bertdata.engine.parts import PartMetadata
from bertdata.errors import ConfigError
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.objective import find_objective
from bertdata.sentences import SentenceSegmenter
from bertdata.shards.token_store import compiling_sentences_pays

_AT_ONCE = 256


def require_documents_for(name: str, parts: Sequence[tuple[str, PartMetadata]], segmenter: SentenceSegmenter) -> None:
    """Raise ConfigError where the documents of parts (path, record) do not suit the objective of a name.

    NSP takes B from another document, so it needs two documents; pairs of sentences need a document with two sentences.
    Documents are read until one is found.
    """
    objective, total = find_objective(name), sum(record.counts.get("documents", 0) for _, record in parts)
    if total < objective.min_documents:
        others = [other for other in OBJECTIVES if find_objective(other).min_documents <= total]
        raise ConfigError(
            f"--objective {name} takes B from another document, so it needs {objective.min_documents} documents at "
            f"least, and the corpus has {total}; add documents, or choose --objective {' or '.join(others)}"
        )
    if objective.sentence_pairs and total and not _has_two_sentences(parts, segmenter):
        others = [other for other in OBJECTIVES if not find_objective(other).label]
        raise ConfigError(
            f"--objective {name} makes pairs of the sentences of a document, and none of the {total:,} documents "
            "has two; give documents of several sentences, other --sentences parameters if these do not find their "
            f"ends, or choose --objective {' or '.join(others)}"
        )


def _has_two_sentences(parts: Sequence[tuple[str, PartMetadata]], segmenter: SentenceSegmenter) -> bool:
    ranges = cut_ranges(parts)
    compiled = compiling_sentences_pays(ranges)
    for documents in ranges:
        for table in read_range(documents):
            for begin in range(0, table.num_rows, _AT_ONCE):
                sentences = segmenter.segment_batch(table["text"].slice(begin, _AT_ONCE), compiled=compiled)
                if (pc.max(pc.list_value_length(sentences)).as_py() or 0) > 1:
                    return True
    return False
