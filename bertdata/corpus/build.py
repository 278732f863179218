"""A build of sources in an output: what it is made from, its stages, and its run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bertdata import __version__
from bertdata.beam.runner import Runner
from bertdata.corpus.build_tokenizer import load_tokenizer_for
from bertdata.corpus.consent import require_consent
from bertdata.corpus.programs import stages_of
from bertdata.corpus.requests import COMMAND, SAMPLE, Named
from bertdata.corpus.settings import Settings, columns_of, require_columns
from bertdata.curation import CLEANERS, FILTERS
from bertdata.curation.decontamination.stage import test_table
from bertdata.curation.languages import LANGUAGE
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.origin import Origin
from bertdata.engine.output_lock import locked, made_from, refuse_own
from bertdata.engine.run_stages import plan_first, run_stages
from bertdata.engine.stages import Stage
from bertdata.io import files
from bertdata.io.listed import kept_listings
from bertdata.masking import MASK_UNITS
from bertdata.objectives import OBJECTIVES
from bertdata.registry import Registry
from bertdata.sentences.by_language import segmenter_of
from bertdata.shards.contents import finished_manifest, mark_finished
from bertdata.shards.phases import check_names
from bertdata.shards.similar_words import check_table
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.inputs import Sources
from bertdata.sources.kinds import formats_at
from bertdata.sources.labelled.strings import texts_of
from bertdata.sources.text_encodings import check_sources
from bertdata.sources.token_ids import IdsOf


class Build:
    """A build of sources in an output: its stages, its fingerprint and its origin.

    Raises InputError where a path matches nothing, and ConfigError where the settings do not suit the sources.
    """

    def __init__(self, sources: Sources, output: str, settings: Settings, named: Named | None = None) -> None:
        named = named or Named()
        self.inputs, self.output, self.settings = sources.inputs(), output, settings
        self.formats = sources.formats
        for phase in settings.phases:
            phase.check_sources(self.inputs.names())
        check_names(settings.phases)
        self.columns = columns_of(settings.phases, settings.accounts)
        made = [LANGUAGE] if settings.cleaning.language_model else []
        require_columns([name for name in self.columns if name not in made], self.inputs.by_kind["documents"])
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
        stored |= {"vocabulary": None} if vocab else {}
        stored |= {"source_format": list(self.formats)} if self.formats else {}
        stored |= {"recipe": named.recipe} if named.recipe else {}
        paths, sample = self.inputs.paths(), sources == SAMPLE
        self.origin = Origin.of(COMMAND, paths, sources.given(), stored, named.values, sample=sample)

    def stages_in(self, output: str, settings: Settings) -> list[Stage]:
        """Return the stages of the build, also of one with other settings, in another output: those of its page."""
        return stages_of("build_corpus", self, output, settings)

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
        if of_ids := [IdsOf.named(path).sha256 for path in self.settings.cleaning.tokenizers]:
            configs["cleaning"] = {**configs["cleaning"], "source_tokenizer": of_ids}
        column: list[Any] = [text_column] if "documents" in identities and text_column != Sources.text_column else []
        if "documents" in identities and (by_source := self.own_columns.stored()):
            column.append(by_source)
        of_documents = [*column, *([["formats", *self.formats]] if self.formats else [])]
        return fingerprint("build", __version__, configs, identities, *of_documents, *self._outside_revisions())

    def _outside_revisions(self) -> list[list[str | int]]:
        """Return the revisions of what other packages added to registries; what comes with bertdata has its version."""
        paths_of, settings = self.inputs.by_kind, self.settings
        chosen: list[tuple[Registry[Any], list[str]]] = [
            (
                SOURCE_FORMATS,
                sorted(
                    {
                        name
                        for kind, paths in paths_of.items()
                        for name in formats_at(paths, kind, self.formats).values()
                    }
                ),
            ),
            (FILTERS, [text.partition("=")[0] for text in settings.cleaning.filter]),
            (CLEANERS, list(settings.cleaning.clean)),
            (OBJECTIVES, sorted({phase.examples.objective for phase in settings.phases})),
            (
                MASK_UNITS,
                sorted({each.masking.mask_unit for each in settings.phases if each.examples.masking == "static"}),
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
    build = Build(sources, output, settings, named)
    read_by_workers = [*build.inputs.paths(), *filter(None, [settings.cleaning.templates])]
    with runner.checked(output, read_by_workers), locked(output, "build"):
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
