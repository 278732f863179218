"""Documents to a vocabulary of WordPiece, BPE or Unigram.

    documents -> without duplicates -> word counts -> sums, one file for each partition of the words -> vocabulary

Run: bertdata train-vocab, or python -m pipelines.train_vocab --documents PATH... --output DIR
    [--model wordpiece|bpe|unigram] [--vocab-size 30000] [--dedup none|exact|near] [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Mapping

from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.settings import DedupConfig
from bertdata.engine.stages import Stage
from bertdata.io import files
from bertdata.sources.inputs import GivenDocuments
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training.stage import TrainVocabulary


def stages(folder: str, documents: Mapping[str, str], vocabulary: VocabularyConfig, dedup: DedupConfig) -> list[Stage]:
    """Return the stages after the documents were read; they write in `folder`."""
    return [
        DropDuplicates(files.join(folder, "duplicates"), dedup),
        TrainVocabulary(folder, vocabulary, GivenDocuments(documents)),
    ]


if __name__ == "__main__":
    from bertdata.__main__ import main

    main("train-vocab")
