"""Everything in a row: dumps, books and other documents to a vocabulary and shards.

    dumps, books, other documents -> documents -> without duplicates -> vocabulary -> shards

Run: bertdata build, or python -m pipelines.build_corpus [--wikipedia [NAME=]DUMP ...] [--books [NAME=]PATH ...]
    [--documents [NAME=]PATH ...] --output DIR [--dedup none|exact|near] [--vocab DIR | --vocab-size N]
    [--mix NAME=WEIGHT ...] [--dry-run] [--force] [-- RUNNER FLAGS]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from bertdata import __version__
from bertdata.beam.runner import Runner
from bertdata.cli import command_line
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.filters import FILTERS
from bertdata.curation.settings import DedupConfig
from bertdata.engine.origin import Origin, read_origin
from bertdata.engine.output_lock import MARKER, output_lock, refuse_own
from bertdata.engine.parts import fingerprint
from bertdata.engine.run_stages import run_stages
from bertdata.engine.stages import Stage
from bertdata.errors import ConfigError, InputError
from bertdata.inspect import summary
from bertdata.io import files
from bertdata.io.console import Row, table
from bertdata.masking import MASK_UNITS
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.mixing import check_mix, parse_mix
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.flags import add_flags, each_from_flags, from_flags
from bertdata.options.option import stored_values
from bertdata.registry import Registry
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.sentences import SentenceSegmenter
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.corpus_warnings import warning_lines
from bertdata.shards.finished import finished_manifest, mark_finished
from bertdata.shards.lengths import plan_phases
from bertdata.shards.settings import ShardsConfig
from bertdata.shards.write_shards import CheckDocuments, WriteShards
from bertdata.sources.formats import SOURCE_FORMATS, format_of, settings_of
from bertdata.sources.inputs import Inputs, Sources
from bertdata.sources.names import KINDS
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import FOLDERS, ReadSource
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.wordpiece.stage import TrainVocabulary

from .build_shards import add_mix, load_segmenter, refuse_unread
from .dry_run import end_rows, source_rows, stage_rows

COMMAND = "build"
SAMPLE = Sources((SAMPLE_DUMP,), (SAMPLE_BOOKS,))
"""The corpus that comes with the package."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides the bytes of a build, beside its sources."""

    cleaning: CleaningConfig
    vocabulary: VocabularyConfig
    sharding: ShardsConfig
    examples: ExamplesConfig
    masking: MaskingConfig
    vocab: str | None = None
    dedup: DedupConfig = field(default_factory=DedupConfig)
    lengths: tuple[int, ...] = ()
    sentences: SentencesConfig = field(default_factory=SentencesConfig)
    mix: tuple[tuple[str, float], ...] = ()

    def phases(self) -> list[ExamplesConfig]:
        """Return the settings of the examples for each of the lengths, or those of the one there is."""
        return [replace(self.examples, max_seq_length=one) for one in self.lengths] or [self.examples]


class Build:
    """A build of sources in an output: its stages, and what it is known by.

    Raises InputError where a path matches nothing, and ConfigError where the settings do not suit the sources.
    """

    def __init__(self, sources: Sources, output: str, settings: Settings) -> None:
        self.inputs, self.output = sources.inputs(), output
        check_mix(dict(settings.mix), self.inputs.names())
        refuse_own(output, self.inputs.paths())
        tokenizer = load_tokenizer(settings.vocab) if settings.vocab else None
        segmenter = load_segmenter(settings.sentences)
        vocab = tokenizer.fingerprint if tokenizer else None
        self.stages = stages_of(self.inputs, sources.text_column, output, settings, tokenizer, segmenter)
        self.fingerprint = _fingerprint(self.inputs, sources, settings, vocab, segmenter)
        told = stored_values(settings) | {"vocab": f"{settings.vocab} ({vocab[:8]})" if vocab else None}
        self.origin = Origin.of(COMMAND, self.inputs.paths(), sources.given(), told, sample=sources == SAMPLE)


def stages_of(
    inputs: Inputs,
    text_column: str,
    output: str,
    settings: Settings,
    tokenizer: Tokenizer | None,
    segmenter: SentenceSegmenter,
) -> list[Stage]:
    """Return the stages of a build: what flows from where to where."""
    stages = files.join(output, "stages")
    read = [
        ReadSource(kind, inputs.by_kind[kind], files.join(stages, folder), settings.cleaning, text_column)
        for kind, folder in FOLDERS.items()
    ]
    return [
        *read,
        DropDuplicates(files.join(stages, "duplicates"), settings.dedup),
        CheckDocuments(inputs, settings.examples.objective, segmenter),
        *([] if tokenizer else [TrainVocabulary(stages, settings.vocabulary)]),
        WriteShards(
            output,
            inputs,
            settings.sharding,
            settings.phases(),
            settings.masking,
            segmenter,
            settings.vocabulary,
            tokenizer,
            dict(settings.mix),
        ),
    ]


def build_corpus(
    sources: Sources, output: str, settings: Settings, runner: Runner, *, force: bool = False
) -> tuple[dict[str, Any], bool]:
    """Build shards from sources in `output`; returns the manifest and whether there was anything to do."""
    build = Build(sources, output, settings)
    runner.check([output, *build.inputs.paths()])
    with output_lock(output, "build", build.origin, force=force) as replaced:
        if force:
            files.remove(files.join(output, "stages"))
        elif finished := finished_manifest(output, build.fingerprint, runner.say):
            return finished, False
        for line in replaced:
            runner.say(line)
        manifest = run_stages(build.stages, runner).account
        mark_finished(output, build.fingerprint)
    return manifest, True


def dry_run(sources: Sources, output: str, settings: Settings, runner: Runner, *, force: bool = False) -> str:
    """Return what a build would do, without doing it."""
    build = Build(sources, output, settings)
    rows = list(source_rows(build.inputs))
    if not force and finished_manifest(output, build.fingerprint):
        return table([*rows, ("nothing to do", f"{output} is finished, from these sources and settings")])
    rows += stage_rows(build.stages, force=force)
    rows += _setting_rows(settings)
    return table([*rows, *end_rows(output, build.origin, runner, force=force)])


def _setting_rows(settings: Settings) -> list[Row]:
    examples, vocabulary = settings.examples, settings.vocabulary
    trained = f"trained, {vocabulary.vocab_size:,} pieces by {vocabulary.criterion}"
    lengths = " and ".join(str(one.max_seq_length) for one in settings.phases())
    rows = [
        ("vocabulary", settings.vocab or trained),
        ("sentences", f"Punkt, {settings.sentences.sentences}"),
        (
            "examples",
            f"{examples.objective}, {examples.masking} masking, {lengths} tokens, "
            f"dupe factor {examples.dupe_factor}, seed {examples.seed}",
        ),
    ]
    if settings.mix:
        rows.append(("mix", ", ".join(f"{name} {weight:g}" for name, weight in settings.mix)))
    if examples.bin_size or examples.pack:
        rows.append(("rows", "packed" if examples.pack else f"in length bins of {examples.bin_size} tokens"))
    return rows


def _fingerprint(
    inputs: Inputs, sources: Sources, settings: Settings, vocab: str | None, segmenter: SentenceSegmenter
) -> str:
    """Return what a finished build is known by; what names and a text column add is left out where none is given."""
    identities = inputs.identities()
    configs = stored_values(settings) | {"vocab": vocab, "sentences": segmenter.fingerprint}
    column = [sources.text_column] if "documents" in identities and sources.text_column != Sources.text_column else []
    return fingerprint("build", __version__, configs, identities, *column, *_outside_revisions(inputs, settings))


def _outside_revisions(inputs: Inputs, settings: Settings) -> list[list[str | int]]:
    """Return the revisions of what other packages added to registries; what comes with bertdata has its version."""
    chosen: list[tuple[Registry[Any], list[str]]] = [
        (SOURCE_FORMATS, sorted({format_of(path, kind) for kind, paths in inputs.by_kind.items() for path in paths})),
        (FILTERS, [text.partition("=")[0] for text in settings.cleaning.filter]),
        (OBJECTIVES, [settings.examples.objective]),
        (MASK_UNITS, [settings.masking.mask_unit] if settings.examples.masking == "static" else []),
    ]
    return [
        revision
        for registry, names in chosen
        for revision in registry.raised_revisions(name for name in names if not registry.is_builtin(name))
    ]


def sources_of(output: str) -> Sources:
    """Return the sources of a build in whose command none are named: those of the output, or the sample corpus.

    The sample is for an output that holds nothing, or the sample. Raises ConfigError where the output does not say what
    it was made from, and where its sources are not there any more.
    """
    finished, begun = read_origin(output)
    origin = finished or begun
    if origin is None:
        if files.exists(files.join(output, MARKER)) and set(files.names(output)) - {MARKER}:
            raise ConfigError(
                "holds a build that does not say what it was made from; name its sources again (--wikipedia, --books, "
                "--documents), or choose another --output for the sample corpus",
                path=output,
            )
        return SAMPLE
    if origin.given is None:
        return SAMPLE
    if origin.command != COMMAND:
        raise ConfigError(
            f"was made by `bertdata {origin.command}`; name the sources of a build, and another --output for it",
            path=output,
        )
    sources = Sources.from_given(origin.given)
    try:
        sources.inputs()
    except InputError as error:
        raise ConfigError(
            f"no sources were named, and those that it was made from cannot be found: {error}; name where they are now",
            path=output,
        ) from error
    return sources


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a build."""
    for flag, metavar, what in (("--wikipedia", "DUMP", "dumps"), ("--books", "PATH", "books")):
        shown = f"{what}: files, folders or globs; NAME={metavar} names their source"
        parser.add_argument(flag, nargs="+", action="extend", default=[], metavar=metavar, help=shown)
    command_line.add_documents(parser, required=False)
    command_line.add_output(parser, required=False)
    parser.add_argument("--vocab", metavar="PATH", help=f"use this vocabulary: {command_line.VOCABULARY}")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and stop")
    for kind in (
        VocabularyConfig,
        SentencesConfig,
        ExamplesConfig,
        MaskingConfig,
        ShardsConfig,
        CleaningConfig,
        DedupConfig,
    ):
        add_flags(parser, kind)
    add_mix(parser)


def _refuse_unread(flags: argparse.Namespace, sources: Sources) -> None:
    """Raise ConfigError for flags of a vocabulary that is not trained, or of sources that there are none of."""
    trained = [one.name for one in fields(VocabularyConfig)]
    command_line.refuse_unread(flags, trained, not flags.vocab, "the vocabulary is given by --vocab and not trained")
    for kind in KINDS:
        given = bool(getattr(sources, kind))
        command_line.refuse_unread(flags, settings_of(kind), given, f"it is for --{kind}, and there is none")


def build(
    output: str | os.PathLike[str] = "corpus", *, runner_flags: Sequence[str] = (), **settings: Any
) -> dict[str, Any]:
    """Build shards in `output` as `bertdata build` does, and return the manifest.

    settings: the flags of the command, with underscores: `wikipedia`, `books` and `documents` (a path or a list of
    them), `vocab`, `mix` (a mapping from source to weight), `workers`, `force`, and all settings such as `objective`,
    `max_seq_length` and `mask_unit`. runner_flags: what stands after `--` on the command line. Without sources it
    builds those of the output, or the sample corpus. Progress is written to standard error. Raises ConfigError for a
    setting that does not exist, does not fit or has no effect, and as the command fails.

        manifest = build("corpus", documents="texts/*.jsonl", objective="sop", max_seq_length=128, workers=4)
        manifest["splits"]["train"]["counts"]["examples"]
    """
    flags = command_line.flags_of(_parser(), {"output": output} | settings)
    flags.runner_flags = tuple(runner_flags)
    sources, chosen = _settings_of(flags)
    return build_corpus(sources, flags.output, chosen, command_line.runner(flags), force=flags.force)[0]


def _parser() -> command_line.Parser:
    parser = command_line.Parser(
        prog="bertdata build",
        description="Dumps, books and other documents to shards; the sample corpus if none are given.",
    )
    add_arguments(parser)
    return parser


def _settings_of(flags: argparse.Namespace) -> tuple[Sources, Settings]:
    """Return what flags say of sources and settings, and put the default output into them."""
    sources = Sources(tuple(flags.wikipedia), tuple(flags.books), tuple(flags.documents), flags.text_column)
    if not sources.are_named:
        flags.output = flags.output or "corpus"
        sources = sources_of(flags.output)
        if flags.text_column != Sources.text_column:
            sources = replace(sources, text_column=flags.text_column)
        if sources != SAMPLE:
            shown = ", ".join(one for kind in KINDS for one in getattr(sources, kind))
            print(f"sources: those of {flags.output}, {shown}", file=sys.stderr)
    if not flags.output:
        raise ConfigError("--output is missing; give a folder for the shards")
    refuse_unread(flags)
    _refuse_unread(flags, sources)
    examples = each_from_flags(flags, ExamplesConfig)
    return sources, Settings(
        from_flags(flags, CleaningConfig),
        from_flags(flags, VocabularyConfig),
        from_flags(flags, ShardsConfig),
        examples[0],
        from_flags(flags, MaskingConfig),
        flags.vocab,
        from_flags(flags, DedupConfig),
        tuple(one.max_seq_length for one in examples) if len(examples) > 1 else (),
        from_flags(flags, SentencesConfig),
        tuple(parse_mix(flags.mix).items()),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; with no sources, build the sample corpus."""
    began = time.monotonic()
    flags = command_line.parse(_parser(), arguments)
    sources, settings = _settings_of(flags)
    runner = command_line.runner(flags)
    if flags.dry_run:
        print(dry_run(sources, flags.output, settings, runner, force=flags.force))
        return 0
    manifest, worked = build_corpus(sources, flags.output, settings, runner, force=flags.force)
    seconds = time.monotonic() - began
    if not worked:
        print(f"nothing to do: {flags.output} is finished, from these sources and settings ({seconds:.1f} s)")
        return 0
    print(table([*summary.build_rows(manifest), ("seconds", f"{seconds:.1f}"), *runner.timings()]))
    if lines := warning_lines(manifest):
        print("\n" + "\n".join(lines))
    first = plan_phases(flags.output, settings.phases())[0].output
    print(f"\nLook at it: bertdata show {first}")
    return 0


if __name__ == "__main__":
    command_line.console(main)
