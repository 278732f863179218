"""Deletes the stages of a finished build: `bertdata clean-up`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from bertdata.corpus.clean_up import STAGES, clean_up
from bertdata.errors import printable
from bertdata.io import files
from bertdata.io.console import byte_size, counted
from bertdata.options.flags import add_json, add_logging


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata clean-up`."""
    parser.add_argument("directory", metavar="CORPUS", help="a finished build: a folder or a URL")
    parser.add_argument("--dry-run", action="store_true", help="check, and say what would be freed, without deleting")
    add_logging(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run `bertdata clean-up`: delete the stages, and print what that freed."""
    freed = clean_up(arguments.directory, dry_run=arguments.dry_run)
    if arguments.json:
        print(json.dumps(freed, indent=1))
    elif not arguments.quiet:
        print(_text(freed))
    return 0


def _text(freed: dict[str, Any]) -> str:
    stages = printable(files.join(freed["directory"], STAGES))
    if not freed["files"]:
        return f"nothing to do: there is no {stages}"
    did = "freed" if freed["removed"] else "would free"
    return (
        f"{did} {byte_size(freed['bytes'])}: {counted(freed['files'], 'file')} in {stages}\n"
        "The shards are whole without them. A build with other settings begins anew, and `report` and `show --dropped` "
        "have no documents."
    )
