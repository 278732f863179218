"""The estimate of a build: its stages, run on samples of its sources in a temporary folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace

from bertdata.corpus.estimate.estimate import estimate
from bertdata.corpus.estimate.figures import Asked, Estimate
from bertdata.corpus.estimate.sample import SAMPLE_BYTES, BeginningsOf, Sample, run_sample
from bertdata.corpus.settings import Settings
from bertdata.corpus.shared_rows import same_rows
from bertdata.corpus.write_shards import CheckDocuments
from bertdata.engine.run_stages import job_titles, plan_first
from bertdata.engine.stages import Stage
from bertdata.errors import InputError
from bertdata.objectives.settings import MixingConfig
from bertdata.shards.phases import PhaseConfig
from bertdata.sources.stage import ReadSource
from bertdata.tokenizers.base import Tokenizer

MakeStages = Callable[[str, Settings], Sequence[Stage]]
"""Returns the stages of a build in an output, by its settings."""


def sample_stages(make: MakeStages, settings: Settings, sampler: BeginningsOf) -> Sample:
    """Build samples of the sources; each phase has its text once, whatever its mixture, and nothing is dropped."""
    once = replace(settings, phases=_once(settings), cleaning=replace(settings.cleaning, rejects=""))
    stages = make(os.path.join(sampler.folder, "build"), once)
    read = [replace(stage, sampler=sampler) if isinstance(stage, ReadSource) else stage for stage in stages]
    try:
        return run_sample([stage for stage in read if not isinstance(stage, CheckDocuments)], sampler.groups)
    except InputError as error:
        raise InputError(sampler.naming_files(str(error))) from error


def _once(settings: Settings) -> tuple[PhaseConfig, ...]:
    """Return the phases, each with its text once, whatever its mixture."""
    return tuple(
        replace(phase, examples=replace(phase.examples, dupe_factor=1), mixing=MixingConfig())
        for phase in settings.phases
    )


def estimate_build(
    make: MakeStages,
    stages: Sequence[Stage],
    settings: Settings,
    tokenizer: Tokenizer | None,
    source_of: dict[str, str],
    at_url: bool,
    sample_bytes: int = SAMPLE_BYTES,
) -> Estimate:
    """Return what a build with these stages would take; `make` makes them for another output and settings.

    tokenizer: None where the build trains its vocabulary; at_url: whether the output is at a URL;
    sample_bytes: those of each sample, as stored. Raises the errors of reading the samples.
    """
    with tempfile.TemporaryDirectory(prefix="bertdata-estimate-") as folder:
        sample = sample_stages(make, settings, BeginningsOf(folder, sample_bytes=sample_bytes))
    asked = Asked(
        phases=settings.phases,
        sharding=settings.sharding,
        tokenizer=model_of(tokenizer) if tokenizer else settings.vocabulary.model,
        trained=tokenizer is None,
        max_words=settings.vocabulary.max_words,
        vocab_size=settings.vocabulary.vocab_size,
        dedup=settings.dedup.dedup,
        dedup_spans=settings.dedup_spans.dedup_spans,
        template_pages=settings.cleaning.template_pages,
        source_of=source_of,
        jobs=job_titles(stages, plan_first(stages)),
        at_url=at_url,
        sampled_as=same_rows(_once(settings)),
    )
    return estimate(sample, asked)


def model_of(tokenizer: Tokenizer) -> str:
    """Return the model of a tokenizer, as `wordpiece`; "tokenizers" where texts go through that package."""
    if tokenizer.slow_because:
        return "tokenizers"
    model = tokenizer.identity().get("model")
    return str(model["type"]).lower() if isinstance(model, dict) and "type" in model else "wordpiece"
