"""`bertdata train-sentences`: documents to Punkt sentence parameters."""

from __future__ import annotations

import argparse

from bertdata.cli.stage_flags import add_stage_flags, finished
from bertdata.corpus.programs import stages_of
from bertdata.corpus.requests import read_streams
from bertdata.errors import InputError
from bertdata.io import compression
from bertdata.io.console import table
from bertdata.options.flags import add_flags
from bertdata.options.request import Request, settings_from
from bertdata.sentences import PunktSettings
from bertdata.sources.inputs import find_documents

COMMAND = "train-sentences"
DESCRIPTION = "Documents to Punkt sentence parameters."
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_stage_flags(parser)
    parser.add_argument("--abbreviations", metavar="FILE", help="abbreviations known from the start, one a line")
    add_flags(parser, PunktSettings, without=["abbreviations"])


def run(request: Request) -> int:
    """Train parameters into --output."""
    read_streams(request)
    request.abbreviations = read_abbreviations(request.abbreviations)
    stages = stages_of("train_sentences", request.output, settings_from(request, PunktSettings))
    documents = find_documents(request.documents)
    with finished(request, COMMAND, "sentence parameters", documents, stages) as done:
        counts = done.account["counts"]
    if not request.quiet:
        print(table([(name.replace("_", " "), f"{counts[name]:,}") for name in _SHOWN]))
    return 0
