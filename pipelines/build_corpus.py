"""All stages: dumps, books and other documents to a vocabulary and shards.

    dumps, books, other documents -> documents -> without duplicates -> without repeated text -> without test data
        -> vocabulary -> shards

Run: bertdata build, or python -m pipelines.build_corpus [--wikipedia [NAME=]DUMP ...] [--books [NAME=]PATH ...]
    [--documents [NAME=]PATH ...] --output DIR [--dedup none|exact|near]
    [--dedup-spans none|paragraphs|sentences] [--decontaminate FILE ...]
    [--vocab DIR | --vocab-size N] [--mix NAME=WEIGHT ...] [--where CONDITION] [--dry-run] [--force] [-- RUNNER FLAGS]
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from bertdata import __version__
from bertdata.beam.runner import Runner
from bertdata.cli import command_line
from bertdata.corpus.count_tokens import write_stages
from bertdata.corpus.estimate.left import left_of, left_parts
from bertdata.corpus.estimate.sample import SAMPLE_BYTES
from bertdata.corpus.estimate.shown import WORKERS, Room
from bertdata.corpus.write_shards import CheckDocuments, WriteShards
from bertdata.curation.cleaners import CLEANERS
from bertdata.curation.decontamination.stage import Decontaminate, test_table
from bertdata.curation.dedup.spans.stage import DropSpans
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.filters import FILTERS
from bertdata.curation.languages import LANGUAGE
from bertdata.engine.origin import Origin
from bertdata.engine.output_lock import locked, made_from, refuse_own
from bertdata.engine.parts import fingerprint
from bertdata.engine.run_stages import plan_first, run_stages, stage_states
from bertdata.engine.stages import Stage
from bertdata.errors import BertDataError, ConfigError, naming_flags
from bertdata.finetune.strings import texts_of
from bertdata.io import files
from bertdata.io.digests import cores
from bertdata.io.listed import kept_listings
from bertdata.masking import MASK_UNITS
from bertdata.objectives import OBJECTIVES
from bertdata.registry import Registry
from bertdata.sentences.by_language import default_of, segmenter_of
from bertdata.shards.contents import finished_manifest, mark_finished
from bertdata.shards.phases import check_names, plan_phases
from bertdata.shards.similar_words import check_table
from bertdata.sources.formats import SOURCE_FORMATS, format_of
from bertdata.sources.inputs import Sources
from bertdata.sources.stage import FOLDERS, ReadSource
from bertdata.sources.text_encodings import check_sources
from bertdata.tokenizers.training.stage import TrainVocabulary

from .build_flags import COMMAND, SAMPLE, Named, Settings, choices_of, make_parser, save_settings, settings_of_flags
from .build_shards import load_tokenizer_for, print_build
from .default_output import remedy, require_consent, unagreed
from .dry_run import Planned, end_rows, language_rows, setting_rows, source_rows, stage_rows
from .estimates import estimate_build
from .phases import columns_of, conditions_of, require_columns

command_parser = make_parser
BETWEEN_STEPS = "start and checks"
_LONGEST = 3


class Build:
    """A build of sources in an output: its stages, its fingerprint and its origin.

    Raises InputError where a path matches nothing, and ConfigError where the settings do not suit the sources.
    """

    def __init__(self, sources: Sources, output: str, settings: Settings, recipe: str = "") -> None:
        self.inputs, self.output, self.settings = sources.inputs(), output, settings
        self.formats = sources.formats
        for phase in settings.phases:
            phase.check_sources(self.inputs.names())
        check_names(settings.phases)
        self.columns = columns_of(settings.phases, settings.accounts)
        told = [LANGUAGE] if settings.cleaning.language_model else []
        require_columns([name for name in self.columns if name not in told], self.inputs.by_kind["documents"])
        refuse_own(output, self.inputs.paths())
        self.tokenizer = load_tokenizer_for(settings.vocab, settings.phases) if settings.vocab else None
        self.segmenter = segmenter_of(settings.sentences)
        self.similar_words = [check_table(phase.masking) for phase in settings.phases]
        self.test_data = test_table(settings.decontamination, texts_of)
        self.text_column, self.own_columns = sources.text_column, sources.columns
        self.own_columns.check_sources(self.inputs.names())
        check_sources(settings.cleaning.encoding, self.inputs.names())
        self.stages = self.stages_in(output, settings)
        vocab = self.tokenizer.fingerprint if self.tokenizer else None
        self.fingerprint = self._fingerprint(sources.text_column, vocab)
        stored = settings.stored() | {"vocab": f"{settings.vocab} ({vocab[:8]})" if vocab else None}
        stored |= {"source_format": list(self.formats)} if self.formats else {}
        stored |= {"recipe": recipe} if recipe else {}
        self.origin = Origin.of(COMMAND, self.inputs.paths(), sources.given(), stored, sample=sources == SAMPLE)

    def stages_in(self, output: str, settings: Settings) -> list[Stage]:
        """Return the stages of the build: what flows from where to where."""
        folder = files.join(output, "stages")
        write = WriteShards(
            output,
            self.inputs,
            settings.sharding,
            settings.phases,
            self.segmenter,
            settings.vocabulary,
            self.tokenizer,
            choices_of(settings, self.inputs.by_kind["documents"], self.formats),
            settings.accounts,
        )
        return [
            *(
                ReadSource(
                    kind,
                    self.inputs.by_kind[kind],
                    files.join(folder, name),
                    settings.cleaning,
                    self.text_column,
                    self.columns if kind == "documents" else (),
                    self.formats if kind == "documents" else (),
                    notes=self.inputs.notes if kind == "documents" else (),
                    conditions=conditions_of(settings.phases, self.inputs.names()),
                    own_columns=self.own_columns,
                    made=settings.accounts.made,
                )
                for kind, name in FOLDERS.items()
            ),
            DropDuplicates(files.join(folder, "duplicates"), settings.dedup),
            DropSpans(files.join(folder, "repeated"), settings.dedup_spans, default_of(self.segmenter)),
            Decontaminate(files.join(folder, "decontamination"), settings.decontamination, self.test_data),
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
        if self.test_data:
            configs["decontamination"] = {**configs["decontamination"], "files": self.test_data.fingerprint}
        if made_from := self.settings.accounts.identity:
            configs["accounts"] = {**configs["accounts"], "made_from": made_from}
        column: list[Any] = [text_column] if "documents" in identities and text_column != Sources.text_column else []
        if "documents" in identities and (by_source := self.own_columns.stored()):
            column.append(by_source)
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


@kept_listings()
def build_corpus(
    sources: Sources,
    output: str,
    settings: Settings,
    runner: Runner,
    *,
    force: bool = False,
    named: Named | None = None,
    accepted: Callable[[], None] = lambda: None,
) -> tuple[dict[str, Any], bool]:
    """Build shards from sources in `output`; returns the manifest and whether there was anything to do.

    named: what the command names. accepted: called once when the sources and the settings were checked, before anything
    is replaced.
    """
    named = named or Named()
    build = Build(sources, output, settings, named.recipe)
    with runner.checked(output, build.inputs.paths()), locked(output, "build"):
        finished = None if force else finished_manifest(output, build.fingerprint, runner.say)
        if not finished:
            require_consent(output, build.origin, named, force=force)
            runner.start_workers(sum(map(files.size, build.inputs.paths())))
        plans = [] if finished else plan_first(build.stages)
        with made_from(output, build.origin, force=force, named=named.settings) as replaced:
            accepted()
            if finished:
                return finished, False
            if force:
                files.remove(files.join(output, "stages"))
            for line in replaced:
                runner.say(line)
            manifest = run_stages(build.stages, runner, plans).account
            mark_finished(output, build.fingerprint)
    return manifest, True


@kept_listings()
def dry_run(
    sources: Sources,
    output: str,
    settings: Settings,
    runner: Runner,
    *,
    force: bool = False,
    named: Named | None = None,
    sample_bytes: int = SAMPLE_BYTES,
) -> Planned:
    """Return what a build would do, and would take, without doing it; the latter from samples of so many bytes."""
    named = named or Named()
    build = Build(sources, output, settings, named.recipe)
    rows = list(source_rows(build.inputs))
    if not force and finished_manifest(output, build.fingerprint):
        return Planned([*rows, ("nothing to do", f"{output} is finished, from these sources and settings")])
    states = list(stage_states(build.stages))
    rows += stage_rows(states, force=force)
    rows += setting_rows(settings.vocab, settings.vocabulary, settings.sentences, settings.phases)
    rows += language_rows(build.inputs, settings, build.segmenter)
    rows += end_rows(output, build.origin, runner, force=force, named=named.settings)
    if reason := unagreed(output, build.origin, named, force=force):
        rows.append(("asks first", f"{output} {reason}; {remedy(output)}"))
    runner.say("estimate: samples of the sources are built in a temporary folder")
    try:
        at_url, sources_of = files.is_remote(output), build.inputs.source_of
        found = estimate_build(
            build.stages_in, build.stages, settings, build.tokenizer, sources_of, at_url, sample_bytes
        )
    except BertDataError as error:
        return Planned(rows, unknown=str(error))
    workers = 0 if runner.flags else runner.workers or cores()
    left = None if force else left_of(found, left_parts(states))
    shown = (runner.workers,) if runner.workers else WORKERS
    return Planned(rows, found, Room.of(output, workers), shown, left=left)


@naming_flags()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; with no sources, build the sample corpus."""
    began = time.monotonic()
    flags = command_line.parse(make_parser(), arguments)
    if flags.json and flags.save_recipe:
        raise ConfigError("--json is for the result of a build, or of --dry-run; leave out --save-recipe, or --json")
    command_line.read_streams(flags)
    sources, settings = settings_of_flags(flags)
    runner = command_line.runner(flags)
    if flags.save_recipe:
        save_settings(flags.save_recipe, settings, flags.model_max_length)
        return 0
    if flags.dry_run:
        planned = dry_run(sources, flags.output, settings, runner, force=flags.force, named=Named.by(flags))
        print(json.dumps(planned.values(), indent=1) if flags.json else planned.text())
        return 0
    named = Named.by(flags)
    manifest, worked = build_corpus(sources, flags.output, settings, runner, force=flags.force, named=named)
    seconds = time.monotonic() - began
    if flags.json:
        print(json.dumps(_result(flags.output, manifest, runner.seconds, seconds, worked=worked), indent=1))
        return 0
    if not worked:
        if not flags.quiet:
            print(f"nothing to do: {flags.output} is finished, from these sources and settings ({seconds:.1f} s)")
        return 0
    print_build(manifest, [("seconds", f"{seconds:.1f}"), *runner.timings()], quiet=flags.quiet)
    if not flags.quiet:
        first = plan_phases(flags.output, settings.phases)[0].output
        print(f"\n{time_text(runner.seconds, seconds)}\nLook at it: bertdata show {first}")
    return 0


def _result(
    output: str, manifest: dict[str, Any], steps: Sequence[tuple[str, float]], seconds: float, *, worked: bool
) -> dict[str, Any]:
    """Return what --json prints: where the build is, whether there was anything to do, the seconds, the manifest."""
    took = {"seconds": round(seconds, 3), "steps": [{"title": name, "seconds": round(one, 3)} for name, one in steps]}
    return {"output": output, "worked": worked, **took, "manifest": manifest}


def time_text(steps: Sequence[tuple[str, float]], seconds: float) -> str:
    """Return a line that says what took the time of a build: the longest steps, and what was between the steps.

    >>> time_text([("clean wikipedia", 6.0), ("train vocabulary", 3.0)], 10.0)
    'Took 10.0 s: clean wikipedia 60%, train vocabulary 30%, start and checks 10%'
    """
    together: dict[str, float] = {}
    for name, one in [*steps, (BETWEEN_STEPS, max(0.0, seconds - sum(one for _, one in steps)))]:
        together[name] = together.get(name, 0.0) + one
    longest = sorted(together, key=lambda name: -together[name])[:_LONGEST]
    shares = [f"{name} {together[name] / max(seconds, 1e-9):.0%}" for name in longest]
    return f"Took {seconds:.1f} s: {', '.join(shares)}"


if __name__ == "__main__":
    command_line.console(main)
