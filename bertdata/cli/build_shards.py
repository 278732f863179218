"""`bertdata build-shards`: documents and a vocabulary to shards."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial

from bertdata.cli import command_line
from bertdata.cli.build_flags import add_model_length
from bertdata.cli.shown_build import print_build
from bertdata.cli.stage_flags import add_stage_flags, finished, stages_folder
from bertdata.corpus.advice import Choices
from bertdata.corpus.build_tokenizer import load_tokenizer_for
from bertdata.corpus.column_checks import check_first_values
from bertdata.corpus.phase_requests import phases_of, require_model_length
from bertdata.corpus.programs import stages_of
from bertdata.corpus.requests import read_streams
from bertdata.corpus.settings import OF_A_PHASE, columns_of, conditions_of, require_columns
from bertdata.corpus.write_shards import WriteShards
from bertdata.curation.languages import SOURCE
from bertdata.curation.settings import AccountsConfig, DedupConfig, DedupSpansConfig
from bertdata.options.flags import add_flags
from bertdata.options.request import Request, settings_from
from bertdata.sentences.by_language import segmenter_of
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.settings import ShardsConfig
from bertdata.shards.similar_words import check_table
from bertdata.sources.inputs import GivenDocuments, find_documents
from bertdata.sources.settings import CleaningConfig

COMMAND = "build-shards"
DESCRIPTION = "Documents and a vocabulary to shards."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    settings = (SentencesConfig, ShardsConfig, *OF_A_PHASE.values(), DedupConfig, DedupSpansConfig, AccountsConfig)
    add_stage_flags(parser, *settings, languages=True)
    parser.add_argument("--vocab", required=True, metavar="PATH", help=command_line.VOCABULARY)
    add_model_length(parser)
    add_flags(parser, CleaningConfig, without={*vars(CleaningConfig())} - {"filter", "clean"})


def run(request: Request) -> int:
    """Build shards in --output."""
    read_streams(request)
    phases, sharding = phases_of(request), settings_from(request, ShardsConfig)
    require_model_length(request, phases)
    accounts = settings_from(request, AccountsConfig)
    documents, columns = find_documents(request.documents), columns_of(phases, accounts)
    sources = GivenDocuments(documents)
    for phase in phases:
        phase.check_sources(sources.possible_names(), complete="" not in documents.values())
        check_table(phase.masking)
    require_columns(columns, documents)
    sentences, dedup = settings_from(request, SentencesConfig), settings_from(request, DedupConfig)
    write = WriteShards(
        *(request.output, sources, sharding, phases, segmenter_of(sentences)),
        tokenizer=load_tokenizer_for(request.vocab, phases),
        choices=Choices(dedup=dedup.dedup, cleans=False),
        accounts=accounts,
    )
    folder, spans = stages_folder(request), settings_from(request, DedupSpansConfig)
    stages = stages_of("build_shards", folder, write, dedup, spans)
    cleaning = settings_from(request, CleaningConfig)
    if sentences.goes_by_language:
        cleaning = replace(cleaning, language_model=SOURCE)
    decisive = (sharding, *(getattr(phases[0], group) for group in OF_A_PHASE))
    decisive += (accounts,) if accounts != AccountsConfig() else ()
    with finished(
        *(request, COMMAND, "build", documents, stages, *decisive),
        cleaning=cleaning,
        columns=columns,
        conditions=conditions_of(phases, sorted({*documents.values()})),
        made=accounts.made,
        check=partial(check_first_values, phases, accounts),
    ) as done:
        manifest = done.account
    print_build(manifest, quiet=request.quiet)
    return 0
