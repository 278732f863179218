"""What a build would do, as a table: the sources, the state of each stage, changes since the last run, an estimate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from bertdata.beam.runner import Runner
from bertdata.corpus.build import Build
from bertdata.corpus.consent import remedy, unagreed
from bertdata.corpus.estimate.build_estimate import estimate_build
from bertdata.corpus.estimate.figures import Estimate
from bertdata.corpus.estimate.left import left_of, left_parts
from bertdata.corpus.estimate.sample import SAMPLE_BYTES
from bertdata.corpus.estimate.shown import WORKERS, Room, estimate_rows, estimate_values
from bertdata.corpus.requests import Named
from bertdata.corpus.settings import Settings, choices_of
from bertdata.corpus.warnings import of_languages, of_not_served
from bertdata.engine.origin import Origin, changes, refusal
from bertdata.engine.run_stages import State, stage_states
from bertdata.errors import BertDataError
from bertdata.io import files
from bertdata.io.console import Row, counted, largest, table
from bertdata.io.listed import kept_listings
from bertdata.io.machine import cores
from bertdata.objectives.objective import find_objective
from bertdata.sentences.by_language import Segmenter, not_served
from bertdata.sentences.languages import code_of
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.contents import finished_manifest
from bertdata.shards.phases import PhaseConfig
from bertdata.sources.inputs import Inputs, Sources
from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo
from bertdata.tokenizers.settings import VocabularyConfig


@dataclass(frozen=True)
class Planned:
    """What a build would do, and the estimate of what it would take; `unknown` says why there is none.

    left: what of it is left to do, where some parts are there already.
    """

    rows: Sequence[Row]
    estimate: Estimate | None = None
    room: Room | None = None
    workers: Sequence[int] = WORKERS
    unknown: str = ""
    left: Estimate | None = None

    def text(self) -> str:
        """Return it as a table, and the estimate as another one below it."""
        more: list[Row] = []
        if self.estimate and self.room:
            more = list(estimate_rows(self.estimate, self.room, self.workers, self.left))
        elif self.unknown:
            more = [("estimate", f"not known: {self.unknown}")]
        return "\n\n".join(table(list(rows)) for rows in (self.rows, more) if rows)

    def values(self) -> dict[str, Any]:
        """Return it as JSON-like values."""
        values: dict[str, Any] = {"plan": [list(row) for row in self.rows], "estimate": None}
        if self.estimate and self.room:
            values["estimate"] = estimate_values(self.estimate, self.room, self.workers, self.left)
        return values | ({"unknown": self.unknown} if self.unknown else {})


def source_rows(inputs: Inputs) -> Iterator[Row]:
    """Yield a row for each source, its files and their bytes; over 30 are the largest 30, and the others together."""
    sizes: dict[str, list[int]] = {name: [] for name in inputs.names()}
    for path, name in inputs.source_of.items():
        sizes[name].append(files.size(path))
    largest_names, others = largest({name: sum(of_files) for name, of_files in sizes.items()})
    rows = {name: sizes[name] for name in largest_names}
    if others:
        rows[f"{counted(len(others), 'smaller source')}"] = [size for name in others for size in sizes[name]]
    for name, of_files in rows.items():
        yield name, f"{counted(len(of_files), 'file')}, {sum(of_files):,} bytes"


def stage_rows(all_states: Iterable[State], *, force: bool = False) -> Iterator[Row]:
    """Yield a row for each step of a build: the number of its parts, and how many are kept or made (again).

    With `force` no part counts as done.
    """
    for title, group in groupby(all_states, lambda state: state.title):
        states = list(group)
        if not all(state.is_known for state in states):
            yield title, "known once those before it are done"
            continue
        done, stale, missing = (sum(getattr(state, name) for state in states) for name in ("done", "stale", "missing"))
        text = counted(done + stale + missing, "part" if states[0].unit == "B" else states[0].unit)
        numbers = [
            (done, "kept"),
            (stale, "to be made again: what they are made from changed"),
            (missing, "to be made"),
        ]
        if force and done + stale:
            text += ": all to be made again"
        elif done + stale:
            text += ": " + ", ".join(f"{number:,} {what}" for number, what in numbers if number)
        yield title, text
        yield from (("  note", note) for state in states for note in state.notes)


def language_rows(inputs: Inputs, settings: Settings, segmenter: Segmenter) -> Iterator[Row]:
    """Yield a warning where the dumps are of another language than the sentence parameters, by their bytes."""
    if not any(find_objective(phase.examples.objective).by_sentences for phase in settings.phases):
        return
    sizes: Counter[str] = Counter()
    sentences, choices = settings.sentences, replace(choices_of(settings), dumps=True)
    for path, source in inputs.by_kind["wikipedia"].items():
        if language := settings.cleaning.language_of(source) or read_siteinfo(path).content_language:
            sizes[language] += files.size(path)
    warnings = of_languages(sizes, code_of(sentences.sentences), choices)
    if sentences.goes_by_language:
        warnings = of_not_served(not_served(segmenter, sizes), sum(sizes.values()), choices)
    for warning in warnings:
        yield "warning", f"{warning['found']}: {warning['remedy']}"


def end_rows(
    output: str, origin: Origin, runner: Runner, *, force: bool = False, named: Collection[str] | None = None
) -> Iterator[Row]:
    """Yield the changes since the last run in the output, whether these are refused, and where the build runs."""
    yield from changes(output, origin)
    if (refused := refusal(output, origin, named)) and not force:
        yield "refused", f"{output} {refused}"
    yield "runs on", " ".join(runner.flags) or f"{runner.workers or f'up to {cores()}'} workers here"


def setting_rows(
    vocab: str | None, vocabulary: VocabularyConfig, sentences: SentencesConfig, phases: Sequence[PhaseConfig]
) -> Iterator[Row]:
    """Yield rows for the vocabulary, the sentence parameters, and what each phase has of its own."""
    yield "vocabulary", vocab or f"trained, {vocabulary.vocab_size:,} tokens by {vocabulary.method}"
    yield "sentences", ", ".join([f"Punkt, {sentences.sentences}", *sentences.sentences_of])
    for phase in phases:
        examples, mixing, selection = phase.examples, phase.mixing, phase.selection
        if len(phases) > 1:
            yield f"phase {phase.folder}", ""
        yield (
            "examples",
            f"{examples.objective}, {examples.masking} masking, {examples.max_seq_length} tokens, "
            f"dupe factor {examples.dupe_factor}, seed {examples.seed}",
        )
        if selection.sources:
            yield "sources", ", ".join(selection.sources)
        if selection.where:
            yield "where", selection.where
        yield from (("source where", condition) for condition in selection.source_where)
        if mixing.mix:
            yield "mix", ", ".join(f"{name} {weight:g}" for name, weight in mixing.weights.items())
        if mixing.mix_temperature:
            yield "mix", f"by size to the power {mixing.mix_temperature:g}"
        if mixing.train_tokens:
            yield "train", f"{counted(mixing.train_tokens, 'token')}"
        if mixing.train_epochs:
            yield "train", f"{mixing.train_epochs:g} epochs of its text"
        if examples.bin_size or examples.pack:
            yield "rows", "packed" if examples.pack else f"in length bins of {examples.bin_size} tokens"


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
    """Return what a build would do, and would take, without doing it; the latter from samples of so many bytes.

    Raises ConfigError where a build would not start: with wrong settings, or too little memory (`ulimit -v`).
    """
    named = named or Named()
    build = Build(sources, output, settings, named)
    runner.require_memory()
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
        estimate = estimate_build(
            build.stages_in, build.stages, settings, build.tokenizer, sources_of, at_url, sample_bytes
        )
    except BertDataError as error:
        return Planned(rows, unknown=str(error))
    workers = 0 if runner.flags else runner.workers or cores()
    remaining = None if force else left_of(estimate, left_parts(states))
    worker_counts = (runner.workers,) if runner.workers else WORKERS
    return Planned(rows, estimate, Room.of(output, workers), worker_counts, left=remaining)
