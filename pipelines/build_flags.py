"""The flags of `bertdata build`, and the sources and settings that they stand for.

`bertdata.build` has them as keywords (`pipelines.in_python`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from bertdata.cli import command_line
from bertdata.corpus.advice import Choices
from bertdata.curation.languages import SOURCE
from bertdata.curation.settings import DecontaminationConfig, DedupConfig, DedupSpansConfig
from bertdata.engine.origin import read_origin
from bertdata.engine.output_lock import MARKER
from bertdata.engine.remote_lock import LOCK
from bertdata.errors import ConfigError, InputError
from bertdata.io import files, listing
from bertdata.options.flags import add_flags, add_json, from_flags
from bertdata.options.option import stored_values
from bertdata.plugins import consent_to
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.phases import PhaseConfig, stored_phases
from bertdata.shards.settings import AccountsConfig, ShardsConfig
from bertdata.sources.formats import format_of, settings_of
from bertdata.sources.inputs import Sources
from bertdata.sources.names import KINDS
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.source_columns import SourceColumns
from bertdata.tokenizers.settings import VocabularyConfig

from .phases import OF_A_PHASE, add_model_length, phases_of, require_model_length, say_defaults
from .recipe import add_recipe, apply_recipe, save_recipe

COMMAND = "build"
REJECTS_HINT = (
    "; bertdata show DIR --dropped shows documents that rules dropped, with what was measured, and "
    "DIR/stages/duplicates/duplicates.parquet names duplicates"
)
DEFAULT_OUTPUT = "corpus"
"""The output of a command that names neither sources nor an output."""
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
    dedup_spans: DedupSpansConfig = field(default_factory=DedupSpansConfig)
    decontamination: DecontaminationConfig = field(default_factory=DecontaminationConfig)
    sentences: SentencesConfig = field(default_factory=SentencesConfig)
    accounts: AccountsConfig = field(default_factory=AccountsConfig)

    def __post_init__(self) -> None:
        """Take the languages that sources say, where sentences go by language and no model is named."""
        if self.sentences.goes_by_language and not self.cleaning.language_model:
            object.__setattr__(self, "cleaning", replace(self.cleaning, language_model=SOURCE))

    def stored(self) -> dict[str, Any]:
        """Return the values as fingerprints and origins hold them: of the phases, once where all have the same."""
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "phases"}
        stored = {name: stored_values(value) if is_dataclass(value) else value for name, value in values.items()}
        for name in ("dedup_spans", "decontamination", "accounts"):
            if not stored[name]:
                del stored[name]
        names = [phase.folder for phase in self.phases]
        return stored | stored_phases(self.phases) | ({"phases": names} if len(names) > 1 else {})


def choices_of(settings: Settings, documents: Iterable[str] = (), formats: Sequence[str] = ()) -> Choices:
    """Return what the advice of warnings goes by, as far as it is not of a phase.

    documents: the files of --documents; formats: those of them that are not registered.
    """
    cleaning = settings.cleaning
    return Choices(
        dedup=settings.dedup.dedup,
        language_model=cleaning.language_model,
        split_chapters=cleaning.split_chapters,
        whole_files=cleaning.whole_files,
        plain_text=any(format_of(path, "documents", formats) == "plain-text" for path in documents),
    )


@dataclass(frozen=True)
class Named:
    """What a command names: its recipe, and its settings by name, these where it leaves its sources to the output.

    output: whether it names that, and so may change a finished one there.
    """

    recipe: str = ""
    settings: frozenset[str] | None = None
    output: bool = True

    @staticmethod
    def by(flags: argparse.Namespace) -> Named:
        """Return what flags name after `settings_of_flags`, themselves or by their recipe."""
        if any(getattr(flags, kind) for kind in KINDS):
            return Named(flags.recipe or "")
        settings = frozenset(flags.named) | flags.named_by_recipe
        return Named(flags.recipe or "", settings, "output" in flags.named)


GROUPS: dict[str, type[Any]] = {
    "vocabulary": VocabularyConfig,
    "sentences": SentencesConfig,
    **OF_A_PHASE,
    "sharding": ShardsConfig,
    "cleaning": CleaningConfig,
    "dedup": DedupConfig,
    "dedup_spans": DedupSpansConfig,
    "decontamination": DecontaminationConfig,
    "accounts": AccountsConfig,
}
"""The classes of settings by their fields of `Settings` or of `PhaseConfig`, in the order of the help."""


def sources_of(output: str) -> Sources:
    """Return the sources of a build whose command names none: those of the output, or the sample corpus.

    The sample is taken for an output that is empty, or holds the sample. Raises ConfigError where the sources of the
    output are not known, or do not exist any more.
    """
    finished, begun = read_origin(output)
    origin = finished or begun
    if origin is None:
        if files.exists(files.join(output, MARKER)) and set(listing.names(output)) - {MARKER, LOCK}:
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
        type=consent_to,
        default=[],
        metavar="MODULE:NAME",
        help="a source format of your own, which comes before those for the files of --documents; a function of a path "
        "that returns rows reads all of them",
    )
    command_line.add_output(parser, required=False)
    parser.add_argument("--vocab", metavar="PATH", help=f"use this vocabulary: {command_line.VOCABULARY}")
    add_model_length(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and about what it would take, and stop"
    )
    add_json(parser, "the manifest, the seconds and what took them; with --dry-run, what would be done")
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
    settings = ["decontaminate_ngram", "decontaminate_action"]
    command_line.refuse_unread(flags, settings, bool(flags.decontaminate), "no test data is given by --decontaminate")
    for kind in KINDS:
        unread = [name for name in settings_of(kind) if name not in read]
        for name in unread:
            more = REJECTS_HINT if name == "rejects" else ""
            command_line.refuse_unread(flags, [name], False, f"it is for --{kind}, and there is none{more}")


def columns_of_flags(flags: argparse.Namespace) -> tuple[str, SourceColumns]:
    """Return the column of the text of all sources, and those of the text and the id that sources have of their own."""
    columns = SourceColumns.of(flags.text_column, flags.id_column)
    texts = tuple((name, column) for name, column in columns.texts if name)
    return columns.text(""), replace(columns, texts=texts)


def settings_of_flags(flags: argparse.Namespace) -> tuple[Sources, Settings]:
    """Return the sources and settings that flags stand for; sets `flags.output` to its default.

    With --save-recipe they are written, and there need be no --output.
    """
    apply_recipe(flags, make_parser(), GROUPS)
    text_column, columns = columns_of_flags(flags)
    given = (text_column, tuple(flags.source_format), columns)
    sources = Sources(tuple(flags.wikipedia), tuple(flags.books), tuple(flags.documents), *given)
    if not sources.are_named:
        flags.output = flags.output or DEFAULT_OUTPUT
        sources = sources_of(flags.output)
        if text_column != Sources.text_column:
            sources = replace(sources, text_column=text_column)
        if columns != SourceColumns():
            texts, ids = columns.texts or sources.columns.texts, columns.ids or sources.columns.ids
            sources = replace(sources, columns=SourceColumns(texts, ids))
        if flags.source_format and sources.documents:
            sources = replace(sources, formats=tuple(flags.source_format))
        if sources != SAMPLE and not flags.quiet:
            shown = ", ".join(path for kind in KINDS for path in getattr(sources, kind))
            print(f"sources: those of {flags.output}, {shown}", file=sys.stderr)
    if not flags.output and not flags.save_recipe:
        raise ConfigError("--output is missing; give a folder for the shards")
    _refuse_unread(flags, sources)
    groups = {name: from_flags(flags, GROUPS[name]) for name in GROUPS if name not in OF_A_PHASE}
    phases = phases_of(flags)
    require_model_length(flags, phases)
    say_defaults(flags)
    return sources, Settings(phases=phases, vocab=flags.vocab, **groups)


def save_settings(path: str, settings: Settings, length: int) -> None:
    """Write settings as a recipe, with the `length` that rows of the model have at most, and say how to use it."""
    groups = [group for name, group in vars(settings).items() if name in GROUPS]
    trained = settings.vocabulary if settings.vocab else None
    values = {one.name: getattr(group, one.name) for group in groups if group is not trained for one in fields(group)}
    of_command = {"vocab": settings.vocab, "model_max_length": length}
    save_recipe(path, {name: value for name, value in of_command.items() if value} | values, settings.phases)
    print(f"wrote {path}; build with it: bertdata build --recipe {path} ... --output DIR")
