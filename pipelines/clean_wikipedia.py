"""Wikipedia dumps to documents.

    ranges of dumps -> one part of documents for each range

Run: python -m pipelines.clean_wikipedia DUMP... --output DIR [--workers N] [-- RUNNER FLAGS]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from bertdata.cli import command_line
from bertdata.corpus.manifest import source_entry
from bertdata.corpus.warnings import of_encodings
from bertdata.engine.parts import delete_orphans
from bertdata.engine.stages import require_documents
from bertdata.errors import naming_flags
from bertdata.inspect import summary
from bertdata.io.console import table
from bertdata.options.flags import add_flags, from_flags
from bertdata.sources.formats import described, find_kind, settings_of
from bertdata.sources.names import KINDS
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from bertdata.sources.text_encodings import DOUBTFUL


def parser_of(kind: str, metavar: str, description: str) -> command_line.Parser:
    """Return the parser of the command that cleans files of a kind."""
    parser = command_line.Parser(prog=f"bertdata clean-{kind}", description=description)
    parser.add_argument("paths", nargs="+", metavar=metavar, help=f"{described(kind)}; a folder or a glob")
    command_line.add_output(parser)
    add_flags(
        parser, CleaningConfig, without={name for other in KINDS for name in settings_of(other)} - {*settings_of(kind)}
    )
    return parser


def clean(kind: str, parser: command_line.Parser, arguments: Sequence[str] | None) -> int:
    """Clean the files of one kind into --output, and print what became of them."""
    command, flags = f"clean-{kind}", command_line.parse(parser, arguments)
    config, paths = from_flags(flags, CleaningConfig), find_kind(kind, flags.paths)
    stage = ReadSource(kind, dict.fromkeys(paths, kind), flags.output, config)
    clear = partial(delete_orphans, flags.output, ())
    with command_line.stages_run(flags, "documents", command, paths, [stage], config, clear=clear) as standing:
        documents = standing.documents
    require_documents(documents)
    entry = source_entry([], [record for _, record in documents])
    for warning in of_encodings(kind, entry.get(DOUBTFUL, [])):
        print(f"warning: {warning['found']}; {warning['remedy']}", file=sys.stderr)
    if not flags.quiet:
        print(table(summary.source_rows({kind: entry})))
    return 0


def command_parser() -> command_line.Parser:
    """Return the parser of the command."""
    return parser_of("wikipedia", "DUMP", "Wikipedia dumps to documents.")


@naming_flags()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    return clean("wikipedia", command_parser(), arguments)


if __name__ == "__main__":
    command_line.console(main)
