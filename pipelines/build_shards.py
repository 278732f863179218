"""Documents and a vocabulary to shards.

    documents -> without duplicates -> token store -> shards

Run: python -m pipelines.build_shards --documents PATH... --vocab DIR --output DIR [--objective NAME] [-- RUNNER FLAGS]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.cli import command_line
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.settings import DedupConfig
from bertdata.engine.stages import Stage
from bertdata.inspect import summary
from bertdata.io import files
from bertdata.io.console import Row, table
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
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.tokenizers.roles import require_rows

from .from_documents import finished, make_parser, stages_folder

COMMAND = "build-shards"


def load_segmenter(config: SentencesConfig) -> SentenceSegmenter:
    """Return the segmenter of a build; raises ConfigError, with the known names, for an unknown one."""
    return SentenceSegmenter.from_pretrained(config.sentences, attach_citations=config.attach_citations)


def load_tokenizer_for(vocab: str, phases: Sequence[ExamplesConfig]) -> Tokenizer:
    """Return the tokenizer of a build; raises ConfigError where masked rows cannot be made with it."""
    tokenizer = load_tokenizer(vocab)
    require_rows(tokenizer, vocab, masked=True, max_seq_length=min(phase.max_seq_length for phase in phases))
    if tokenizer.slow_because:
        print(f"{vocab}: encoded by the tokenizers package, 2 MB/s or so, as {tokenizer.slow_because}", file=sys.stderr)
    return tokenizer


def refuse_unread(flags: argparse.Namespace) -> None:
    """Raise ConfigError for flags of rows, masks or duplicates that have no effect with the others."""
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
        help="the share of each source in the text of train, as wikipedia=3 books=1; a source with a larger share than "
        "in the corpus gets more epochs, with a smaller one fewer (default: one epoch of each)",
    )


def print_build(manifest: Mapping[str, Any], timings: Sequence[Row] = ()) -> None:
    """Print a summary of a build, and the warnings of its manifest."""
    print(table([*summary.build_rows(manifest), *timings]))
    if lines := warning_lines(manifest):
        print("\n" + "\n".join(lines))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    settings = (SentencesConfig, ShardsConfig, ExamplesConfig, MaskingConfig, DedupConfig)
    parser = make_parser(COMMAND, "Documents and a vocabulary to shards.", *settings)
    parser.add_argument("--vocab", required=True, metavar="PATH", help=command_line.VOCABULARY)
    add_flags(parser, CleaningConfig, without={*vars(CleaningConfig())} - {"filter"})
    add_mix(parser)
    flags = command_line.parse(parser, arguments)
    refuse_unread(flags)
    sharding, masking = from_flags(flags, ShardsConfig), from_flags(flags, MaskingConfig)
    phases, mix = each_from_flags(flags, ExamplesConfig), parse_mix(flags.mix)
    documents = find_documents(flags.documents)
    sources, given = GivenDocuments(documents), set(documents.values())
    known = sources.possible_names()
    check_mix({name: mix[name] for name in mix if "" not in given or name not in known}, known)
    segmenter = load_segmenter(from_flags(flags, SentencesConfig))
    tokenizer = load_tokenizer_for(flags.vocab, phases)
    stages: list[Stage] = [
        DropDuplicates(files.join(stages_folder(flags), "duplicates"), from_flags(flags, DedupConfig)),
        CheckDocuments(sources, phases[0].objective, segmenter),
        WriteShards(flags.output, sources, sharding, phases, masking, segmenter, tokenizer=tokenizer, mix=mix),
    ]
    cleaning = from_flags(flags, CleaningConfig)
    decisive = (sharding, phases[0], masking)
    with finished(flags, COMMAND, "build", documents, stages, *decisive, cleaning=cleaning) as done:
        manifest = done.account
    print_build(manifest)
    return 0


if __name__ == "__main__":
    command_line.console(main)
