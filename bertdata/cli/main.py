"""The `bertdata` command: finds a subcommand by name and imports only its module.

A subcommand is a module with `add_arguments` and `run`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from bertdata import __version__
from bertdata.cli import COMMANDS, command_line
from bertdata.errors import did_you_mean, naming_flags
from bertdata.io import imports


def main(arguments: Sequence[str]) -> int:
    """Run the `bertdata` command and return its exit code: 1 for a BertDataError; a wrong call raises SystemExit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return command_line.run(lambda: dispatch(arguments))


@naming_flags()
def dispatch(arguments: Sequence[str]) -> int:
    """Run the subcommand that the first argument names; raises BertDataError, and SystemExit for a wrong call."""
    parser = argparse.ArgumentParser(
        prog="bertdata",
        usage="bertdata [--help] [--version] COMMAND ...",
        description="Pretraining data for the BERT family: dumps, books, text in, Arrow shards out.",
        epilog=_commands_text(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"bertdata {__version__}")
    if not arguments:
        parser.error("a command is missing; bertdata --help lists them")
    name = arguments[0]
    if name.startswith("-"):
        parser.parse_args(arguments[:1])
        parser.error(f"the flag {name} is before the command; write it after the command")
    if name not in (*COMMANDS, "help"):
        near = did_you_mean(name.replace("_", "-").lower(), COMMANDS, 0.55)
        parser.error(f"there is no command {name!r}{near}; bertdata --help lists all")
    if name == "help":
        return _explain(parser, arguments[1:])
    code = run_verb(name, arguments[1:])
    sys.stdout.flush()
    return code


def _commands_text() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.help}" for name, command in COMMANDS.items()]
    return "\n".join(["commands:", *lines, "", "bertdata help COMMAND explains one."])


def _explain(parser: argparse.ArgumentParser, names: Sequence[str]) -> int:
    """Print the help of a command as `bertdata COMMAND --help` does, or that of all."""
    if not names:
        parser.print_help()
        return 0
    return dispatch([names[0], *(names[1:] or ["--help"])])


def parser_of(name: str) -> command_line.Parser:
    """Return the parser of a command; raises MissingExtraError where it needs a package that is not there."""
    command = COMMANDS[name]
    module = importlib.import_module(command.module)
    description = getattr(module, "DESCRIPTION", f"{command.help[0].upper()}{command.help[1:]}.")
    parser = command_line.Parser(prog=f"bertdata {name}", description=description)
    module.add_arguments(parser)
    return parser


@naming_flags()
def run_verb(name: str, arguments: Sequence[str]) -> int:
    """Run a subcommand, print its result, and return its exit code; raises as `dispatch`."""
    command = COMMANDS[name]
    if command.stages:
        if imports.is_command:
            imports.leave_threads_to_workers()
            imports.allocate_by_glibc()
        with _workers(arguments, command.module):
            return _run_stages(name, arguments)
    flags = parser_of(name).parse_args(arguments)
    result = importlib.import_module(command.module).run(flags)
    if not isinstance(result, dict):
        return int(result)
    if getattr(flags, "quiet", False):
        return 0
    if getattr(flags, "json", False):
        import json

        print(json.dumps(result, indent=1))
        return 0
    from bertdata.io.console import table

    print(table([(name.replace("_", " "), _text(value)) for name, value in result.items()]))
    return 0


def _run_stages(name: str, arguments: Sequence[str]) -> int:
    """Run a subcommand that runs stages of a build."""
    with imports.collector_paused():
        parser = parser_of(name)
    if imports.is_command:
        imports.collect_seldom()
    result = importlib.import_module(COMMANDS[name].module).run(command_line.parse(parser, arguments))
    return int(result)


def _workers(arguments: Sequence[str], module: str) -> AbstractContextManager[None]:
    """Start the workers beside this process that --workers asks for, unless flags of a runner follow.

    While a command imports its module, so do they; without --workers, the size of the sources says later how many.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--workers", type=int, default=0)
    with contextlib.suppress(argparse.ArgumentError):
        number = parser.parse_known_args(arguments)[0].workers
        if number > 1 and "--" not in arguments:
            from bertdata.engine.processes import started_early

            return started_early(number - 1, [module])
    return contextlib.nullcontext()


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    from bertdata.io.console import figure

    return figure(value) if isinstance(value, float) else str(value)
