"""Command-line flags of settings: one for each field of a dataclass, and settings from parsed flags."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from bertdata.options.option import help_of, require

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Settings = TypeVar("Settings", bound="DataclassInstance")


def add_flags(parser: argparse.ArgumentParser, config: type[Any], *, without: Collection[str] = ()) -> None:
    """Add one flag for each field of a settings class but some; booleans get a `--no-` form.

    The flags are a group of the help, under the first line of the class's docstring.
    """
    title = (config.__doc__ or "").strip().partition("\n")[0].replace("`", "").rstrip(".")
    group = parser.add_argument_group(title)
    for one in fields(config):
        if one.name in without:
            continue
        kind = get_type_hints(config)[one.name]
        shown = help_of(one.metadata) + shown_default(one.default)
        flag = "--" + one.name.replace("_", "-")
        if kind is bool:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, default=one.default, help=shown)
        elif kind == tuple[str, ...]:
            group.add_argument(
                flag, nargs="+", action="extend", default=[], metavar=one.metadata["metavar"], help=shown
            )
        elif one.metadata.get("several"):
            group.add_argument(flag, type=kind, nargs="+", default=one.default, metavar="N", help=shown)
        else:
            group.add_argument(flag, type=kind, default=one.default, choices=one.metadata["choices"], help=shown)


def from_flags(arguments: argparse.Namespace, config: type[Settings]) -> Settings:
    """Make a settings object from parsed flags; raises ConfigError with the reason.

    Of a flag that takes several values it takes the one there is; `each_from_flags` takes them all.
    """
    [settings] = each_from_flags(arguments, config, most=1)
    return settings


def each_from_flags(arguments: argparse.Namespace, config: type[Settings], *, most: int = 0) -> tuple[Settings, ...]:
    """Make a settings object for each value of the flag that has several, in ascending order, or one.

    Raises ConfigError with the reason, also where one value is given twice or there are more than `most` (0: any).
    """
    values: dict[str, Any] = {one.name: getattr(arguments, one.name, one.default) for one in fields(config)}
    for one in fields(config):
        given = values[one.name]
        if isinstance(one.default, tuple):
            values[one.name] = tuple(given)
        elif isinstance(given, list):
            flag = f"--{one.name.replace('_', '-')}"
            shown = " ".join(map(str, given))
            require(len(set(given)) == len(given), f"{flag} {shown} names one value twice; give each once")
            require(not most or len(given) <= most, f"{flag} {shown} has {len(given)} values; expected one here")
            return tuple(config(**(values | {one.name: value})) for value in sorted(given))
    return (config(**values),)


def shown_default(value: object) -> str:
    """Return the text that shows a flag's default after its help; nothing for None and the empty string.

    >>> shown_default(0.1), shown_default(False), shown_default("")
    (' (default: 0.1)', ' (default: no)', '')
    """
    if value is None or value in ("", ()):
        return ""
    return f" (default: {('no', 'yes')[value] if isinstance(value, bool) else value})"
