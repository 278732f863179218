"""Documents to Punkt sentence parameters.

    ranges of documents -> CountSentences -> counts, one file for each range
    counts, by reference, in one group -> TrainSentences -> four tables and a card

Run: python -m pipelines.train_sentences --documents PATH... --output DIR [--abbreviations FILE] [-- RUNNER FLAGS]

`scripts/english_abbreviations.txt` is the list that the English parameters which come with bertdata were given.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any, get_type_hints

from bertdata.beam.runner import Runner
from bertdata.beam.stages import (
    PartResult,
    create,
    delete_stale,
    find_documents,
    finished,
    read_documents,
    require_documents,
    stage_of,
)
from bertdata.cli import command_line
from bertdata.documents import cut_ranges
from bertdata.engine.parts import add_counts, delete_orphans
from bertdata.errors import InputError
from bertdata.inspect import summary
from bertdata.io import compression, files
from bertdata.options.flags import shown_default
from bertdata.sentences import PunktParameters, PunktSettings, save_parameters
from bertdata.sentences.stage import parameters_task, plan_counts, read_parameters
from bertdata.sources.settings import CleaningConfig


def train_sentences(
    parts: Sequence[PartResult], stages: str, settings: PunktSettings, runner: Runner
) -> tuple[PunktParameters, dict[str, int]]:
    """Train sentence parameters from parts of documents; what leads there is kept below `stages`."""
    require_documents(parts)
    ranges = cut_ranges([(task.path, record) for task, record in parts])
    counting = plan_counts(ranges, files.join(stages, "counts"))
    directory = files.join(stages, "parameters")

    def construct(pipeline: Any) -> None:
        from bertdata.beam.sentences import CountSentences, TrainSentences

        _ = create(pipeline, counting) | CountSentences() | TrainSentences(directory, settings)

    pending = delete_stale(counting, runner.say)
    trained = parameters_task([] if pending else finished(counting), directory, settings)
    if delete_stale([trained], runner.say) or pending:
        files.remove(directory)
        training = stage_of("train parameters", [parameters_task([], directory, settings)], unit="set")
        inputs = [stages, *(task.path for task, _ in parts)]
        runner.run([stage_of("count tokens", counting), training], construct, inputs)
    delete_orphans(counting[0].directory, counting)
    counted = finished(counting)
    [(task, record)] = finished([parameters_task(counted, directory, settings)])
    counts = record.counts | add_counts(one.counts for _, one in counted)
    given = dataclasses.asdict(settings) | {"abbreviations": sorted(settings.abbreviations)}
    card = {
        "algorithm": "Punkt (Kiss and Strunk 2006), counts as NLTK's PunktTrainer",
        "made_by": "pipelines/train_sentences.py",
        "settings": given,
        "given_abbreviations_not_learned": record.details["given_not_learned"],
        "counts": counts,
        "documents": [{"sha256": one.sha256, "documents": one.counts["documents"]} for _, one in parts],
    }
    return read_parameters(task.path, card), counts


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
    runner = command_line.runner(flags)
    documents = list(find_documents(flags.documents))
    with command_line.claimed(flags, "sentence parameters", "train-sentences", documents):
        stages = files.join(flags.output, "stages")
        if flags.force:
            files.remove(stages)
        tables = files.join(stages, "tables")
        parts = read_documents(runner, documents, tables, CleaningConfig(), flags.text_column)
        parameters, counts = train_sentences(parts, stages, settings, runner)
        save_parameters(parameters, flags.output)
    names = ["documents", "tokens", "abbrev_types", "collocations", "sent_starters", "ortho_context"]
    print(summary.table([(name.replace("_", " "), f"{counts[name]:,}") for name in names]))
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
