"""Documents to Punkt sentence parameters.

    documents -> counts of tokens, one file for each range -> four tables and a card

Run: python -m pipelines.train_sentences --documents PATH... --output DIR [--abbreviations FILE] [-- RUNNER FLAGS]

`scripts/english_abbreviations.txt` is the list that the English parameters which come with bertdata were given.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import get_type_hints

from bertdata.cli import command_line
from bertdata.engine.run_stages import run_stages
from bertdata.errors import InputError
from bertdata.io import compression, files
from bertdata.io.console import table
from bertdata.options.flags import shown_default
from bertdata.sentences import PunktSettings
from bertdata.sentences.stage import TrainParameters
from bertdata.sources.inputs import find_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = command_line.Parser(prog="bertdata train-sentences", description="Documents to Punkt sentence parameters.")
    command_line.add_documents(parser)
    command_line.add_output(parser)
    _add_settings(parser)
    flags = command_line.parse(parser, arguments)
    names = [one.name for one in dataclasses.fields(PunktSettings)]
    given = {name: getattr(flags, name) for name in names} | {"abbreviations": read_abbreviations(flags.abbreviations)}
    settings = PunktSettings(**given)
    documents = find_documents(flags.documents)
    stages = files.join(flags.output, "stages")
    with command_line.output_lock(flags, "sentence parameters", "train-sentences", list(documents)):
        if flags.force:
            files.remove(stages)
        counts = run_stages(
            [
                ReadSource("documents", documents, files.join(stages, "tables"), CleaningConfig(), flags.text_column),
                TrainParameters(flags.output, settings),
            ],
            command_line.runner(flags),
        ).account["counts"]
    names = ["documents", "tokens", "abbrev_types", "collocations", "sent_starters", "ortho_context"]
    print(table([(name.replace("_", " "), f"{counts[name]:,}") for name in names]))
    return 0


def _add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("How counts become parameters; the defaults give what NLTK's trainer gives")
    group.add_argument("--abbreviations", metavar="FILE", help="abbreviations known from the start, one a line")
    hints = get_type_hints(PunktSettings)
    for one in dataclasses.fields(PunktSettings):
        if one.name == "abbreviations":
            continue
        flag, shown = "--" + one.name.replace("_", "-"), one.metadata["help"] + shown_default(one.default)
        if hints[one.name] is bool:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, default=one.default, help=shown)
        else:
            group.add_argument(flag, type=hints[one.name], default=one.default, help=shown)


if __name__ == "__main__":
    command_line.console(main)
