"""Prints how two builds differ: `bertdata diff`."""

from __future__ import annotations

import argparse
import json

from bertdata.inspect.diff import diff, difference_text
from bertdata.options.flags import add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata diff` to a parser."""
    parser.add_argument("first", metavar="A", help="a finished build, or a folder of encode-task")
    parser.add_argument("second", metavar="B", help="the build or folder to compare with")
    add_json(parser, "the changes by section")


def run(arguments: argparse.Namespace) -> int:
    """Print how two builds differ; the code is 0 also where they do."""
    difference = diff(arguments.first, arguments.second)
    if arguments.json:
        values = {name: [vars(change) for change in changed] for name, changed in difference.sections.items()}
        shards = {"same": difference.same_shards, "others": [vars(change) for change in difference.other_shards]}
        print(
            json.dumps(
                {
                    "same": difference.same,
                    "kinds": difference.kinds,
                    "reasons": difference.reasons,
                    "changes": values,
                    "shards": shards,
                },
                indent=1,
            )
        )
    else:
        print(difference_text(arguments.first, arguments.second, difference))
    return 0
