"""`bertdata completion`: a script by which bash or zsh completes verbs, flags, their values and paths.

The script is made by shtab from the parsers of all verbs and runs no Python when a key is pressed; make it again after
an update. Verbs whose extras are not installed are completed without their flags.
"""

from __future__ import annotations

import argparse
from typing import Any

from bertdata import __version__
from bertdata.errors import MissingExtraError

SHELLS = ("bash", "zsh")
_PATHS = ("PATH", "FILE", "DIR", "DUMP", "BOOK", "SHARDS", "CHECKPOINT", "MODEL")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata completion` to a parser."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that the script is for")


def run(arguments: argparse.Namespace) -> int:
    """Print the script; raises MissingExtraError without shtab."""
    print(script(arguments.shell))
    return 0


def script(shell: str) -> str:
    """Return the script for a shell, bash or zsh; raises MissingExtraError without shtab."""
    try:
        import shtab
    except ImportError as error:
        raise MissingExtraError("shtab", "completion") from error
    text: str = shtab.complete(whole_parser(shtab.FILE), shell)
    return text


def whole_parser(path: Any) -> argparse.ArgumentParser:
    """Return a parser with each verb as a subcommand; `path` is what completes the arguments that are paths."""
    from bertdata.cli import COMMANDS
    from bertdata.cli.main import parser_of

    root = argparse.ArgumentParser(prog="bertdata")
    root.add_argument("--version", action="version", version=__version__)
    verbs = root.add_subparsers()
    for name, command in COMMANDS.items():
        try:
            parents = [parser_of(name)]
        except MissingExtraError:
            parents = []
        verb = verbs.add_parser(name, help=command.help.replace("%", "%%"), parents=parents, add_help=False)
        for action in verb._actions:
            action.help = " ".join(action.help.split()) if action.help else action.help
            given = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
            if not action.choices and given.partition("=")[0].split("|")[-1] in _PATHS:
                action.complete = path  # type: ignore[attr-defined]
    helper = verbs.add_parser("help", help="explain a command", add_help=False)
    helper.add_argument("command", choices=list(COMMANDS))
    return root
