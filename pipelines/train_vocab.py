"""Documents to a WordPiece vocabulary.

    documents -> without duplicates -> word counts -> sums, one file for each partition of the words -> vocab.txt

Run: python -m pipelines.train_vocab --documents PATH... --output DIR [--vocab-size 30000] [--dedup none|exact|near]
    [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Sequence

from bertdata.cli import command_line
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.settings import DedupConfig
from bertdata.engine.run_stages import run_stages
from bertdata.inspect import summary
from bertdata.io import files
from bertdata.io.console import table
from bertdata.options.flags import add_flags, from_flags
from bertdata.sources.inputs import find_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.wordpiece.stage import TrainVocabulary, account_of, trained_tokenizer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = command_line.Parser(prog="bertdata train-vocab", description="Documents to a WordPiece vocabulary.")
    command_line.add_documents(parser)
    command_line.add_output(parser)
    add_flags(parser, VocabularyConfig)
    add_flags(parser, DedupConfig)
    flags = command_line.parse(parser, arguments)
    config, dedup = from_flags(flags, VocabularyConfig), from_flags(flags, DedupConfig)
    documents = find_documents(flags.documents)
    stages = files.join(flags.output, "stages")
    with command_line.output_lock(flags, "vocabulary", "train-vocab", list(documents), config, dedup):
        if flags.force:
            files.remove(stages)
        trained = run_stages(
            [
                ReadSource("documents", documents, files.join(stages, "tables"), CleaningConfig(), flags.text_column),
                DropDuplicates(files.join(stages, "duplicates"), dedup),
                TrainVocabulary(stages, config),
            ],
            command_line.runner(flags),
        ).vocabulary
        assert trained is not None
        task, record = trained
        trained_tokenizer(task, config).save_pretrained(flags.output)
    counts, vocabulary = record.counts, summary.vocabulary_text(account_of(record, config))
    words = f"{counts['words']:,} ({counts['distinct_words']:,} distinct)"
    print(table([("words", words), ("vocabulary", vocabulary)]))
    return 0


if __name__ == "__main__":
    command_line.console(main)
