"""Command-line flags of settings: one for each field of a dataclass, and settings from parsed flags."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from bertdata.options.option import flag_of, help_of, limits_text, require

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Config = TypeVar("Config", bound="DataclassInstance")


def add_flags(parser: argparse.ArgumentParser, config: type[Any], *, without: Collection[str] = ()) -> None:
    """Add one flag for each field of a settings class but some; booleans get a `--no-` form.

    The flags are a group of the help, under the first line of the class's docstring.
    """
    title = (config.__doc__ or "").strip().partition("\n")[0].replace("`", "").rstrip(".")
    group = parser.add_argument_group(title)
    for setting in fields(config):
        if setting.name in without:
            continue
        kind, options = get_type_hints(config)[setting.name], setting.metadata
        arguments: dict[str, Any] = {"type": kind, "default": setting.default, "choices": options["choices"]}
        if kind is bool:
            arguments = {"action": argparse.BooleanOptionalAction, "default": setting.default}
        elif kind == tuple[str, ...]:
            arguments = {"nargs": "+", "action": "extend", "default": [], "metavar": options["metavar"]}
        elif options["several"]:
            arguments = {"type": kind, "nargs": "+", "default": setting.default, "metavar": "N"}
        shown = help_of(options) + default_text(setting.default, limits_text(options["limits"]))
        group.add_argument(flag_of(setting.name), help=shown, **arguments)


def from_flags(arguments: argparse.Namespace, config: type[Config]) -> Config:
    """Make a settings object from parsed flags; raises ConfigError, also for several values (see `each_from_flags`)."""
    [settings] = each_from_flags(arguments, config, most=1)
    return settings


def each_from_flags(arguments: argparse.Namespace, config: type[Config], *, most: int = 0) -> tuple[Config, ...]:
    """Make a settings object for each value of the flag that has several, in ascending order, or one object.

    Raises ConfigError also where a value is given twice, or there are more than `most` (0: any number).
    """
    values: dict[str, Any] = {each.name: getattr(arguments, each.name, each.default) for each in fields(config)}
    for setting in fields(config):
        given = values[setting.name]
        if isinstance(setting.default, tuple):
            values[setting.name] = tuple(given)
        elif isinstance(given, list):
            flag, text = flag_of(setting.name), " ".join(map(str, given))
            require(len(set(given)) == len(given), f"{flag} {text} has a value twice; give each once")
            require(not most or len(given) <= most, f"{flag} {text} has {len(given)} values; expected one")
            return tuple(config(**(values | {setting.name: value})) for value in sorted(given))
    return (config(**values),)


def default_text(value: object, limits: str = "") -> str:
    """Return what the help of a flag ends with: the limits, and the default unless it is None, "" or ().

    >>> default_text(0.1, "0 to 1"), default_text(False), default_text("")
    (' (0 to 1; default: 0.1)', ' (default: no)', '')
    """
    if value is None or value in ("", ()):
        return ""
    default = ("no", "yes")[value] if isinstance(value, bool) else value
    return f" ({limits}{'; ' if limits else ''}default: {default})"
