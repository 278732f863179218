"""Documents and a vocabulary to shards.

    ranges of documents -> Tokenize -> token store, one file for each range, its rows grouped by shard
    references (shard, slice) -> group by shard -> WriteShards -> one file for each shard

Run: python -m pipelines.build_shards --documents PATH... --vocab DIR --output DIR [--objective NAME] [-- RUNNER FLAGS]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from bertdata import commands, files, summary
from bertdata.beam.runner import Runner
from bertdata.beam.stages import Done, create, finished, forget_stale, read_documents, require_documents, stage_of
from bertdata.config import CleaningConfig, ExamplesConfig, MaskingConfig, ShardsConfig, add_flags, from_flags
from bertdata.documents import cut_ranges
from bertdata.errors import ConfigError
from bertdata.output import claimed
from bertdata.records import remove_others
from bertdata.sentences import SentenceSegmenter
from bertdata.shards.manifest import build_manifest, source_entry, write_dataset_files
from bertdata.shards.parts import ShardsSpec, TokensSpec, plan_tokens, shard_tasks
from bertdata.shards.plan import plan_shards
from bertdata.shards.schema import SPLITS, shard_info
from bertdata.wordpiece import WordPieceTokenizer


def build_shards(
    parts: Sequence[Done],
    tokenizer: WordPieceTokenizer,
    output: str,
    configs: tuple[ShardsConfig, ExamplesConfig, MaskingConfig],
    runner: Runner,
    *,
    sources: dict[str, Any],
    vocabulary: dict[str, Any],
) -> dict[str, Any]:
    """Build the shards of parts of documents in `output`; returns the manifest, written last."""
    require_documents(parts)
    dealing, examples, masking = configs
    files.remove(files.join(output, "manifest.json"))
    tokenizer_path = files.join(output, "tokenizer")
    tokenizer.save(tokenizer_path)
    plan = plan_shards([record for _, record in parts], dealing, pairs=examples.objective == "nsp")
    for note in plan.notes:
        runner.say(note)
    segmenter = SentenceSegmenter.load("english")
    tokens = TokensSpec(tokenizer_path, tokenizer.fingerprint, "english", segmenter.fingerprint, plan.ends)
    info = shard_info(tokenizer, examples, masking)
    shards = ShardsSpec(output, plan, info, tokenizer_path)
    store = files.join(output, "stages", "tokens")
    tokenizing = plan_tokens(cut_ranges([(task.path, record) for task, record in parts]), store, tokens)

    def construct(pipeline: Any) -> None:
        from bertdata.beam.transforms import Tokenize, WriteShards

        _ = create(pipeline, tokenizing) | Tokenize(tokens) | WriteShards(shards)

    pending = forget_stale(tokenizing)
    expected = shard_tasks(shards, [] if pending else finished(tokenizing))
    if forget_stale(expected) or pending:
        stages = [stage_of("tokenize", tokenizing), stage_of("write shards", expected, unit="shard")]
        runner.run(stages, construct, [output])
    remove_others(store, tokenizing)
    tokenized = finished(tokenizing)
    written = finished(shard_tasks(shards, tokenized))
    for split in SPLITS:
        tasks = [task for number, (task, _) in enumerate(written) if plan.split(number) == split]
        for folder in (files.join(output, split), files.join(output, "stages", "shards", split)):
            if tasks:
                remove_others(folder, tasks)
            else:
                files.remove(folder)
    records = [record for _, record in tokenized], [record for _, record in written]
    if not any(record.counts["examples"] for record in records[1][plan.validation :]):
        raise ConfigError(
            f"the documents give no example to train on: for --objective {examples.objective} there are too few with "
            "tokens of this vocabulary; add documents, or choose another objective"
        )
    manifest = build_manifest(sources, vocabulary, records[0], plan, info, records[1])
    write_dataset_files(output, manifest, info)
    return manifest


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="bertdata build-shards", description="Documents and a vocabulary to shards.")
    commands.add_documents(parser)
    parser.add_argument("--vocab", required=True, metavar="PATH", help="a folder, a vocab.txt or a tokenizer.json")
    commands.add_output(parser)
    kinds = (ShardsConfig, ExamplesConfig, MaskingConfig)
    for kind in kinds:
        add_flags(parser, kind)
    flags = commands.parse(parser, arguments)
    configs = from_flags(flags, ShardsConfig), from_flags(flags, ExamplesConfig), from_flags(flags, MaskingConfig)
    runner = commands.runner(flags)
    tokenizer = WordPieceTokenizer.load(flags.vocab)
    with claimed(flags.output, "build"):
        tables = files.join(flags.output, "stages", "tables")
        parts = read_documents(runner, flags.documents, tables, CleaningConfig(), flags.text_column)
        sources = {"documents": source_entry([], [record for _, record in parts])}
        vocabulary = {"pieces": tokenizer.vocab_size}
        manifest = build_shards(parts, tokenizer, flags.output, configs, runner, sources=sources, vocabulary=vocabulary)
    print(summary.table(summary.build_rows(manifest)))
    return 0


if __name__ == "__main__":
    sys.exit(commands.run(main))
