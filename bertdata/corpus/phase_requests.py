"""The phases of a build that a request stands for."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.corpus.settings import OF_A_PHASE
from bertdata.errors import ConfigError, expected_one_of
from bertdata.masking import MASK_UNITS
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.option import require
from bertdata.options.request import Request, each_settings_from, settings_from
from bertdata.shards.phases import PhaseConfig
from bertdata.tokenizers.loading import model_max_length


def phases_of(request: Request) -> tuple[PhaseConfig, ...]:
    """Return the phases that a request stands for: those of a recipe, else one, or one for each of several lengths.

    What was given wins over what a phase of the recipe says. --phase names those that are taken. Raises
    ConfigError where there is no phase of such a name.
    """
    phases, chosen = _all_phases(request), getattr(request, "phase", [])
    names = [phase.folder for phase in phases]
    if unknown := next((name for name in chosen if name not in names), None):
        raise ConfigError(f"--phase is {unknown!r}{expected_one_of(unknown, names)}")
    return tuple(phase for phase in phases if phase.folder in chosen) if chosen else phases


def _all_phases(request: Request) -> tuple[PhaseConfig, ...]:
    recipe: Sequence[Mapping[str, Any]] = getattr(request, "recipe_phases", ())
    if not recipe:
        refuse_unread(request)
        groups = {name: settings_from(request, kind) for name, kind in OF_A_PHASE.items() if name != "examples"}
        return tuple(PhaseConfig(examples, **groups) for examples in each_settings_from(request, ExamplesConfig))
    phases = []
    for values in recipe:
        not_given = {name: value for name, value in values.items() if name not in request.named}
        of_phase = Request(**vars(request) | not_given)
        refuse_unread(of_phase)
        groups = {name: settings_from(of_phase, kind) for name, kind in OF_A_PHASE.items()}
        phases.append(PhaseConfig(**groups, name=values.get("name", "")))
    return tuple(phases)


def require_model_length(request: Request, phases: Sequence[PhaseConfig]) -> None:
    """Raise ConfigError for rows that are longer than the model takes which a flag, a recipe or a tokenizer name."""
    length, limit, origin = max(phase.examples.max_seq_length for phase in phases), request.model_max_length, ""
    require(
        isinstance(limit, int) and limit >= 0, f"--model-max-length is {limit!r}; expected 1 or more, or 0: unknown"
    )
    if limit:
        recipe = "" if "model_max_length" in request.named else getattr(request, "recipe", "")
        origin = f"the recipe {recipe}" if recipe else "--model-max-length"
    elif request.vocab and (from_tokenizer := model_max_length(request.vocab)):
        limit, origin = from_tokenizer, f"the tokenizer_config.json of {request.vocab}"
    require(
        not origin or length <= limit,
        f"--max-seq-length {length} is over the {limit:,} tokens that the model takes (model_max_length), by {origin}; "
        f"give {limit} or less, or --model-max-length {length} if yours takes so many",
    )


def say_defaults(request: Request) -> None:
    """Print that rows are the default ones, where those of the model that a vocabulary comes from are mostly wanted."""
    named = {"objective", "max_seq_length", "recipe"} & {*request.named}
    if request.quiet or named or not request.vocab or not (length := model_max_length(request.vocab)):
        return
    print(
        f"rows are the default ones, nsp of 128 tokens; to continue the model of {request.vocab}, give --objective "
        f"full-sentences --max-seq-length {length} (docs/howto/continue.md)",
        file=sys.stderr,
    )


def refuse_unread(request: Request) -> None:
    """Raise ConfigError for flags of rows, masks or duplicates that have no effect with the others."""
    unit, objective = request.mask_unit, request.objective
    for flag, registry, chosen in (("--mask-unit", MASK_UNITS, unit), ("--objective", OBJECTIVES, objective)):
        readers: dict[str, list[str]] = {}
        for name in dict.fromkeys([*registry, chosen]):
            for setting in registry[name].settings:
                readers.setdefault(setting, []).append(name)
        for setting, names in readers.items():
            why = f"it is for {flag} {' or '.join(names)}, not {chosen}"
            request.refuse_unread([setting], chosen in names, why)
    weights = "--ngram-weights says how many words an n-gram has"
    request.refuse_unread(["max_ngram"], not request.ngram_weights, weights)
    names = ["masked_lm_prob"]
    if request.mask_schedule and all("," in point for point in request.mask_schedule):
        names += ["mask_token_prob", "random_token_prob"]
    request.refuse_unread(names, not request.mask_schedule, "the points of --mask-schedule say it")
    near = request.dedup == "near"
    request.refuse_unread(["dedup_threshold", "dedup_minhash"], near, f"it is for --dedup near, not {request.dedup}")
    request.refuse_unread(
        ["dedup_threshold"], not request.dedup_minhash, "the buckets of --dedup-minhash say what is alike"
    )
    if hasattr(request, "dedup_spans"):
        names = ["dedup_spans_min_words", "dedup_spans_words_left", "dedup_spans_sentences_left"]
        which = "it is for --dedup-spans paragraphs or sentences"
        request.refuse_unread(names, request.dedup_spans != "none", which)
        which = f"it is for --dedup-spans sentences, not {request.dedup_spans}"
        request.refuse_unread(names[2:], request.dedup_spans == "sentences", which)
