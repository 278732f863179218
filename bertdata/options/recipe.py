"""Recipes: TOML files that say the settings of a build, of all of its phases.

    title = "BERT: rows of 128 tokens, then of 512"      # what it is; cites, exact and differs are lists of sentences
    vocab_size = 30_000                                   # settings, by the names of their flags with underscores
    objective = "nsp"

    [[phase]]                                             # one table for each phase, in the order of training
    name = "128"
    max_seq_length = 128

What stands in a phase wins over what stands at the top. Files of sources are not part of a recipe. Those that ship with
bertdata are in the folder `recipes`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bertdata.errors import ConfigError, did_you_mean, parse_problem
from bertdata.io import files, listing
from bertdata.io.package_data import shipped

FOLDER = shipped("recipes")
ABOUT = ("title", "cites", "exact", "differs")
"""The keys that describe a recipe: a line, where it is published, what of it is kept exactly, and what is not."""
_PHASE, _NAME = "phase", "name"


@dataclass(frozen=True)
class Recipe:
    """A recipe: where it is, its description, the settings of all phases, and those of each phase with its name."""

    path: str
    text: str
    about: Mapping[str, Any]
    settings: Mapping[str, Any]
    phases: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def title(self) -> str:
        """One line that says what it is."""
        return str(self.about.get("title", ""))

    def check_keys(self, settings: Collection[str], of_phases: Collection[str]) -> None:
        """Raise ConfigError, with the line and the nearest name, for a key that is not a setting."""
        for number, values in enumerate([self.settings, *self.phases]):
            allowed = {*of_phases, _NAME} if number else {*settings}
            for key in values:
                if key not in allowed:
                    hint = did_you_mean(key, allowed)
                    where = f"there is no setting {key!r}" + (" of a phase" if number else "")
                    if number and key in settings:
                        hint = "; it is the same for all phases: write it above the first [[phase]]"
                    raise ConfigError(f"line {self.line_of(key, number)}: {where}{hint}", path=self.path)

    def line_of(self, key: str, phase: int = 0) -> int:
        """Return the line of a key, counted from 1, at the top (0) or in one of the phases, counted from 1."""
        phases_begun = 0
        for number, line in enumerate(self.text.splitlines(), 1):
            if re.match(r"\s*\[\[\s*phase\s*\]\]", line):
                phases_begun += 1
            elif phases_begun == phase and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
                return number
        return 1

    def line_of_message(self, message: str) -> int:
        """Return the line of the first key that a message names, or 0 where it names none or one that stands twice."""
        tables = [self.settings, *self.phases]
        for word in re.findall(r"\w+", message):
            lines = [self.line_of(word, number) for number, values in enumerate(tables) if word in values]
            if lines:
                return lines[0] if len(lines) == 1 else 0
        return 0


def recipe_names() -> list[str]:
    """Return the names of the recipes that ship with bertdata."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_recipe(name: str) -> Recipe:
    """Read a recipe, by the name of one that ships with bertdata, or the path or URL of a file.

    Raises ConfigError where there is none, or it is not TOML, or its tables are not as expected.
    """
    names = recipe_names()
    path = str(FOLDER / f"{name}.toml") if name in names else name
    if not files.exists(path) or (name not in names and not name.endswith(".toml")):
        if name.endswith(".toml"):
            place = files.name(name)
            beside = [
                file_name for file_name in listing.names(name.removesuffix(place) or ".") if file_name.endswith(".toml")
            ]
            remedy = (
                did_you_mean(place, beside) or "; check the path, or give one of those that `bertdata recipes` lists"
            )
            raise ConfigError(f"there is no recipe in {name!r}: no such file{remedy}")
        hint = did_you_mean(name, names).strip(", ")
        hint = f"{hint} There are" if hint else "expected a file that ends in .toml, or one of"
        raise ConfigError(f"there is no recipe {name!r}; {hint} {', '.join(names)}")
    try:
        with files.open_raw(path) as raw:
            text = raw.read().decode()
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"is not TOML ({parse_problem(error)}); expected settings as `vocab_size = 30_000`", path=path
        ) from error
    phases = values.pop(_PHASE, [])
    if not isinstance(phases, list) or not all(isinstance(phase, dict) for phase in phases):
        raise ConfigError("`phase` is not a list of tables; write [[phase]] above the settings of each", path=path)
    about = {key: values.pop(key) for key in ABOUT if key in values}
    for key, value in about.items():
        if not (isinstance(value, str) if key == "title" else isinstance(value, list)):
            raise ConfigError(f"`{key}` is {value!r}; expected {'a line' if key == 'title' else 'a list'}", path=path)
    return Recipe(path, text, about, values, tuple(phases))


def recipe_text(settings: Mapping[str, Any], phases: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return a recipe as TOML.

    >>> print(recipe_text({"vocab_size": 30_000, "pack": True}, [{"name": "a", "mix": ("web=1",)}]), end="")
    vocab_size = 30000
    pack = true
    <BLANKLINE>
    [[phase]]
    name = "a"
    mix = ["web=1"]
    """
    lines = [f"{key} = {_toml(value)}" for key, value in settings.items()]
    for phase in phases:
        lines += ["", "[[phase]]", *(f"{key} = {_toml(value)}" for key, value in phase.items())]
    return "\n".join([*lines, ""])


def _toml(value: Any) -> str:
    """Return a value in TOML: strings and lists are written as in JSON, except DEL."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value).replace("\x7f", "\\u007f")
