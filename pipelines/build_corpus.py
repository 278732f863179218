"""Everything in a row: dumps, books and other documents to a vocabulary and shards.

    clean_wikipedia, clean_books, read documents -> documents -> find_duplicates -> train_vocab -> build_shards

Run: bertdata build, or python -m pipelines.build_corpus [--wikipedia [NAME=]DUMP ...] [--books [NAME=]PATH ...]
    [--documents [NAME=]PATH ...] --output DIR [--dedup none|exact|near] [--vocab DIR | --vocab-size N]
    [--mix NAME=WEIGHT ...] [--plan] [--force] [-- RUNNER FLAGS]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from bertdata import __version__
from bertdata.beam.runner import Runner, cores
from bertdata.beam.stages import PartResult, find_documents, input_of, read_documents
from bertdata.cli import command_line
from bertdata.curation.settings import DedupConfig
from bertdata.engine.origin import Origin, changes, read_origin, refusal
from bertdata.engine.output_lock import MARKER, claimed, finished_manifest, mark_finished, refuse_own
from bertdata.engine.parts import fingerprint
from bertdata.errors import ConfigError, InputError
from bertdata.inspect import summary
from bertdata.io import files
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.mixing import check_mix, parse_mix
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.flags import add_flags, each_from_flags, from_flags
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.sentences import SentenceSegmenter
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.corpus_warnings import warning_lines
from bertdata.shards.lengths import plan_phases
from bertdata.shards.manifest import source_entry
from bertdata.shards.settings import ShardsConfig
from bertdata.sources.cleaning import BOOK_SUFFIXES, find_dumps
from bertdata.sources.names import anywhere, find_files, order_sources, refuse_shared
from bertdata.sources.settings import CleaningConfig
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.tokenizers.wordpiece.stage import account_of

from .build_shards import SourcePart, add_mix, build_shards, load_segmenter, refuse_unread, require_material
from .clean_books import clean_books
from .clean_wikipedia import clean_wikipedia
from .find_duplicates import drop_duplicates
from .planning import stage_rows
from .train_vocab import train_vocab

COMMAND = "build"
STAGES = {"wikipedia": "wikipedia", "books": "books", "documents": "tables"}
"""The folder of the documents of each kind."""
Inputs = dict[str, dict[str, str]]
"""The files of each kind that has any, sorted, each with the name of its source."""


@dataclass(frozen=True)
class Sources:
    """What a build reads: dumps, books and other documents, each a list of paths, folders or globs.

    NAME= in front of a path names its source (see `sources.names`); the others are of that named after their kind.
    """

    wikipedia: tuple[str, ...] = ()
    books: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    text_column: str = "text"

    def inputs(self) -> Inputs:
        """Return the files of each kind; raises InputError where a path matches nothing, ConfigError for one twice."""
        found = {
            "wikipedia": find_files(self.wikipedia, "wikipedia", find_dumps),
            "books": find_files(self.books, "books", lambda paths: files.expand(paths, BOOK_SUFFIXES)),
            "documents": find_documents(self.documents, "documents"),
        }
        refuse_shared(found)
        return {kind: of for kind, of in found.items() if of}

    @property
    def are_named(self) -> bool:
        """Whether there is any."""
        return bool(self.wikipedia or self.books or self.documents)

    def given(self) -> dict[str, Any]:
        """Return what names the same files from any other folder, as JSON."""
        paths = {name: [anywhere(one) for one in getattr(self, name)] for name in STAGES}
        return paths | {"text_column": self.text_column}

    @staticmethod
    def from_given(value: Mapping[str, Any]) -> Sources:
        """Make it of what `given` returned."""
        wikipedia, books, documents = (tuple(value[name]) for name in STAGES)
        return Sources(wikipedia, books, documents, value["text_column"])


SAMPLE = Sources((SAMPLE_DUMP,), (SAMPLE_BOOKS,))
"""The corpus that comes with the package."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides the bytes of a build, beside its sources."""

    cleaning: CleaningConfig
    vocabulary: VocabularyConfig
    dealing: ShardsConfig
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


def build_corpus(
    sources: Sources, output: str, settings: Settings, runner: Runner, *, force: bool = False
) -> tuple[dict[str, Any], bool]:
    """Build shards from sources in `output`; returns the manifest and whether there was anything to do."""
    inputs = sources.inputs()
    names = _names(inputs)
    check_mix(dict(settings.mix), names)
    for of in inputs.values():
        refuse_own(output, list(of))
    given = WordPieceTokenizer.load(settings.vocab) if settings.vocab else None
    segmenter = load_segmenter(settings.sentences)
    mark = _mark(inputs, sources.text_column, settings, given, segmenter)
    origin = _origin(sources, inputs, settings, given)
    runner.check([output, *(path for of in inputs.values() for path in of)])
    with claimed(output, "build", origin, force=force) as said:
        stages = files.join(output, "stages")
        if force:
            files.remove(stages)
        elif manifest := finished_manifest(output, mark, runner.say):
            return manifest, False
        for line in said:
            runner.say(line)
        every: list[PartResult] = []
        for kind, of in inputs.items():
            every += _documents(kind, of, files.join(stages, STAGES[kind]), sources, settings, runner)
        _forget_other_kinds(stages, inputs)
        every = drop_duplicates(every, files.join(stages, "duplicates"), settings.dedup, runner)
        source_of = {path: name for of in inputs.values() for path, name in of.items()}
        parts = [(source_of[input_of(task)], (task, record)) for task, record in every]
        require_material(parts, names, settings.examples.objective, segmenter)
        if given is None:
            tokenizer, record = train_vocab(every, stages, settings.vocabulary, runner)
            vocabulary = account_of(record, settings.vocabulary)
        else:
            tokenizer, vocabulary = given, {"pieces": given.vocab_size}
        entries = {name: _entry(name, parts, inputs) for name in names}
        configs = settings.dealing, settings.phases(), settings.masking
        manifest = build_shards(
            parts,
            tokenizer,
            output,
            configs,
            runner,
            segmenter=segmenter,
            sources=entries,
            vocabulary=vocabulary,
            mix=dict(settings.mix),
        )
        mark_finished(output, mark)
    return manifest, True


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


def _origin(sources: Sources, inputs: Inputs, settings: Settings, given: WordPieceTokenizer | None) -> Origin:
    told = asdict(settings) | {"vocab": f"{settings.vocab} ({given.fingerprint[:8]})" if given else None}
    paths = [path for of in inputs.values() for path in of]
    return Origin.of(COMMAND, paths, sources.given(), told, sample=sources == SAMPLE)


def _names(inputs: Inputs) -> list[str]:
    return order_sources(name for of in inputs.values() for name in of.values())


def _documents(
    kind: str, of: Mapping[str, str], folder: str, sources: Sources, settings: Settings, runner: Runner
) -> list[PartResult]:
    """Make documents of the files of one kind, as parts in `folder`."""
    if kind == "wikipedia":
        return clean_wikipedia(list(of), folder, settings.cleaning, runner)
    if kind == "books":
        return clean_books(list(of), folder, settings.cleaning, runner, of)
    return read_documents(runner, list(of), folder, settings.cleaning, sources.text_column)


def _entry(name: str, parts: Sequence[SourcePart], inputs: Inputs) -> dict[str, Any]:
    """Return what the manifest says of a source; tables are taken whole, as a range of one has no bytes of its file."""
    paths = [path for of in inputs.values() for path, source in of.items() if source == name]
    tables, own = inputs.get("documents", {}), [done for source, done in parts if source == name]
    taken = sum(task.weight for task, _ in own if input_of(task) not in tables)
    taken += sum(files.size(path) for path in paths if path in tables)
    return source_entry([(files.name(path), files.size(path)) for path in paths], [one for _, one in own], taken)


def _mark(
    inputs: Inputs,
    text_column: str,
    settings: Settings,
    given: WordPieceTokenizer | None,
    segmenter: SentenceSegmenter,
) -> str:
    """Return what a finished build is known by; what names and a text column add is left out where none is given."""
    identities = {
        kind: [files.identity(path) if name == kind else [files.identity(path), name] for path, name in of.items()]
        for kind, of in inputs.items()
    }
    configs = asdict(settings) | {
        "vocab": given.fingerprint if given else None,
        "sentences": segmenter.fingerprint,
    }
    column = [text_column] if "documents" in inputs and text_column != Sources.text_column else []
    return fingerprint("build", __version__, configs, identities, *column)


def _forget_other_kinds(stages: str, inputs: Inputs) -> None:
    for kind, folder in STAGES.items():
        if kind not in inputs:
            files.remove(files.join(stages, folder))


def plan_text(sources: Sources, output: str, settings: Settings, runner: Runner, *, force: bool = False) -> str:
    """Return what a build would do, without doing it."""
    rows = []
    inputs = sources.inputs()
    names = _names(inputs)
    check_mix(dict(settings.mix), names)
    for name in names:
        paths = [path for of in inputs.values() for path, source in of.items() if source == name]
        size = sum(files.size(path) for path in paths)
        rows.append((name, f"{summary.counted(len(paths), 'file')}, {size:,} bytes"))
    given = WordPieceTokenizer.load(settings.vocab) if settings.vocab else None
    mark = _mark(inputs, sources.text_column, settings, given, load_segmenter(settings.sentences))
    if not force and finished_manifest(output, mark):
        return summary.table([*rows, ("nothing to do", f"{output} is finished, from these sources and settings")])
    rows += stage_rows(inputs, files.join(output, "stages"), sources.text_column, settings, force=force)
    examples = settings.examples
    rows.append(("sentences", f"Punkt, {settings.sentences.sentences}"))
    rows.append(
        (
            "examples",
            f"{examples.objective}, {examples.masking} masking, "
            f"{' and '.join(str(one.max_seq_length) for one in settings.phases())} tokens, "
            f"dupe factor {examples.dupe_factor}, seed {examples.seed}",
        )
    )
    if settings.mix:
        rows.append(("mix", ", ".join(f"{name} {weight:g}" for name, weight in settings.mix)))
    if examples.bin_size or examples.pack:
        rows.append(("rows", "packed" if examples.pack else f"in length bins of {examples.bin_size} tokens"))
    origin = _origin(sources, inputs, settings, given)
    rows += changes(output, origin)
    if (refused := refusal(output, origin)) and not force:
        rows.append(("refused", f"{output} {refused}"))
    rows.append(("runs on", " ".join(runner.flags) or f"{runner.workers or f'up to {cores()}'} workers here"))
    return summary.table(rows)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a build."""
    for flag, metavar, what in (("--wikipedia", "DUMP", "dumps"), ("--books", "PATH", "books")):
        shown = f"{what}: files, folders or globs; NAME={metavar} names their source"
        parser.add_argument(flag, nargs="+", action="extend", default=[], metavar=metavar, help=shown)
    command_line.add_documents(parser, required=False)
    command_line.add_output(parser, required=False)
    parser.add_argument("--vocab", metavar="PATH", help=f"use this vocabulary: {command_line.VOCABULARY}")
    parser.add_argument("--plan", action="store_true", help="say what would be done, and stop")
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
    wikipedia = ("min_words", "templates", "rejects")
    command_line.refuse_unread(flags, wikipedia, bool(sources.wikipedia), "it is for --wikipedia, and there is none")
    command_line.refuse_unread(flags, ["split_chapters"], bool(sources.books), "it is for --books, and there are none")
    command_line.refuse_unread(
        flags, ["text_column"], bool(sources.documents), "it is for --documents, and there are none"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; with no sources, build the sample corpus."""
    began = time.monotonic()
    parser = command_line.Parser(
        prog="bertdata build",
        description="Dumps, books and other documents to shards; the sample corpus if none are given.",
    )
    add_arguments(parser)
    flags = command_line.parse(parser, arguments)
    sources = Sources(tuple(flags.wikipedia), tuple(flags.books), tuple(flags.documents), flags.text_column)
    if not sources.are_named:
        flags.output = flags.output or "corpus"
        sources = sources_of(flags.output)
        if flags.text_column != Sources.text_column:
            sources = replace(sources, text_column=flags.text_column)
        if sources != SAMPLE:
            shown = ", ".join(one for kind in STAGES for one in getattr(sources, kind))
            print(f"sources: those of {flags.output}, {shown}", file=sys.stderr)
    if not flags.output:
        raise ConfigError("--output is missing; give a folder for the shards")
    refuse_unread(flags)
    _refuse_unread(flags, sources)
    examples = each_from_flags(flags, ExamplesConfig)
    settings = Settings(
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
    runner = command_line.runner(flags)
    if flags.plan:
        print(plan_text(sources, flags.output, settings, runner, force=flags.force))
        return 0
    manifest, worked = build_corpus(sources, flags.output, settings, runner, force=flags.force)
    seconds = time.monotonic() - began
    if not worked:
        print(f"nothing to do: {flags.output} is finished, from these sources and settings ({seconds:.1f} s)")
        return 0
    print(summary.table([*summary.build_rows(manifest), ("seconds", f"{seconds:.1f}"), *runner.timings()]))
    if lines := warning_lines(manifest):
        print("\n" + "\n".join(lines))
    first = plan_phases(flags.output, settings.phases())[0].output
    print(f"\nLook at it: bertdata show {first}")
    return 0


if __name__ == "__main__":
    command_line.console(main)
