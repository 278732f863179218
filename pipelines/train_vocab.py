"""Documents to a vocabulary of WordPiece, BPE or Unigram.

    documents -> without duplicates -> word counts -> sums, one file for each partition of the words -> vocabulary

Run: python -m pipelines.train_vocab --documents PATH... --output DIR [--model wordpiece|bpe|unigram]
    [--vocab-size 30000] [--dedup none|exact|near] [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Sequence

from bertdata.cli import command_line
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.settings import DedupConfig
from bertdata.engine.stages import Stage
from bertdata.errors import naming_flags
from bertdata.inspect import summary
from bertdata.io import files
from bertdata.io.console import table
from bertdata.options.flags import from_flags
from bertdata.sources.inputs import GivenDocuments, find_documents
from bertdata.tokenizers.loading import replace_saved
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training.stage import TrainVocabulary, account_of, trained_tokenizer

from .from_documents import finished, make_parser, stages_folder

COMMAND = "train-vocab"


def command_parser() -> command_line.Parser:
    """Return the parser of the command."""
    return make_parser(
        COMMAND, "Documents to a vocabulary of WordPiece, BPE or Unigram.", VocabularyConfig, DedupConfig
    )


@naming_flags()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    flags = command_line.parse(command_parser(), arguments)
    command_line.read_streams(flags)
    config, dedup = from_flags(flags, VocabularyConfig), from_flags(flags, DedupConfig)
    folder = stages_folder(flags)
    documents = find_documents(flags.documents)
    stages: list[Stage] = [
        DropDuplicates(files.join(folder, "duplicates"), dedup),
        TrainVocabulary(folder, config, GivenDocuments(documents)),
    ]
    with finished(flags, COMMAND, "vocabulary", documents, stages, config, dedup) as done:
        assert done.vocabulary is not None
        task, record = done.vocabulary
        replace_saved(trained_tokenizer(task, config), flags.output)
    words = f"{record.counts['words']:,} ({record.counts['distinct_words']:,} distinct)"
    if not flags.quiet:
        print(table([("words", words), ("vocabulary", summary.vocabulary_text(account_of(record, config)))]))
    return 0


if __name__ == "__main__":
    command_line.console(main)
