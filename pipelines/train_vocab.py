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

from bertdata import commands, files, summary
from bertdata.beam.runner import Runner
from bertdata.beam.stages import (
    Done,
    create,
    find_documents,
    finished,
    forget_stale,
    read_documents,
    require_documents,
    stage_of,
)
from bertdata.config import CleaningConfig, DedupConfig, VocabularyConfig
from bertdata.documents import cut_ranges
from bertdata.flags import add_flags, from_flags
from bertdata.records import Record, remove_others
from bertdata.wordpiece import WordPieceTokenizer
from bertdata.wordpiece.parts import account_of, merge_tasks, plan_words, vocabulary_task

from .find_duplicates import drop_duplicates


def train_vocab(
    parts: Sequence[Done], stages: str, config: VocabularyConfig, runner: Runner
) -> tuple[WordPieceTokenizer, Record]:
    """Train a vocabulary from parts of documents; what leads there is kept below `stages`."""
    require_documents(parts)
    ranges = cut_ranges([(task.path, record) for task, record in parts])
    counting = plan_words(ranges, files.join(stages, "words"), config)

    def construct(pipeline: Any) -> None:
        from bertdata.beam.transforms import CountWords, TrainVocabulary

        _ = create(pipeline, counting) | CountWords(config) | TrainVocabulary(stages, config)

    pending = forget_stale(counting, runner.say)
    merging = merge_tasks([] if pending else finished(counting), stages)
    pending += forget_stale(merging, runner.say)
    training = vocabulary_task([] if pending else finished(merging), stages, config)
    if forget_stale([training], runner.say) or pending:
        files.remove(training.directory)
        titles = [stage_of("count words", counting), stage_of("train vocabulary", [*merging, training], unit="part")]
        runner.run(titles, construct, [stages, *(task.path for task, _ in parts)])
    merging = merge_tasks(finished(counting), stages)
    [(task, record)] = finished([vocabulary_task(finished(merging), stages, config)])
    for tasks in (counting, merging):
        remove_others(tasks[0].directory, tasks)
    return WordPieceTokenizer.load(task.path, do_lower_case=config.do_lower_case), record


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = commands.Parser(prog="bertdata train-vocab", description="Documents to a WordPiece vocabulary.")
    commands.add_documents(parser)
    commands.add_output(parser)
    add_flags(parser, VocabularyConfig)
    add_flags(parser, DedupConfig)
    flags = commands.parse(parser, arguments)
    config, dedup = from_flags(flags, VocabularyConfig), from_flags(flags, DedupConfig)
    runner = commands.runner(flags)
    documents = list(find_documents(flags.documents))
    with commands.claimed(flags, "vocabulary", "train-vocab", documents, config, dedup):
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
    commands.console(main)
