"""Documents in, a vocabulary out: words are counted in ranges and partitions, and a model is trained from the counts.

A model (`models.py`) says how words are cut and counted, how a vocabulary is trained from the counts, and how that is
kept.
"""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry

VOCABULARY_MODELS: Registry[Any] = Registry(
    "vocabulary model",
    {
        "wordpiece": "bertdata.tokenizers.wordpiece.train.vocabulary_model:WORDPIECE",
        "bpe": "bertdata.tokenizers.bpe.vocabulary_model:BPE",
        "unigram": "bertdata.tokenizers.unigram.vocabulary_model:UNIGRAM",
    },
)
"""What `--vocab-model` names, each a `models.VocabularyModel`."""
