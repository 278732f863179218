"""The settings of a recipe below those of a request, and the settings of a build as a recipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from bertdata.corpus.phase_requests import phases_of
from bertdata.corpus.settings import GROUPS, OF_A_PHASE, Settings, setting_names
from bertdata.errors import ConfigError, arguments_for_flags, shortened
from bertdata.io import files
from bertdata.options.option import names_code, require
from bertdata.options.recipe import Recipe, read_recipe, recipe_text
from bertdata.options.request import Request, defaults_of, settings_from, value_of_keyword
from bertdata.plugins import is_consented, module_of
from bertdata.shards.phases import PhaseConfig

OF_THE_COMMAND = ("vocab", "text_column", "id_column", "language_column", "source_format", "model_max_length")
"""What a recipe may say of a build, beside the fields of the classes of settings."""


def apply_recipe(request: Request) -> Recipe | None:
    """Set what was not given to what --recipe says.

    Its phases are `request.recipe_phases`, and the names of all that it says `request.named_by_recipe`.
    Returns the recipe. Raises ConfigError, with its file, for a key that is no setting, a value that does not fit, or
    the name of an object in a module that the user has not named (`bertdata.plugins`). Says which such objects run.
    """
    request.recipe_phases, request.named_by_recipe = (), frozenset()
    if not request.recipe:
        return None
    recipe = read_recipe(request.recipe)
    recipe.check_keys([*OF_THE_COMMAND, *_names(GROUPS.values())], setting_names())
    given = request.max_seq_length if "max_seq_length" in request.named else 0
    several = isinstance(given, list) and len(given) > 1
    require(
        not (several and recipe.phases),
        f"--max-seq-length has several values, and {request.recipe} has phases of its own; give one value for all",
    )
    _check_kinds(recipe)
    if code := _check_code(recipe):
        print(f"{recipe.path} runs code of your plugins: {code}", file=sys.stderr)
    settings = _values(recipe.settings)
    phases = tuple({"name": ""} | _values(phase) for phase in recipe.phases)
    _check(recipe, settings, phases)
    for name, value in settings.items():
        if name not in request.named:
            setattr(request, name, value)
    request.recipe_phases = phases
    request.named_by_recipe = frozenset(name for values in (settings, *phases) for name in values)
    return recipe


def _check_kinds(recipe: Recipe) -> None:
    """Raise ConfigError, with its line, for a value that is neither text nor a number, nor a list of these.

    A setting of texts takes an object, too, for NAME=VALUE; which numbers and texts fit, `_check` says.
    """
    declared = {each.name: each for kind in GROUPS.values() for each in fields(kind)}
    for phase, values in enumerate([recipe.settings, *recipe.phases]):
        for key, value in values.items():
            setting = declared.get(key)
            takes_texts = setting is not None and not isinstance(setting.default, str | int | float)
            items = value if isinstance(value, list) else [value]
            if takes_texts and isinstance(value, Mapping):
                items = list(value.values())
            one_text = key == "name" or (setting is not None and isinstance(setting.default, str))
            kinds = str if one_text else str | int | float
            if not all(isinstance(item, kinds) for item in items) or not (items or takes_texts):
                expected = "text" if one_text else "text or a number" + (", or a list of them" if takes_texts else "")
                raise ConfigError(
                    f"line {recipe.line_of(key, phase)}: `{key}` is {shortened(value)}; expected {expected}",
                    path=recipe.path,
                )


def _check_code(recipe: Recipe) -> str:
    """Return the objects of modules that a recipe names, with their lines, as text; "" where it names none.

    Raises ConfigError, with all of them, where the user has not named the module of one.
    """
    readers = {"source_format"} | {each.name for kind in GROUPS.values() for each in fields(kind) if names_code(each)}
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


def _check(recipe: Recipe, settings: Mapping[str, Any], phases: Sequence[Mapping[str, Any]]) -> None:
    """Raise ConfigError, with the file, the line and the key, where the settings do not fit by themselves."""
    defaults = defaults_of(GROUPS.values())
    alone = Request(**{**defaults, **settings})
    alone.named = {name: f"the key {name}" for name, value in settings.items() if value != defaults.get(name)}
    alone.recipe_phases = phases
    try:
        phases_of(alone)
        for name in GROUPS.keys() - OF_A_PHASE.keys():
            settings_from(alone, GROUPS[name])
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
    same = {name: value for name, value in each[0].items() if all(values[name] == value for values in each)}
    differing = [
        {"name": phase.folder} | {name: value for name, value in values.items() if name not in same}
        for phase, values in zip(phases, each, strict=True)
    ]
    text = recipe_text({**settings, **same}, differing if len(phases) > 1 else ())
    files.write_bytes(path, text.encode())


def save_settings(path: str, settings: Settings, length: int) -> None:
    """Write settings as a recipe, with the `length` that rows of the model have at most, and say how to use it."""
    groups = [group for name, group in vars(settings).items() if name in GROUPS]
    trained = settings.vocabulary if settings.vocab else None
    values = {
        setting.name: getattr(group, setting.name)
        for group in groups
        if group is not trained
        for setting in fields(group)
    }
    of_command = {"vocab": settings.vocab, "model_max_length": length}
    save_recipe(path, {name: value for name, value in of_command.items() if value} | values, settings.phases)
    print(f"wrote {path}; build with it: bertdata build --recipe {path} ... --output DIR")


def _values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a table as a command line would have them."""
    defaults = {"text_column": [], "id_column": [], "language_column": [], "source_format": []} | defaults_of(
        GROUPS.values()
    )
    return {name: value_of_keyword(name, value, defaults.get(name)) for name, value in given.items()}


def _names(groups: Iterable[type[Any]]) -> list[str]:
    return [setting.name for kind in groups for setting in fields(kind)]
