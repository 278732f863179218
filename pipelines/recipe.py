"""The settings of a recipe below the flags of a command line, and a command line as a recipe."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from bertdata.cli import command_line
from bertdata.errors import ConfigError, arguments_for_flags
from bertdata.io import files
from bertdata.options.flags import from_flags
from bertdata.options.option import require
from bertdata.options.recipe import Recipe, read_recipe, recipe_names, recipe_text
from bertdata.plugins import consent_to, is_consented, module_of
from bertdata.shards.phases import PhaseConfig

from .phases import OF_A_PHASE, phases_of, setting_names

OF_THE_COMMAND = ("vocab", "text_column", "id_column", "source_format", "model_max_length")
"""The flags of a build that a recipe may say, beside the fields of the classes of settings."""


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Add --recipe, --phase and --save-recipe."""
    parser.add_argument(
        "--recipe",
        metavar="NAME|FILE",
        help="take the settings of a recipe, but those that are given here: a .toml file, or one of "
        + ", ".join(recipe_names()),
    )
    parser.add_argument(
        "--phase",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="build these phases of the recipe, or of several lengths, alone; one is built in --output itself",
    )
    parser.add_argument(
        "--save-recipe", metavar="FILE", help="write the settings of this command as a recipe, and stop"
    )


def apply_recipe(
    flags: argparse.Namespace, parser: argparse.ArgumentParser, groups: Mapping[str, type[Any]]
) -> Recipe | None:
    """Set the flags that were not given to what --recipe says; `groups` are the classes of settings.

    Its phases are `flags.recipe_phases`, and the names of all that it says `flags.named_by_recipe`.
    Returns the recipe. Raises ConfigError, with its file, for a key that is no setting, a value that does not fit, or
    the name of an object in a module that the user has not named (`bertdata.plugins`). Says which such objects run.
    """
    flags.recipe_phases, flags.named_by_recipe = (), frozenset()
    if not flags.recipe:
        return None
    recipe = read_recipe(flags.recipe)
    recipe.check_keys([*OF_THE_COMMAND, *_names(groups.values())], setting_names())
    given = flags.max_seq_length if "max_seq_length" in flags.named else 0
    several = isinstance(given, list) and len(given) > 1
    require(
        not (several and recipe.phases),
        f"--max-seq-length has several values, and {flags.recipe} has phases of its own; give one value for all",
    )
    if code := _check_code(recipe, parser):
        print(f"{recipe.path} runs code of your plugins: {code}", file=sys.stderr)
    settings = _values(parser, recipe.settings)
    phases = tuple({"name": ""} | _values(parser, phase) for phase in recipe.phases)
    _check(recipe, parser, settings, phases, groups)
    for name, value in settings.items():
        if name not in flags.named:
            setattr(flags, name, value)
    flags.recipe_phases = phases
    flags.named_by_recipe = frozenset(name for values in (settings, *phases) for name in values)
    return recipe


def _check_code(recipe: Recipe, parser: argparse.ArgumentParser) -> str:
    """Return the objects of modules that a recipe names, with their lines, as text; "" where it names none.

    Raises ConfigError, with all of them, where the user has not named the module of one.
    """
    readers = {action.dest for action in parser._actions if action.type is consent_to}
    places, refused = [], {}
    for phase, values in enumerate([recipe.settings, *recipe.phases]):
        for key in values.keys() & readers:
            named = values[key] if isinstance(values[key], list) else [values[key]]
            for name in named:
                if isinstance(name, str) and (module := module_of(name)):
                    places.append((recipe.line_of(key, phase), f"{key} = {name}"))
                    if not is_consented(module):
                        refused[module] = name
    text = ", ".join(f"{named} (line {line})" for line, named in sorted(places))
    if refused:
        flags = " ".join(f"--plugin {module}" for module in refused)
        raise ConfigError(
            f"names code that a build runs, which bertdata does not import from a recipe unasked: {text}; if you trust "
            f"whoever wrote it, add {flags}, or set BERTDATA_PLUGINS={','.join(refused)}",
            path=recipe.path,
        )
    return text


def _check(
    recipe: Recipe,
    parser: argparse.ArgumentParser,
    settings: Mapping[str, Any],
    phases: Sequence[Mapping[str, Any]],
    groups: Mapping[str, type[Any]],
) -> None:
    """Raise ConfigError, with the file, the line and the key, where the settings do not fit without any flags."""
    alone = argparse.Namespace(**{**vars(parser.parse_args([])), **settings})
    defaults = vars(parser.parse_args([]))
    alone.named = {name: f"the key {name}" for name, value in settings.items() if value != defaults.get(name)}
    alone.recipe_phases = phases
    try:
        phases_of(alone)
        for name in groups.keys() - OF_A_PHASE.keys():
            from_flags(alone, groups[name])
    except ConfigError as error:
        message = arguments_for_flags(str(error))
        line = recipe.line_of_message(message)
        raise ConfigError(f"line {line}: {message}" if line else message, path=recipe.path) from error


def save_recipe(path: str, settings: Mapping[str, Any], phases: Sequence[PhaseConfig]) -> None:
    """Write settings and phases as a recipe: what all phases have in common stands at the top.

    Raises ConfigError for a path that does not end in .toml.
    """
    require(path.endswith(".toml"), f"--save-recipe {path} does not end in .toml; give a file as my-corpus.toml")
    each = [
        {
            setting.name: getattr(getattr(phase, group), setting.name)
            for group, kind in OF_A_PHASE.items()
            for setting in fields(kind)
        }
        for phase in phases
    ]
    same = {name: value for name, value in each[0].items() if all(one[name] == value for one in each)}
    own = [
        {"name": phase.folder} | {name: value for name, value in one.items() if name not in same}
        for phase, one in zip(phases, each, strict=True)
    ]
    text = recipe_text({**settings, **same}, own if len(phases) > 1 else ())
    files.write_bytes(path, text.encode())


def _values(parser: argparse.ArgumentParser, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a table as flags would have them."""
    actions = {action.dest: action for action in parser._actions}
    return {
        name: command_line.flag_value(actions[name], value) if name in actions else value
        for name, value in given.items()
    }


def _names(groups: Iterable[type[Any]]) -> list[str]:
    return [setting.name for kind in groups for setting in fields(kind)]
