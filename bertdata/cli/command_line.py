"""What all commands of bertdata share: flags, runner flags after `--`, errors in one line, exit codes."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from bertdata.cli.interrupts import ending, exit_at_once, interrupt_of, raise_at_sigterm
from bertdata.errors import (
    BertDataError,
    JobNotRun,
    MissingExtraError,
    expected_one_of,
    nearest,
    printable,
)
from bertdata.io import log, paths
from bertdata.io.os_errors import limit_of
from bertdata.options.flags import add_logging
from bertdata.options.request import Request
from bertdata.plugins import use_plugins

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from bertdata.beam.runner import Runner
    from bertdata.engine.stages import BuildState, Stage

VOCABULARY = (
    "a folder (also a build), a vocab.txt, a tokenizer.json, a SentencePiece .model, or by name bertdata-30k-uncased, "
    "bertdata-30k-cased or bertdata-32k-bpe"
)
"""What --vocab takes."""


FREE_TEXT = "TEXT"
"""What flags call a value that is no path, whatever it looks like."""
_LONGEST_CHOICES = 48
"""Characters of choices in braces; longer ones are in the text of a flag alone."""


class HelpFormatter(argparse.HelpFormatter):
    """The help of argparse, without line breaks at the hyphens of words such as doc-sentences, in the given width.

    A line of a text that begins with "- " is an item of a list.
    """

    def start_section(self, heading: str | None) -> None:
        """Begin a section; a long heading is wrapped."""
        super().start_section(heading and "\n".join(self._split_lines(heading, self._width - 1)))

    def _metavar_formatter(self, action: argparse.Action, default_metavar: str) -> Callable[[int], tuple[str, ...]]:
        named = super()._metavar_formatter(action, default_metavar)
        is_long = not action.metavar and action.choices and len(named(1)[0]) > _LONGEST_CHOICES
        return (lambda size: ("NAME",) * size) if is_long else named

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = []
        for part in text.split("\n"):
            hanging = "  " if part.startswith("- ") else ""
            plain = " ".join(part.split())
            lines += textwrap.wrap(
                plain, width, subsequent_indent=hanging, break_on_hyphens=False, break_long_words=False
            )
        return lines

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return textwrap.indent("\n".join(self._split_lines(text, width - len(indent))), indent)


class _Help(argparse.Action):
    """Prints the help of one screen, or with --help-all that of all flags, and ends the process."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, **options)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Print the help."""
        del namespace, values
        from bertdata.cli.verb_help import long_help, short_help

        verb = parser.prog.partition(" ")[2]
        print(long_help(parser, verb) if option == "--help-all" else short_help(parser, verb), end="")
        parser.exit(0)


class Parser(argparse.ArgumentParser):
    """An argument parser that takes no abbreviations, and reports a wrong call in one line."""

    def __init__(self, **options: Any) -> None:
        given = {"allow_abbrev": False, "formatter_class": HelpFormatter, "add_help": False, **options}
        super().__init__(**given)
        self.add_argument("-h", "--help", action=_Help, help="show the common flags and examples, and exit")
        self.add_argument("--help-all", action=_Help, help="show all flags, and exit")
        self.add_argument(
            "--plugin",
            action="append",
            default=[],
            metavar="MODULE",
            help="import and run this module: it registers objects, or a recipe or a build names its objects as "
            "module:name (repeat the flag for several modules)",
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, once the modules of --plugin are imported, which other arguments may name."""
        given = sys.argv[1:] if args is None else list(args)
        self._use_log_format(given)
        if any(argument.partition("=")[0] == "--plugin" for argument in given):
            first = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
            first.add_argument("--plugin", action="append", default=[])
            with contextlib.suppress(argparse.ArgumentError):  # which the other parser reports
                use_plugins(first.parse_known_args(given)[0].plugin)
        flags, others = super().parse_known_args(given, namespace)
        for action in self._actions:
            if action.metavar != FREE_TEXT and isinstance(value := getattr(flags, action.dest, None), str | list):
                setattr(flags, action.dest, _as_given(value))
        return flags, others

    def _use_log_format(self, given: Sequence[str]) -> None:
        """Log as --log-format says before anything is parsed: a wrong call is an event, too."""
        if "--log-format" in self._option_string_actions:
            first = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
            first.add_argument("--log-format", default=self.get_default("log_format"))
            with contextlib.suppress(argparse.ArgumentError):  # which the other parser reports
                log.use(first.parse_known_args(given)[0].log_format)

    def error(self, message: str) -> NoReturn:
        """End the process with code 2."""
        unknown = re.match(r"unrecognized arguments: (--[^\s=]+)", message)
        if unknown:
            flags = list(self._option_string_actions)
            near = next((flag for flag in flags if flag.startswith(unknown[1])), "") or nearest(unknown[1], flags)
            message = f"there is no {unknown[1]}" + (f", did you mean {near}?" if near else "")
        choice = re.match(r"argument (--[^\s/:]++)[^:]*+: invalid choice: '(.*?)' \(choose from", message)
        if choice:
            choices = self._option_string_actions[choice[1]].choices or ()
            message = f"{choice[1]} is {choice[2]!r}{expected_one_of(choice[2], map(str, choices))}"
        number = re.match(r"argument (--[^\s/:]++)[^:]*+: invalid (int|float) value: (.*)", message)
        if number:
            message = f"{number[1]} is {number[3]}; expected a {'whole ' if number[2] == 'int' else ''}number"
        self.exit(2, f"error: {printable(message)}; see {self.prog} --help\n")


def _as_given(value: Any) -> Any:
    """Return the value of a flag with the local path in the place of a `file://` URL (see `paths.as_given`)."""
    if isinstance(value, list):
        return [_as_given(item) for item in value]
    return paths.as_given(value) if isinstance(value, str) else value


def add_output(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add --output, --workers and --force."""
    add_new_output(parser, "a folder or a URL", required=required)
    parser.add_argument(
        "--workers",
        type=int,
        default=0,
        metavar="N",
        help="processes on this machine, including the command itself (default: 0: one for each core, one for "
        "little work)",
    )
    add_logging(parser)


def add_new_output(
    parser: argparse.ArgumentParser, what: str = "a new folder or a URL", *, required: bool = True
) -> None:
    """Add --output, for a command that runs in this process, and --force."""
    parser.add_argument("--output", required=required, metavar="DIR", help=f"where to write; {what}")
    text = "do everything again, even if this replaces results from other inputs"
    parser.add_argument("--force", action="store_true", help=text)


def add_documents(parser: argparse.ArgumentParser, *, required: bool = True, languages: bool = True) -> None:
    """Add --documents, and the flags that name columns of tables; `languages`: also that of the language."""
    from bertdata.sources.kinds import described

    parser.add_argument(
        "--documents",
        nargs="+",
        action="extend",
        required=required,
        default=[],
        metavar="PATH",
        help=f"{described('documents')}, a folder that clean_wikipedia or clean_books wrote, - for standard input, or "
        "a data set of the Hugging Face hub, as hf://OWNER/NAME?split=train&rows=100000; NAME=PATH names their source",
    )
    for flag, what, example in (
        ("--text-column", 'the column of the text (default: text), or several as "{title}\\n\\n{body}"', "description"),
        ("--id-column", "the column of the id of a document (default: id)", "number"),
        ("--language-column", "the column of the language of a document (default: language)", "lang"),
    ):
        if flag == "--language-column" and not languages:
            parser.set_defaults(language_column=[])
            continue
        text = f"{what}; SOURCE=NAME names that of one source, as tickets={example}"
        parser.add_argument(flag, nargs="+", action="extend", default=[], metavar="NAME", help=text)


def parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> Request:
    """Parse our flags strictly; those after `--` are kept for Beam as `runner_flags`."""
    given = list(arguments)
    ours, beam = (given[: given.index("--")], given[given.index("--") + 1 :]) if "--" in given else (given, [])
    parser.epilog = "Flags after -- are the Beam runner's, as: -- --runner DataflowRunner --project my-project"
    flags = parser.parse_args(ours)
    names = {argument.partition("=")[0] for argument in ours}
    named = {action.dest: name for action in parser._actions for name in action.option_strings if name in names}
    return Request(**vars(flags), runner_flags=tuple(beam), named=named)


@contextlib.contextmanager
def stages_run(
    request: Request,
    kind: str,
    command: str,
    paths: Sequence[str],
    stages: Sequence[Stage],
    *settings: DataclassInstance,
    clear: Callable[[], object],
) -> Iterator[BuildState]:
    """Run the stages of a command that reads files and writes a `kind` of output, and yield what the last one made.

    --output is locked meanwhile (see `engine.output_lock`). clear: deletes what earlier runs made, for --force. What
    is replaced is printed to stderr.
    """
    from bertdata.engine import output_lock as lock
    from bertdata.engine.origin import Origin
    from bertdata.engine.run_stages import plan_first, run_stages
    from bertdata.io import files
    from bertdata.options.option import stored_values

    chosen = runner(request)
    with contextlib.ExitStack() as stack:
        stack.enter_context(chosen.checked(request.output, paths))
        lock.refuse_own(request.output, paths)
        origin = Origin.of(command, paths, settings={type(group).__name__: stored_values(group) for group in settings})
        stack.enter_context(lock.locked(request.output, kind))
        chosen.start_workers(sum(map(files.size, paths)))
        plans = plan_first(stages)
        for message in stack.enter_context(lock.made_from(request.output, origin, force=request.force)):
            chosen.say(message)
        if request.force:
            clear()
        yield run_stages(stages, chosen, plans)


def runner(request: Request) -> Runner:
    """Return the runner that --workers and the runner flags ask for."""
    from bertdata.beam.runner import Runner

    return Runner(request.workers, request.runner_flags, quiet=request.quiet)


def run(main: Callable[[], int]) -> int:
    """Run a command and return its exit code: 1 for an error, which is printed in a line, 130 for an interrupt, 143 for
    SIGTERM. A log of JSON ends with the code.
    """
    code = 1
    try:
        code = main()
    except JobNotRun as end:
        print(end)
        code = 0
    except BertDataError as error:
        limit = limit_of(error) if isinstance(error, MissingExtraError) else None  # installed, but not to be loaded
        log.failure(str(limit or error), code)
    except KeyboardInterrupt as stop:
        text, code = ending(stop)
        log.failure(text, code, prefix="")
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
        raise
    except Exception as error:
        if stop_in := interrupt_of(error):
            text, code = ending(stop_in)
            log.failure(text, code, prefix="")
        elif limit := limit_of(error):
            log.failure(str(limit), code)
        else:
            raise
    finally:
        log.end(code)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def console(main: Callable[[], int]) -> NoReturn:
    """Run a command and exit the process with its code: after a failure at once, without waiting for threads."""
    raise_at_sigterm()
    code = run(main)
    if code:
        exit_at_once(code)
    sys.exit(0)
