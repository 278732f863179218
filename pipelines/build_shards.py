"""Documents and a vocabulary to shards.

    documents -> without duplicates -> without repeated text -> token store -> shards

Run: python -m pipelines.build_shards --documents PATH... --vocab DIR --output DIR [--objective NAME] [-- RUNNER FLAGS]
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bertdata.cli import command_line
from bertdata.corpus.advice import Choices
from bertdata.corpus.count_tokens import write_stages
from bertdata.corpus.warning_lines import warning_lines, warnings_in
from bertdata.corpus.write_shards import CheckDocuments, WriteShards
from bertdata.curation.dedup.spans.stage import DropSpans
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.languages import SOURCE
from bertdata.curation.settings import DedupConfig, DedupSpansConfig
from bertdata.engine.stages import Stage
from bertdata.errors import naming_flags
from bertdata.inspect import summary
from bertdata.io import files, log
from bertdata.io.console import Row, table
from bertdata.options.flags import add_flags, from_flags
from bertdata.options.option import require
from bertdata.sentences.by_language import default_of, segmenter_of
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.settings import AccountsConfig, ShardsConfig
from bertdata.shards.similar_words import check_table
from bertdata.sources.inputs import GivenDocuments, find_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.tokenizers.roles import require_rows

from .from_documents import finished, make_parser, stages_folder
from .phases import (
    OF_A_PHASE,
    add_model_length,
    columns_of,
    conditions_of,
    phases_of,
    require_columns,
    require_model_length,
)

COMMAND = "build-shards"


def load_tokenizer_for(vocab: str, phases: Sequence[PhaseConfig]) -> Tokenizer:
    """Return the tokenizer of a build; raises ConfigError where masked rows cannot be made with it."""
    tokenizer, shortest = load_tokenizer(vocab), min(phase.examples.max_seq_length for phase in phases)
    require_rows(tokenizer, vocab, masked=True, max_seq_length=shortest)
    special, least = tokenizer.row_template.special(pair=False), min(phase.examples.least_drawn for phase in phases)
    require(
        least > special,
        f"--min-seq-length is {least}; expected over {special}, for this tokenizer puts {special} special tokens "
        "around a text",
    )
    if tokenizer.slow_because:
        print(f"{vocab}: encoded by the tokenizers package, 2 MB/s or so, as {tokenizer.slow_because}", file=sys.stderr)
    return tokenizer


def print_build(manifest: Mapping[str, Any], timings: Sequence[Row] = (), *, quiet: bool = False) -> None:
    """Print a summary of a build, and the warnings of its manifest; only these, to stderr, where it is to be quiet."""
    lines = warning_lines(manifest)
    for _, warning in warnings_in(manifest):
        log.event("warning", **{name: warning[name] for name in ("about", "found", "remedy")})
    if quiet and log.is_json():
        return
    if quiet:
        for line in lines:
            print(line, file=sys.stderr)
        return
    print(table([*summary.build_rows(manifest), *timings]))
    if lines:
        print("\n" + "\n".join(lines))


def command_parser() -> command_line.Parser:
    """Return the parser of the command."""
    settings = (SentencesConfig, ShardsConfig, *OF_A_PHASE.values(), DedupConfig, DedupSpansConfig, AccountsConfig)
    parser = make_parser(COMMAND, "Documents and a vocabulary to shards.", *settings)
    parser.add_argument("--vocab", required=True, metavar="PATH", help=command_line.VOCABULARY)
    add_model_length(parser)
    add_flags(parser, CleaningConfig, without={*vars(CleaningConfig())} - {"filter", "clean"})
    return parser


@naming_flags()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    flags = command_line.parse(command_parser(), arguments)
    command_line.read_streams(flags)
    phases, sharding = phases_of(flags), from_flags(flags, ShardsConfig)
    require_model_length(flags, phases)
    accounts = from_flags(flags, AccountsConfig)
    documents, columns = find_documents(flags.documents), columns_of(phases, accounts)
    sources = GivenDocuments(documents)
    for phase in phases:
        phase.check_sources(sources.possible_names(), complete="" not in documents.values())
        check_table(phase.masking)
    require_columns(columns, documents)
    sentences = from_flags(flags, SentencesConfig)
    segmenter = segmenter_of(sentences)
    tokenizer = load_tokenizer_for(flags.vocab, phases)
    choices = Choices(dedup=from_flags(flags, DedupConfig).dedup)
    stages: list[Stage] = [
        DropDuplicates(files.join(stages_folder(flags), "duplicates"), from_flags(flags, DedupConfig)),
        DropSpans(
            files.join(stages_folder(flags), "repeated"), from_flags(flags, DedupSpansConfig), default_of(segmenter)
        ),
        CheckDocuments(sources, [phase.examples.objective for phase in phases], segmenter),
        *write_stages(
            WriteShards(
                *(flags.output, sources, sharding, phases, segmenter),
                tokenizer=tokenizer,
                choices=choices,
                accounts=accounts,
            )
        ),
    ]
    cleaning = from_flags(flags, CleaningConfig)
    if sentences.goes_by_language:
        cleaning = replace(cleaning, language_model=SOURCE)
    decisive = (sharding, *(getattr(phases[0], group) for group in OF_A_PHASE))
    decisive += (accounts,) if accounts != AccountsConfig() else ()
    conditions = conditions_of(phases, sorted({*documents.values()}))
    with finished(
        *(flags, COMMAND, "build", documents, stages, *decisive),
        cleaning=cleaning,
        columns=columns,
        conditions=conditions,
        made=accounts.made,
    ) as done:
        manifest = done.account
    print_build(manifest, quiet=flags.quiet)
    return 0


if __name__ == "__main__":
    command_line.console(main)
