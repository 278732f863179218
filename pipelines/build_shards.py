"""Documents and a vocabulary to shards.

    documents -> without duplicates -> token store -> shards

Run: python -m pipelines.build_shards --documents PATH... --vocab DIR --output DIR [--objective NAME] [-- RUNNER FLAGS]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields

from bertdata.cli import command_line
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.settings import DedupConfig
from bertdata.engine.run_stages import run_stages
from bertdata.inspect import summary
from bertdata.io import files
from bertdata.io.console import table
from bertdata.masking import MASK_UNITS
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.mixing import check_mix, parse_mix
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.flags import add_flags, each_from_flags, from_flags
from bertdata.sentences import SentenceSegmenter
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.corpus_warnings import warning_lines
from bertdata.shards.settings import ShardsConfig
from bertdata.shards.write_shards import CheckDocuments, WriteShards
from bertdata.sources.inputs import GivenDocuments, find_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from bertdata.tokenizers.loading import load_tokenizer


def load_segmenter(config: SentencesConfig) -> SentenceSegmenter:
    """Return the segmenter of a build; raises ConfigError, with what there is, for an unknown name."""
    return SentenceSegmenter.from_pretrained(config.sentences, attach_citations=config.attach_citations)


def refuse_unread(flags: argparse.Namespace) -> None:
    """Raise ConfigError for flags of rows, masks or duplicates that the others leave without effect."""
    unit, objective = flags.mask_unit, flags.objective
    for flag, registry, chosen in (("--mask-unit", MASK_UNITS, unit), ("--objective", OBJECTIVES, objective)):
        for name in registry:
            why = f"it is for {flag} {name}, not {chosen}"
            command_line.refuse_unread(flags, registry[name].settings, name == chosen, why)
    near = flags.dedup == "near"
    command_line.refuse_unread(flags, ["dedup_threshold"], near, f"it is for --dedup near, not {flags.dedup}")


def add_mix(parser: argparse.ArgumentParser) -> None:
    """Add --mix."""
    parser.add_argument(
        "--mix",
        nargs="+",
        action="extend",
        default=[],
        metavar="SOURCE=WEIGHT",
        help="the share of the text each source has in train, as wikipedia=3 books=1; what weighs more than it holds "
        "comes in more epochs, what weighs less in fewer (default: one epoch of each)",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = command_line.Parser(prog="bertdata build-shards", description="Documents and a vocabulary to shards.")
    command_line.add_documents(parser)
    parser.add_argument("--vocab", required=True, metavar="PATH", help=command_line.VOCABULARY)
    command_line.add_output(parser)
    kinds = (SentencesConfig, ShardsConfig, ExamplesConfig, MaskingConfig, DedupConfig)
    for kind in kinds:
        add_flags(parser, kind)
    add_flags(parser, CleaningConfig, without=[one.name for one in fields(CleaningConfig) if one.name != "filter"])
    add_mix(parser)
    flags = command_line.parse(parser, arguments)
    refuse_unread(flags)
    sharding, masking = from_flags(flags, ShardsConfig), from_flags(flags, MaskingConfig)
    phases, mix = each_from_flags(flags, ExamplesConfig), parse_mix(flags.mix)
    documents = find_documents(flags.documents)
    sources, given = GivenDocuments(documents), set(documents.values())
    known = sources.possible_names()
    check_mix({name: mix[name] for name in mix if "" not in given or name not in known}, known)
    runner = command_line.runner(flags)
    tokenizer = load_tokenizer(flags.vocab)
    segmenter = load_segmenter(from_flags(flags, SentencesConfig))
    stages, cleaning = files.join(flags.output, "stages"), from_flags(flags, CleaningConfig)
    with command_line.output_lock(flags, "build", "build-shards", list(documents), sharding, phases[0], masking):
        if flags.force:
            files.remove(stages)
        manifest = run_stages(
            [
                ReadSource("documents", documents, files.join(stages, "tables"), cleaning, flags.text_column),
                DropDuplicates(files.join(stages, "duplicates"), from_flags(flags, DedupConfig)),
                CheckDocuments(sources, phases[0].objective, segmenter),
                WriteShards(flags.output, sources, sharding, phases, masking, segmenter, tokenizer=tokenizer, mix=mix),
            ],
            runner,
        ).account
    print(table(summary.build_rows(manifest)))
    if lines := warning_lines(manifest):
        print("\n" + "\n".join(lines))
    return 0


if __name__ == "__main__":
    command_line.console(main)
