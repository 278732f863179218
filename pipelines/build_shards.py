"""Documents and a vocabulary to shards.

    documents -> without duplicates -> without repeated text -> token store -> shards

Run: bertdata build-shards, or python -m pipelines.build_shards --documents PATH... --vocab DIR --output DIR
    [--objective NAME] [-- RUNNER FLAGS]
"""

from __future__ import annotations

from bertdata.corpus.count_tokens import write_stages
from bertdata.corpus.write_shards import CheckDocuments, WriteShards
from bertdata.curation.dedup.spans.stage import DropSpans
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.settings import DedupConfig, DedupSpansConfig
from bertdata.engine.stages import Stage
from bertdata.io import files
from bertdata.sentences.by_language import default_of


def stages(folder: str, write: WriteShards, dedup: DedupConfig, dedup_spans: DedupSpansConfig) -> list[Stage]:
    """Return the stages after the documents were read; those before `write` write in `folder`."""
    return [
        DropDuplicates(files.join(folder, "duplicates"), dedup),
        DropSpans(files.join(folder, "repeated"), dedup_spans, default_of(write.segmenter)),
        CheckDocuments(write.sources, [phase.examples.objective for phase in write.phases], write.segmenter),
        *write_stages(write),
    ]


if __name__ == "__main__":
    from bertdata.__main__ import main

    main("build-shards")
