"""Command-line flags of settings: one for each field of a dataclass."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import Field, fields
from typing import Any, get_type_hints

from bertdata.io import log
from bertdata.options.option import flag_of, limits_text, names_code
from bertdata.plugins import consent_to
from bertdata.registry import Registry


def add_flags(parser: argparse.ArgumentParser, config: type[Any], *, without: Collection[str] = ()) -> None:
    """Add one flag for each field of a settings class but some; booleans get a `--no-` form.

    The flags are a group of the help, under the first line of the class's docstring.
    """
    title = (config.__doc__ or "").strip().partition("\n")[0].replace("`", "").rstrip(".")
    group = parser.add_argument_group(title)
    kinds = get_type_hints(config)
    for setting in fields(config):
        if setting.name in without:
            continue
        kind, options = kinds[setting.name], setting.metadata
        read = consent_to if names_code(setting) else kind
        arguments: dict[str, Any] = {"type": read, "default": setting.default, "choices": options["choices"]}
        if kind is bool:
            arguments = {"action": argparse.BooleanOptionalAction, "default": setting.default}
        elif kind == tuple[str, ...]:
            arguments = {"nargs": "+", "action": "extend", "default": [], "metavar": options["metavar"]}
            arguments["type"] = consent_to if names_code(setting) else str
        elif options["several"]:
            arguments = {"type": kind, "nargs": "+", "default": setting.default, "metavar": "N"}
        group.add_argument(flag_of(setting.name), help=help_text(setting), **arguments)


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add --quiet."""
    text = "show no progress and no summary: only warnings and errors"
    parser.add_argument("--quiet", action="store_true", help=text)


def add_logging(parser: argparse.ArgumentParser) -> None:
    """Add --quiet and --log-format, of a command that shows progress."""
    add_quiet(parser)
    add_log_format(parser)


def add_log_format(parser: argparse.ArgumentParser) -> None:
    """Add --log-format."""
    parser.add_argument(
        "--log-format",
        choices=log.FORMATS,
        default=log.TEXT,
        help="form of progress and messages on standard error; json: one event in a line, for programs (default: text)",
    )


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Add --dry-run, of a command that trains."""
    text = "say what the run would do, and how long it takes at least; no step is taken, and nothing is written"
    parser.add_argument("--dry-run", action="store_true", help=text)


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Add --cache and --cache-bytes, of a command that streams shards."""
    text = "stream the shards of a URL through this folder on a fast disk, instead of a copy of all of them"
    parser.add_argument("--cache", metavar="FOLDER", help=text)
    parser.add_argument("--cache-bytes", type=float, metavar="BYTES", help="most bytes that --cache may hold, as 200e9")


def add_json(parser: argparse.ArgumentParser, what: str = "the result") -> None:
    """Add --json."""
    text = f"print {what} as JSON to standard output, and nothing else there"
    parser.add_argument("--json", action="store_true", help=text)


def help_text(setting: Field[Any]) -> str:
    """Return the help of a setting, with a list of its registry's names, its limits, and its default if it has one.

    >>> from bertdata.options.option import option
    >>> help_text(option(0.1, "share of the rows", at_least=0, at_most=1)), help_text(option("", "a folder"))
    ('share of the rows (0 to 1; default: 0.1)', 'a folder')
    """
    options, default = setting.metadata, setting.default
    text, names, limits = options["help"], options["items"] or options["choices"], limits_text(options["limits"])
    if isinstance(names, Registry):
        text += ".\n" + "\n".join(f"- {name}: {names[name].help}" for name in names)
    if default is None or default in ("", ()):
        return str(text)
    default_text = ("no", "yes")[default] if isinstance(default, bool) else default
    text += "\n" if isinstance(names, Registry) else " "
    return f"{text}({limits}{'; ' if limits else ''}default: {default_text})"
