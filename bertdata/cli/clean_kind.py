"""What `bertdata clean-wikipedia` and `bertdata clean-books` share: the files of one kind to documents."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from bertdata.cli import command_line
from bertdata.corpus import summary
from bertdata.corpus.manifest import source_entry
from bertdata.corpus.programs import stages_of
from bertdata.corpus.warnings import of_encodings
from bertdata.engine.parts import delete_orphans
from bertdata.engine.stages import require_documents
from bertdata.io.console import table
from bertdata.options.flags import add_flags
from bertdata.options.request import Request, settings_from
from bertdata.sources.kinds import described, find_kind, settings_of
from bertdata.sources.names import KINDS
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.text_encodings import DOUBTFUL


def add_arguments(parser: argparse.ArgumentParser, kind: str, metavar: str) -> None:
    """Add the flags of the command that cleans files of a kind."""
    parser.add_argument("paths", nargs="+", metavar=metavar, help=f"{described(kind)}; a folder or a glob")
    command_line.add_output(parser)
    others = {name for other in KINDS for name in settings_of(other)} - {*settings_of(kind)}
    add_flags(parser, CleaningConfig, without=others)


def clean(request: Request, kind: str) -> int:
    """Clean the files of one kind into --output, and print what became of them."""
    config, paths = settings_from(request, CleaningConfig), find_kind(kind, request.paths)
    stages = stages_of(f"clean_{kind}", paths, request.output, config)
    clear = partial(delete_orphans, request.output, ())
    command = f"clean-{kind}"
    with command_line.stages_run(request, "documents", command, paths, stages, config, clear=clear) as build_state:
        documents = build_state.documents
    require_documents(documents)
    entry = source_entry([], [record for _, record in documents])
    for warning in of_encodings(kind, entry.get(DOUBTFUL, [])):
        print(f"warning: {warning['found']}; {warning['remedy']}", file=sys.stderr)
    if not request.quiet:
        print(table(summary.source_rows({kind: entry})))
    return 0
