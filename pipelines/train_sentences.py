"""Documents to Punkt sentence parameters.

    documents -> counts of tokens, one file for each range -> four tables and a card

Run: python -m pipelines.train_sentences --documents PATH... --output DIR [--abbreviations FILE] [-- RUNNER FLAGS]

The English parameters that come with bertdata were trained with `scripts/english_abbreviations.txt`.
"""

from __future__ import annotations

from collections.abc import Sequence

from bertdata.cli import command_line
from bertdata.errors import InputError, naming_flags
from bertdata.io import compression
from bertdata.io.console import table
from bertdata.options.flags import add_flags, from_flags
from bertdata.sentences import PunktSettings
from bertdata.sentences.stage import TrainParameters
from bertdata.sources.inputs import find_documents

from .from_documents import finished, make_parser

COMMAND = "train-sentences"
_SHOWN = ("documents", "tokens", "abbrev_types", "collocations", "sent_starters", "ortho_context")


def read_abbreviations(path: str | None) -> frozenset[str]:
    """Return the abbreviations of a text file, one a line, lower-cased and without their final period."""
    if path is None:
        return frozenset()
    with compression.open_decompressed(path) as file:
        try:
            lines = file.read().decode("utf-8-sig").split("\n")
        except UnicodeDecodeError as error:
            raise InputError("is not UTF-8; save it as UTF-8", path=path, offset=error.start) from error
    return frozenset(word.lower().removesuffix(".") for line in lines if (word := line.strip()))


def command_parser() -> command_line.Parser:
    """Return the parser of the command."""
    parser = make_parser(COMMAND, "Documents to Punkt sentence parameters.")
    parser.add_argument("--abbreviations", metavar="FILE", help="abbreviations known from the start, one a line")
    add_flags(parser, PunktSettings, without=["abbreviations"])
    return parser


@naming_flags()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    flags = command_line.parse(command_parser(), arguments)
    command_line.read_streams(flags)
    flags.abbreviations = read_abbreviations(flags.abbreviations)
    stages = [TrainParameters(flags.output, from_flags(flags, PunktSettings))]
    with finished(flags, COMMAND, "sentence parameters", find_documents(flags.documents), stages) as done:
        counts = done.account["counts"]
    if not flags.quiet:
        print(table([(name.replace("_", " "), f"{counts[name]:,}") for name in _SHOWN]))
    return 0


if __name__ == "__main__":
    command_line.console(main)
