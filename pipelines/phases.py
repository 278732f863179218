"""The phases of a build that flags stand for, and what they read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

from bertdata.cli import command_line
from bertdata.curation.where import OF_ALL, Condition, parse_condition
from bertdata.errors import ConfigError, expected_one_of
from bertdata.masking import MASK_UNITS
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.settings import ExamplesConfig, MixingConfig
from bertdata.options.flags import each_from_flags, from_flags
from bertdata.options.option import require
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.settings import AccountsConfig, SelectionConfig
from bertdata.tokenizers.loading import model_max_length

OF_A_PHASE: dict[str, type[Any]] = {
    "examples": ExamplesConfig,
    "masking": MaskingConfig,
    "mixing": MixingConfig,
    "selection": SelectionConfig,
}
"""The classes of settings that a phase has of its own, by their fields of `PhaseConfig`."""


def add_model_length(parser: argparse.ArgumentParser) -> None:
    """Add --model-max-length."""
    parser.add_argument(
        "--model-max-length",
        type=int,
        default=0,
        metavar="N",
        help="the most tokens of a row that the model takes which the rows are for: longer ones are refused (default: "
        "what the recipe says, else the tokenizer_config.json of --vocab)",
    )


def phases_of(flags: argparse.Namespace) -> tuple[PhaseConfig, ...]:
    """Return the phases that flags stand for: those of a recipe, else one, or one for each of several lengths.

    Flags that were given win over what a phase of the recipe says. --phase names those that are taken. Raises
    ConfigError where there is no phase of such a name.
    """
    phases, chosen = _all_phases(flags), getattr(flags, "phase", [])
    names = [phase.folder for phase in phases]
    if unknown := next((name for name in chosen if name not in names), None):
        raise ConfigError(f"--phase is {unknown!r}{expected_one_of(unknown, names)}")
    return tuple(phase for phase in phases if phase.folder in chosen) if chosen else phases


def _all_phases(flags: argparse.Namespace) -> tuple[PhaseConfig, ...]:
    recipe: Sequence[Mapping[str, Any]] = getattr(flags, "recipe_phases", ())
    if not recipe:
        refuse_unread(flags)
        groups = {name: from_flags(flags, kind) for name, kind in OF_A_PHASE.items() if name != "examples"}
        return tuple(PhaseConfig(examples, **groups) for examples in each_from_flags(flags, ExamplesConfig))
    phases = []
    for values in recipe:
        own = {name: value for name, value in values.items() if name not in flags.named}
        one = argparse.Namespace(**vars(flags) | own)
        refuse_unread(one)
        groups = {name: from_flags(one, kind) for name, kind in OF_A_PHASE.items()}
        phases.append(PhaseConfig(**groups, name=values.get("name", "")))
    return tuple(phases)


def setting_names() -> list[str]:
    """Return the names of the settings that a phase has of its own."""
    return [setting.name for kind in OF_A_PHASE.values() for setting in fields(kind)]


def columns_of(phases: Sequence[PhaseConfig], accounts: AccountsConfig) -> tuple[str, ...]:
    """Return the columns of tables that the selections of phases and accounts read, without those that are made."""
    selected = {name for phase in phases for name in phase.selection.columns} - {*accounts.made}
    return tuple(sorted(selected | {*accounts.columns}))


def conditions_of(phases: Sequence[PhaseConfig], names: Sequence[str]) -> dict[str, tuple[Condition, ...]]:
    """Return the conditions of --where by the sources whose documents they choose, `names` being all of them.

    None of a phase whose documents change their sources by --source-where.
    """
    found: dict[str, dict[str, Condition]] = {}
    for phase in phases:
        selection = phase.selection
        if selection.where and not selection.source_where:
            for name in selection.sources or names:
                found.setdefault(name, {})[selection.where] = parse_condition(selection.where)
    return {name: tuple(conditions.values()) for name, conditions in found.items()}


def require_columns(columns: Sequence[str], tables: Collection[str]) -> None:
    """Raise ConfigError where there are columns to be read and no tables."""
    require(
        not columns or bool(tables),
        f"--where, --source-where or --account names the column {', '.join(map(repr, columns))}, and only --documents "
        f"have such; expected some of {', '.join(OF_ALL)}",
    )


def require_model_length(flags: argparse.Namespace, phases: Sequence[PhaseConfig]) -> None:
    """Raise ConfigError for rows that are longer than the model takes which flags, a recipe or a tokenizer name."""
    length, limit, said = max(phase.examples.max_seq_length for phase in phases), flags.model_max_length, ""
    require(
        isinstance(limit, int) and limit >= 0, f"--model-max-length is {limit!r}; expected 1 or more, or 0: unknown"
    )
    if limit:
        recipe = "" if "model_max_length" in flags.named else getattr(flags, "recipe", "")
        said = f"the recipe {recipe}" if recipe else "--model-max-length"
    elif flags.vocab and (found := model_max_length(flags.vocab)):
        limit, said = found, f"the tokenizer_config.json of {flags.vocab}"
    require(
        not said or length <= limit,
        f"--max-seq-length {length} is over the {limit:,} tokens that the model takes (model_max_length), by {said}; "
        f"give {limit} or less, or --model-max-length {length} if yours takes so many",
    )


def say_defaults(flags: argparse.Namespace) -> None:
    """Print that rows are the default ones, where those of the model that a vocabulary comes from are mostly wanted."""
    named = {"objective", "max_seq_length", "recipe"} & {*flags.named}
    if flags.quiet or named or not flags.vocab or not (length := model_max_length(flags.vocab)):
        return
    print(
        f"rows are the default ones, nsp of 128 tokens; to continue the model of {flags.vocab}, give --objective "
        f"full-sentences --max-seq-length {length} (docs/howto/continue.md)",
        file=sys.stderr,
    )


def refuse_unread(flags: argparse.Namespace) -> None:
    """Raise ConfigError for flags of rows, masks or duplicates that have no effect with the others."""
    unit, objective = flags.mask_unit, flags.objective
    for flag, registry, chosen in (("--mask-unit", MASK_UNITS, unit), ("--objective", OBJECTIVES, objective)):
        readers: dict[str, list[str]] = {}
        for name in dict.fromkeys([*registry, chosen]):
            for setting in registry[name].settings:
                readers.setdefault(setting, []).append(name)
        for setting, names in readers.items():
            why = f"it is for {flag} {' or '.join(names)}, not {chosen}"
            command_line.refuse_unread(flags, [setting], chosen in names, why)
    weights = "--ngram-weights says how many words an n-gram has"
    command_line.refuse_unread(flags, ["max_ngram"], not flags.ngram_weights, weights)
    names = ["masked_lm_prob"]
    if flags.mask_schedule and all("," in point for point in flags.mask_schedule):
        names += ["mask_token_prob", "random_token_prob"]
    command_line.refuse_unread(flags, names, not flags.mask_schedule, "the points of --mask-schedule say it")
    near = flags.dedup == "near"
    command_line.refuse_unread(
        flags, ["dedup_threshold", "dedup_minhash"], near, f"it is for --dedup near, not {flags.dedup}"
    )
    command_line.refuse_unread(
        flags, ["dedup_threshold"], not flags.dedup_minhash, "the buckets of --dedup-minhash say what is alike"
    )
    if hasattr(flags, "dedup_spans"):
        names = ["dedup_spans_min_words", "dedup_spans_words_left", "dedup_spans_sentences_left"]
        which = "it is for --dedup-spans paragraphs or sentences"
        command_line.refuse_unread(flags, names, flags.dedup_spans != "none", which)
        which = f"it is for --dedup-spans sentences, not {flags.dedup_spans}"
        command_line.refuse_unread(flags, names[2:], flags.dedup_spans == "sentences", which)
