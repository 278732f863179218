"""Documents in parts, put through the stage in this process; and what is left of them, found the plain way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bertdata.curation.dedup.spans.folded import fold_plainly
from bertdata.curation.dedup.spans.repeats import rank_of
from bertdata.curation.dedup.spans.stage import DropSpans
from bertdata.curation.dedup.spans.store import units_of, units_of_a_span
from bertdata.curation.dedup.spans.text_units import text_without
from bertdata.curation.settings import DedupSpansConfig
from bertdata.engine.stages import BuildState
from bertdata.sentences import SentenceSegmenter
from tests.curation import stages
from tests.curation.stages import Document, parts_of, texts_in

SEGMENTER = SentenceSegmenter.from_pretrained()


def all_left(kind: str, **changes: int) -> DedupSpansConfig:
    """Return settings by which spans of any length are left out and no document is dropped for its length."""
    every = {"dedup_spans_min_words": 1, "dedup_spans_words_left": 0, "dedup_spans_sentences_left": 0}
    return DedupSpansConfig(kind, **every | changes)


def run_stage(folder: Path, build_state: BuildState, config: DedupSpansConfig) -> BuildState:
    """Run the stage, each of its tasks in turn."""
    return stages.run_stage(DropSpans(str(folder / "repeated"), config, SEGMENTER), build_state)


def left(folder: Path, parts: Sequence[Sequence[Document]], config: DedupSpansConfig) -> list[Document]:
    """Return what is left of documents in parts."""
    return texts_in(run_stage(folder, parts_of(folder, parts), config))


def left_plainly(documents: Sequence[Document], config: DedupSpansConfig) -> list[Document]:
    """Return what is left of documents, by one dictionary of all spans; without rules for short documents."""
    n = units_of_a_span(config)
    seen: dict[str, tuple[int, int]] = {}
    out: dict[int, set[int]] = {}
    order = sorted(range(len(documents)), key=lambda row: rank_of(documents[row][0], documents[row][1].encode()))
    units = [units_of(pa.array([text], pa.string()), config, SEGMENTER) for _, text in documents]
    for row in order:
        folded = fold_plainly(units[row])
        for place in range(len(folded) - n + 1):
            words = " ".join(" ".join(folded[place : place + n]).split())
            if len(words.split()) < config.dedup_spans_min_words:
                continue
            if seen.setdefault(words, (row, place)) != (row, place):
                out.setdefault(row, set()).update(range(place, place + n))
    result = []
    for row, (name, text) in enumerate(documents):
        if row in out:
            chosen = np.isin(np.arange(int(units[row].borders[1])), sorted(out[row]))
            if not (text := text_without(units[row], 0, chosen)):
                continue
        result.append((name, text))
    return result


def read(path: Path) -> list[Document]:
    """Return the documents of a Parquet file."""
    return [(row["id"], row["text"]) for row in pq.read_table(path).to_pylist()]
