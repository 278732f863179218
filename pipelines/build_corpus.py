"""All stages: dumps, books and other documents to a vocabulary and shards.

    dumps, books, other documents -> documents -> without duplicates -> vocabulary -> shards

Run: bertdata build, or python -m pipelines.build_corpus [--wikipedia [NAME=]DUMP ...] [--books [NAME=]PATH ...]
    [--documents [NAME=]PATH ...] --output DIR [--dedup none|exact|near] [--vocab DIR | --vocab-size N]
    [--mix NAME=WEIGHT ...] [--where CONDITION] [--dry-run] [--force] [-- RUNNER FLAGS]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from bertdata import __version__
from bertdata.beam.runner import Runner
from bertdata.cli import command_line
from bertdata.curation.cleaners import CLEANERS
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.filters import FILTERS
from bertdata.curation.settings import DedupConfig
from bertdata.engine.origin import Origin, read_origin
from bertdata.engine.output_lock import MARKER, output_lock, refuse_own
from bertdata.engine.parts import fingerprint
from bertdata.engine.run_stages import run_stages
from bertdata.engine.stages import Stage
from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.io.console import table
from bertdata.masking import MASK_UNITS
from bertdata.objectives import OBJECTIVES
from bertdata.options.flags import add_flags, from_flags
from bertdata.options.option import stored_values
from bertdata.registry import Registry
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.contents import finished_manifest, mark_finished
from bertdata.shards.count_tokens import write_stages
from bertdata.shards.phases import PhaseConfig, check_names, plan_phases, stored_phases
from bertdata.shards.settings import ShardsConfig
from bertdata.shards.similar_words import check_table
from bertdata.shards.write_shards import CheckDocuments, WriteShards
from bertdata.sources.formats import SOURCE_FORMATS, format_of, settings_of
from bertdata.sources.inputs import Sources
from bertdata.sources.names import KINDS
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import FOLDERS, ReadSource
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training.stage import TrainVocabulary

from .build_shards import load_segmenter, load_tokenizer_for, print_build
from .dry_run import end_rows, language_rows, setting_rows, source_rows, stage_rows
from .phases import OF_A_PHASE, add_model_length, columns_of, phases_of, require_columns, require_model_length
from .recipe import add_recipe, apply_recipe, save_recipe

COMMAND = "build"
SAMPLE = Sources((SAMPLE_DUMP,), (SAMPLE_BOOKS,))
"""The corpus that ships with the package."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides the bytes of a build, apart from its sources."""

    cleaning: CleaningConfig
    vocabulary: VocabularyConfig
    sharding: ShardsConfig
    phases: tuple[PhaseConfig, ...] = (PhaseConfig(),)
    vocab: str | None = None
    dedup: DedupConfig = field(default_factory=DedupConfig)
    sentences: SentencesConfig = field(default_factory=SentencesConfig)

    def stored(self) -> dict[str, Any]:
        """Return the values as fingerprints and origins hold them: of the phases, once where all have the same."""
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "phases"}
        stored = {name: stored_values(value) if is_dataclass(value) else value for name, value in values.items()}
        names = [phase.folder for phase in self.phases]
        return stored | stored_phases(self.phases) | ({"phases": names} if len(names) > 1 else {})


GROUPS: dict[str, type[Any]] = {
    "vocabulary": VocabularyConfig,
    "sentences": SentencesConfig,
    **OF_A_PHASE,
    "sharding": ShardsConfig,
    "cleaning": CleaningConfig,
    "dedup": DedupConfig,
}
"""The classes of settings by their fields of `Settings` or of `PhaseConfig`, in the order of the help."""


class Build:
    """A build of sources in an output: its stages, its fingerprint and its origin.

    Raises InputError where a path matches nothing, and ConfigError where the settings do not suit the sources.
    """

    def __init__(self, sources: Sources, output: str, settings: Settings) -> None:
        self.inputs, self.output, self.settings = sources.inputs(), output, settings
        self.formats = sources.formats
        for phase in settings.phases:
            phase.check_sources(self.inputs.names())
        check_names(settings.phases)
        self.columns = columns_of(settings.phases)
        require_columns(self.columns, self.inputs.by_kind["documents"])
        refuse_own(output, self.inputs.paths())
        self.tokenizer = load_tokenizer_for(settings.vocab, settings.phases) if settings.vocab else None
        self.segmenter = load_segmenter(settings.sentences)
        self.similar_words = [check_table(phase.masking) for phase in settings.phases]
        self.stages = self._stages(sources.text_column)
        vocab = self.tokenizer.fingerprint if self.tokenizer else None
        self.fingerprint = self._fingerprint(sources.text_column, vocab)
        stored = settings.stored() | {"vocab": f"{settings.vocab} ({vocab[:8]})" if vocab else None}
        stored |= {"source_format": list(self.formats)} if self.formats else {}
        self.origin = Origin.of(COMMAND, self.inputs.paths(), sources.given(), stored, sample=sources == SAMPLE)

    def _stages(self, text_column: str) -> list[Stage]:
        """Return the stages of the build: what flows from where to where."""
        settings, folder = self.settings, files.join(self.output, "stages")
        write = WriteShards(
            self.output,
            self.inputs,
            settings.sharding,
            settings.phases,
            self.segmenter,
            settings.vocabulary,
            self.tokenizer,
        )
        return [
            *(
                ReadSource(
                    kind,
                    self.inputs.by_kind[kind],
                    files.join(folder, name),
                    settings.cleaning,
                    text_column,
                    self.columns if kind == "documents" else (),
                    self.formats if kind == "documents" else (),
                )
                for kind, name in FOLDERS.items()
            ),
            DropDuplicates(files.join(folder, "duplicates"), settings.dedup),
            CheckDocuments(self.inputs, [phase.examples.objective for phase in settings.phases], self.segmenter),
            *([] if self.tokenizer else [TrainVocabulary(folder, settings.vocabulary, self.inputs)]),
            *write_stages(write),
        ]

    def _fingerprint(self, text_column: str, vocab: str | None) -> str:
        """Return the fingerprint of a finished build; names and a text column enter it only where they are given."""
        identities = self.inputs.identities()
        configs = self.settings.stored() | {"vocab": vocab, "sentences": self.segmenter.fingerprint}
        if any(self.similar_words):
            configs["masking"] |= {"similar_words": self.similar_words}
        column = [text_column] if "documents" in identities and text_column != Sources.text_column else []
        own = [*column, *([["formats", *self.formats]] if self.formats else [])]
        return fingerprint("build", __version__, configs, identities, *own, *self._outside_revisions())

    def _outside_revisions(self) -> list[list[str | int]]:
        """Return the revisions of what other packages added to registries; what comes with bertdata has its version."""
        paths_of, settings = self.inputs.by_kind, self.settings
        chosen: list[tuple[Registry[Any], list[str]]] = [
            (
                SOURCE_FORMATS,
                sorted({format_of(path, kind, self.formats) for kind, paths in paths_of.items() for path in paths}),
            ),
            (FILTERS, [text.partition("=")[0] for text in settings.cleaning.filter]),
            (CLEANERS, list(settings.cleaning.clean)),
            (OBJECTIVES, sorted({phase.examples.objective for phase in settings.phases})),
            (
                MASK_UNITS,
                sorted({one.masking.mask_unit for one in settings.phases if one.examples.masking == "static"}),
            ),
        ]
        return [
            revision
            for registry, names in chosen
            for revision in registry.raised_revisions(name for name in names if not registry.is_builtin(name))
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
    rows += setting_rows(settings.vocab, settings.vocabulary, settings.sentences, settings.phases)
    rows += language_rows(build.inputs, settings.sentences)
    return table([*rows, *end_rows(output, build.origin, runner, force=force)])


def sources_of(output: str) -> Sources:
    """Return the sources of a build whose command names none: those of the output, or the sample corpus.

    The sample is taken for an output that is empty, or holds the sample. Raises ConfigError where the sources of the
    output are not known, or do not exist any more.
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


def make_parser() -> command_line.Parser:
    """Return the parser of the command."""
    parser = command_line.Parser(
        prog=f"bertdata {COMMAND}",
        description="Dumps, books and other documents to shards; the sample corpus if none are given.",
    )
    for flag, metavar, what in (("--wikipedia", "DUMP", "dumps"), ("--books", "PATH", "books")):
        text = f"{what}: files, folders or globs; NAME={metavar} names their source"
        parser.add_argument(flag, nargs="+", action="extend", default=[], metavar=metavar, help=text)
    command_line.add_documents(parser, required=False)
    parser.add_argument(
        "--source-format",
        nargs="+",
        action="extend",
        default=[],
        metavar="MODULE:NAME",
        help="a source format of your own, which comes before those for the files of --documents; a function of a path "
        "that returns rows reads all of them",
    )
    command_line.add_output(parser, required=False)
    parser.add_argument("--vocab", metavar="PATH", help=f"use this vocabulary: {command_line.VOCABULARY}")
    add_model_length(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and stop")
    for kind in GROUPS.values():
        add_flags(parser, kind)
    add_recipe(parser)
    return parser


def _refuse_unread(flags: argparse.Namespace, sources: Sources) -> None:
    """Raise ConfigError for flags of a vocabulary that is not trained, or of kinds of sources that are not given."""
    command_line.refuse_unread(
        flags, vars(VocabularyConfig()), not flags.vocab, "the vocabulary is given by --vocab and not trained"
    )
    command_line.refuse_unread(
        flags, ["source_format"], bool(sources.documents), "it is for --documents, and there is none"
    )
    read = {name for kind in KINDS if getattr(sources, kind) for name in settings_of(kind)}
    for kind in KINDS:
        unread = [name for name in settings_of(kind) if name not in read]
        command_line.refuse_unread(flags, unread, False, f"it is for --{kind}, and there is none")


def settings_of_flags(flags: argparse.Namespace) -> tuple[Sources, Settings]:
    """Return the sources and settings that flags stand for; sets `flags.output` to its default.

    With --save-recipe they are written, and there need be no --output.
    """
    apply_recipe(flags, make_parser(), GROUPS)
    given = (flags.text_column, tuple(flags.source_format))
    sources = Sources(tuple(flags.wikipedia), tuple(flags.books), tuple(flags.documents), *given)
    if not sources.are_named:
        flags.output = flags.output or "corpus"
        sources = sources_of(flags.output)
        if flags.text_column != Sources.text_column:
            sources = replace(sources, text_column=flags.text_column)
        if flags.source_format and sources.documents:
            sources = replace(sources, formats=tuple(flags.source_format))
        if sources != SAMPLE:
            shown = ", ".join(path for kind in KINDS for path in getattr(sources, kind))
            print(f"sources: those of {flags.output}, {shown}", file=sys.stderr)
    if not flags.output and not flags.save_recipe:
        raise ConfigError("--output is missing; give a folder for the shards")
    _refuse_unread(flags, sources)
    groups = {name: from_flags(flags, GROUPS[name]) for name in GROUPS if name not in OF_A_PHASE}
    phases = phases_of(flags)
    require_model_length(flags, phases)
    return sources, Settings(phases=phases, vocab=flags.vocab, **groups)


def _save_recipe(path: str, settings: Settings, length: int) -> None:
    """Write settings as a recipe, with the `length` that rows of the model have at most, and say how to use it."""
    groups = [group for name, group in vars(settings).items() if name in GROUPS]
    trained = settings.vocabulary if settings.vocab else None
    values = {one.name: getattr(group, one.name) for group in groups if group is not trained for one in fields(group)}
    of_command = {"vocab": settings.vocab, "model_max_length": length}
    save_recipe(path, {name: value for name, value in of_command.items() if value} | values, settings.phases)
    print(f"wrote {path}; build with it: bertdata build --recipe {path} ... --output DIR")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; with no sources, build the sample corpus."""
    began = time.monotonic()
    flags = command_line.parse(make_parser(), arguments)
    sources, settings = settings_of_flags(flags)
    runner = command_line.runner(flags)
    if flags.save_recipe:
        _save_recipe(flags.save_recipe, settings, flags.model_max_length)
        return 0
    if flags.dry_run:
        print(dry_run(sources, flags.output, settings, runner, force=flags.force))
        return 0
    manifest, worked = build_corpus(sources, flags.output, settings, runner, force=flags.force)
    seconds = time.monotonic() - began
    if not worked:
        print(f"nothing to do: {flags.output} is finished, from these sources and settings ({seconds:.1f} s)")
        return 0
    print_build(manifest, [("seconds", f"{seconds:.1f}"), *runner.timings()])
    first = plan_phases(flags.output, settings.phases)[0].output
    print(f"\nLook at it: bertdata show {first}")
    return 0


if __name__ == "__main__":
    command_line.console(main)
