"""`bertdata train-vocab`: documents to a vocabulary of WordPiece, BPE or Unigram."""

from __future__ import annotations

import argparse

from bertdata.cli.stage_flags import add_stage_flags, finished, stages_folder
from bertdata.corpus import summary
from bertdata.corpus.programs import stages_of
from bertdata.corpus.requests import read_streams
from bertdata.curation.settings import DedupConfig
from bertdata.io.console import table
from bertdata.options.request import Request, settings_from
from bertdata.sources.inputs import find_documents
from bertdata.tokenizers.loading import replace_saved
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training.stage import account_of, trained_tokenizer

COMMAND = "train-vocab"
DESCRIPTION = "Documents to a vocabulary of WordPiece, BPE or Unigram."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_stage_flags(parser, VocabularyConfig, DedupConfig)


def run(request: Request) -> int:
    """Train a vocabulary into --output."""
    read_streams(request)
    config, dedup = settings_from(request, VocabularyConfig), settings_from(request, DedupConfig)
    documents = find_documents(request.documents)
    stages = stages_of("train_vocab", stages_folder(request), documents, config, dedup)
    with finished(request, COMMAND, "vocabulary", documents, stages, config, dedup) as done:
        assert done.vocabulary is not None
        task, record = done.vocabulary
        replace_saved(trained_tokenizer(task, config), request.output)
    words = f"{record.counts['words']:,} ({record.counts['distinct_words']:,} distinct)"
    if not request.quiet:
        print(table([("words", words), ("vocabulary", summary.vocabulary_text(account_of(record, config)))]))
    return 0
