"""A build from Python: the settings of `bertdata build` as keywords, also objects and documents that have no name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.beam.runner import Runner
from bertdata.corpus.build import build_corpus
from bertdata.corpus.built_corpus import BuiltCorpus
from bertdata.corpus.requests import Named, columns_of_request, read_streams, request_of, settings_of_request
from bertdata.curation import CLEANERS, FILTERS
from bertdata.engine.own_objects import handed_over_as, name_of
from bertdata.errors import ConfigError
from bertdata.io import paths
from bertdata.masking import MASK_UNITS
from bertdata.objectives import OBJECTIVES
from bertdata.options.option import flag_of
from bertdata.plugins import use_plugins
from bertdata.registry import Registry
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.handed_over import HandedOver, handed_over

KEPT: dict[str, Registry[Any]] = {"objective": OBJECTIVES, "mask_unit": MASK_UNITS}
"""What the shards name, and those who read them look up."""
WHILE_BUILDING: dict[str, Registry[Any]] = {"source_format": SOURCE_FORMATS, "clean": CLEANERS, "filter": FILTERS}


def build(
    output: str | os.PathLike[str] = "corpus",
    *,
    runner_flags: Sequence[str] = (),
    plugins: Sequence[str] = (),
    **settings: Any,
) -> BuiltCorpus:
    """Build shards in `output` as `bertdata build` does, and return them with their manifest.

    settings: the flags of the command, with underscores: `wikipedia`, `books` and `documents` (a path or a list of
    them, or a mapping from names of sources), `vocab`, `recipe` (a name or a file), `mix` (a mapping from source to
    weight), `workers`, `force`, `quiet`, and all settings such as `objective`, `max_seq_length` and `mask_unit`.
    `documents` also takes rows, `clean`, `filter`, `source_format`, `objective` and `mask_unit` objects, the first
    three functions too (docs/python.md). runner_flags: those after `--` on the command line. plugins: modules that may
    be imported where a recipe, or the build that is in `output`, names what they hold. Without sources it builds
    those of the output, or the sample corpus. Progress is shown by tqdm.auto, on standard error. Raises ConfigError for
    a setting that does not exist, does not fit or has no effect, and as the command fails.

        corpus = build("corpus", documents="texts/*.jsonl", objective="sop", max_seq_length=128, workers=4)
        corpus.train[0]["input_ids"], corpus["splits"]["train"]["counts"]["examples"]
    """
    use_plugins(plugins)
    for name in settings.keys() & {"dry_run", "json", "log_format", "save_recipe"}:
        raise ConfigError(f"{flag_of(name)} is for the command line; leave it out: `build` builds")
    others = {name: value for name, value in settings.items() if name != "documents"}
    request = request_of({"output": output} | _named(others))
    request.runner_flags = tuple(runner_flags)
    documents = HandedOver()
    if "documents" in settings:
        documents = handed_over(settings["documents"], paths.path_text(output), columns_of_request(request)[0])
        request.documents, request.named["documents"] = documents.paths, flag_of("documents")
        read_streams(request)
    sources, chosen = settings_of_request(request)
    runner = Runner(request.workers, request.runner_flags, quiet=request.quiet)
    runner.objects = handed_over_as([*sources.formats, *chosen.cleaning.clean, *chosen.cleaning.filter])
    with documents.written(sources.text_column) as keep:
        manifest, _ = build_corpus(
            sources, request.output, chosen, runner, force=request.force, named=Named.by(request), accepted=keep
        )
    return BuiltCorpus(paths.path_text(request.output), manifest)


def _named(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with names in the place of objects; raises ConfigError where one cannot be handed over."""
    named = dict(settings)
    for setting, registry in KEPT.items():
        if setting in named:
            named[setting] = name_of(registry, named[setting], keep=True)
    for setting, registry in WHILE_BUILDING.items():
        given = named.get(setting)
        if isinstance(given, Mapping):
            arguments = {name_of(registry, item): argument for item, argument in given.items()}
            named[setting] = [name if text is None else f"{name}={text}" for name, text in arguments.items()]
        elif isinstance(given, list | tuple):
            named[setting] = [name_of(registry, item) for item in given]
        elif given is not None:
            named[setting] = name_of(registry, given)
    return named
