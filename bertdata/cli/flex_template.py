"""A build as a Flex template of Dataflow: what its file says, and what its launch does.

    parameters of the template -> flags of `bertdata build` -> a job that runs it, which makes the jobs of the build

Run: python -m bertdata.cli.flex_template --PARAMETER=VALUE ... [BEAM'S FLAGS], as the launcher of Dataflow does;
`scripts/flex_template` writes the file of the template.

A parameter is named as the flag, with underscores; one that is empty is not given. The values of a list are separated
by spaces, and one that has a space in it is quoted.
"""

from __future__ import annotations

import argparse
import logging
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from bertdata.beam import flex_job
from bertdata.beam.quiet_import import import_beam
from bertdata.beam.runner import Runner
from bertdata.cli import command_line
from bertdata.cli.main import parser_of
from bertdata.corpus.build import Build
from bertdata.corpus.requests import COMMAND, settings_of_request
from bertdata.errors import ConfigError

WITHOUT = {
    "help": "is for a terminal",
    "help_all": "is for a terminal",
    "quiet": "is for a terminal",
    "json": "is for a terminal",
    "workers": "is for builds on one machine",
    "dry_run": "is for before a launch",
    "save_recipe": "writes a local file and builds nothing",
}
"""The flags of a build that a template does not take, and why."""
REQUIRED = ("output", "sdk_container_image")
OUTPUT = r"^[a-z][a-z0-9+.-]*://.+$"
"""What an output of a cluster looks like: a URL."""
_INT, _FLOAT = r"-?\d+", r"-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
MACHINE = "driver_machine_type"
_OF_BEAM = (
    ("sdk_container_image", "", "the image of the workers: that of the template itself, made from the Dockerfile"),
    ("number_of_worker_harness_threads", f"^{_INT}$", "threads of a worker of the build; fewer need less memory"),
    ("disk_size_gb", f"^{_INT}$", "disk of a worker of the build, in GB"),
    (MACHINE, "", f"the machine that plans the build and makes its jobs (default: {flex_job.MACHINE})"),
)
"""Parameters beside those of a build. The number of workers and the like are given to the launch itself."""


def build_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the actions of the flags that are parameters of the template."""
    for action in parser._actions:
        if action.option_strings and action.dest not in WITHOUT:
            yield action


def parameters() -> list[dict[str, Any]]:
    """Return what the file of the template says of each parameter: its name, label, help, and regexes."""
    parser = parser_of(COMMAND)
    of_build = [
        _parameter(action.dest, action.option_strings[0], help_of(parser, action), regex_of(action))
        for action in build_actions(parser)
    ]
    return of_build + [_parameter(name, name.replace("_", " "), text, regex) for name, regex, text in _OF_BEAM]


def _parameter(name: str, label: str, text: str, regex: str) -> dict[str, Any]:
    parameter = {
        "name": name,
        "label": label,
        "helpText": text,
        "isOptional": name not in REQUIRED,
        "paramType": "TEXT",
    }
    return parameter | ({"regexes": [regex]} if regex else {})


def help_of(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return the help of a flag, and how its value is written where that differs from the command line."""
    text = parser._get_formatter()._expand_help(action)
    if is_switch(action):
        return f"{text}; true or false"
    return f"{text}; several are separated by spaces" if action.nargs == "+" else text


def regex_of(action: argparse.Action) -> str:
    """Return the regular expression that the value of a flag matches, "" where any text may be one; "" also matches."""
    if action.dest == "output":
        return OUTPUT
    if is_switch(action):
        return "^(true|false)?$"
    if action.choices:
        return f"^({'|'.join(map(str, action.choices))})?$"
    number = {int: _INT, float: _FLOAT}.get(action.type) if isinstance(action.type, type) else None
    if number is None:
        return ""
    return f"^({number}( +{number})*)?$" if action.nargs == "+" else f"^({number})?$"


def is_switch(action: argparse.Action) -> bool:
    """Tell whether a flag has no value: the parameter is true or false."""
    return action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction)


def template(image: str = "") -> dict[str, Any]:
    """Return the file of the template that starts an image; without one its metadata, as gcloud takes them."""
    metadata = {
        "name": "bertdata build",
        "description": "Wikipedia dumps, books and other documents to shards that a BERT-family encoder trains on.",
        "parameters": parameters(),
    }
    return {"image": image, "sdkInfo": {"language": "PYTHON"}, "metadata": metadata} if image else metadata


def words_of(arguments: Sequence[str]) -> tuple[list[str], list[str], str]:
    """Return the flags of a build that parameters stand for, Beam's flags, and the machine of the job of the launch.

    Raises ConfigError for a switch that is neither true nor false, and for quotes that do not end.

    >>> words_of(["--output=gs://b/out", "--pack=true", "--max_seq_length=128 512", "--seed=", "--region=r"])[:2]
    (['--output=gs://b/out', '--max-seq-length', '128', '512', '--pack'], ['--region=r'])
    """
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    actions = list(build_actions(parser_of(COMMAND)))
    for action in actions:
        parser.add_argument(f"--{action.dest}", default="")
    parser.add_argument(f"--{MACHINE}", default="")
    given, beam = parser.parse_known_args(list(arguments))
    words = [word for action in actions for word in _words(action, getattr(given, action.dest))]
    return words, beam, getattr(given, MACHINE) or flex_job.MACHINE


def _words(action: argparse.Action, value: str) -> list[str]:
    flag = action.option_strings[0]
    if not value.strip():
        return []
    if is_switch(action):
        if value.lower() not in ("true", "false"):
            raise ConfigError(f"the parameter {action.dest} is {value!r}; expected true or false")
        off = action.option_strings[1:]
        return [flag] if value.lower() == "true" else list(off)
    if action.nargs != "+":
        return [f"{flag}={value}"]
    try:
        return [flag, *shlex.split(value)]
    except ValueError as error:
        raise ConfigError(f"the parameter {action.dest} is {value!r}, which has a quote that does not end") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the settings, and start the job that runs the build."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    import_beam()
    words, beam, machine = words_of(sys.argv[1:] if arguments is None else arguments)
    beam = flex_job.known_flags(beam)
    nested = flex_job.flags_of_build(beam) if beam else []
    request = command_line.parse(parser_of(COMMAND), words)
    sources, settings = settings_of_request(request)
    build = Build(sources, request.output, settings)
    Runner(0, tuple(nested), quiet=True).check(request.output, build.inputs.paths())
    command = ["-m", "bertdata", COMMAND, *words, *(["--", *nested] if nested else [])]
    flex_job.start(command, flex_job.flags_of_launch(beam, machine) if beam else [])
    return 0


if __name__ == "__main__":
    command_line.console(main)
