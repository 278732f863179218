"""Documents to a WordPiece vocabulary.

    ranges of documents -> CountWords -> word counts, one file for each range, its words grouped by partition
    references (partition, words) -> group by partition -> sums, one file for each partition
    sums, by reference, in one group -> TrainVocabulary -> vocab.txt

Run: python -m pipelines.train_vocab --documents PATH... --output DIR [--vocab-size 30000] [--dedup none|exact|near]
    [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bertdata.beam.runner import Runner
from bertdata.beam.stages import (
    PartResult,
    create,
    delete_stale,
    find_documents,
    finished,
    read_documents,
    require_documents,
    stage_of,
)
from bertdata.cli import command_line
from bertdata.curation.settings import DedupConfig
from bertdata.documents import cut_ranges
from bertdata.engine.parts import PartMetadata, delete_orphans
from bertdata.inspect import summary
from bertdata.io import files
from bertdata.options.flags import add_flags, from_flags
from bertdata.sources.settings import CleaningConfig
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.tokenizers.wordpiece.stage import account_of, merge_tasks, plan_words, vocabulary_task

from .find_duplicates import drop_duplicates


def train_vocab(
    parts: Sequence[PartResult], stages: str, config: VocabularyConfig, runner: Runner
) -> tuple[WordPieceTokenizer, PartMetadata]:
    """Train a vocabulary from parts of documents; what leads there is kept below `stages`."""
    require_documents(parts)
    ranges = cut_ranges([(task.path, record) for task, record in parts])
    counting = plan_words(ranges, files.join(stages, "words"), config)

    def construct(pipeline: Any) -> None:
        from bertdata.beam.transforms import CountWords, TrainVocabulary

        _ = create(pipeline, counting) | CountWords(config) | TrainVocabulary(stages, config)

    pending = delete_stale(counting, runner.say)
    merging = merge_tasks([] if pending else finished(counting), stages)
    pending += delete_stale(merging, runner.say)
    training = vocabulary_task([] if pending else finished(merging), stages, config)
    if delete_stale([training], runner.say) or pending:
        files.remove(training.directory)
        titles = [stage_of("count words", counting), stage_of("train vocabulary", [*merging, training], unit="part")]
        runner.run(titles, construct, [stages, *(task.path for task, _ in parts)])
    merging = merge_tasks(finished(counting), stages)
    [(task, record)] = finished([vocabulary_task(finished(merging), stages, config)])
    for tasks in (counting, merging):
        delete_orphans(tasks[0].directory, tasks)
    return WordPieceTokenizer.load(task.path, do_lower_case=config.do_lower_case), record


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = command_line.Parser(prog="bertdata train-vocab", description="Documents to a WordPiece vocabulary.")
    command_line.add_documents(parser)
    command_line.add_output(parser)
    add_flags(parser, VocabularyConfig)
    add_flags(parser, DedupConfig)
    flags = command_line.parse(parser, arguments)
    config, dedup = from_flags(flags, VocabularyConfig), from_flags(flags, DedupConfig)
    runner = command_line.runner(flags)
    documents = list(find_documents(flags.documents))
    with command_line.claimed(flags, "vocabulary", "train-vocab", documents, config, dedup):
        stages = files.join(flags.output, "stages")
        if flags.force:
            files.remove(stages)
        tables = files.join(stages, "tables")
        parts = read_documents(runner, documents, tables, CleaningConfig(), flags.text_column)
        parts = drop_duplicates(parts, files.join(stages, "duplicates"), dedup, runner)
        tokenizer, record = train_vocab(parts, stages, config, runner)
        tokenizer.save(flags.output)
    counts, vocabulary = record.counts, summary.vocabulary_text(account_of(record, config))
    words = f"{counts['words']:,} ({counts['distinct_words']:,} distinct)"
    print(summary.table([("words", words), ("vocabulary", vocabulary)]))
    return 0


if __name__ == "__main__":
    command_line.console(main)
