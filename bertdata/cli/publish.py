"""`bertdata publish`: a folder for a hub of data sets from a finished build."""

from __future__ import annotations

import argparse
from typing import Any

from bertdata.formats.publish import FORMATS, publish
from bertdata.options.flags import add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata publish` to a parser."""
    parser.add_argument("build", metavar="OUTPUT", help="a finished build, the --output of `bertdata build`")
    parser.add_argument("to", metavar="TO", help="a new folder, to be uploaded to a hub")
    parser.add_argument(
        "--format", default="parquet", choices=tuple(FORMATS), help="the form of the rows (default: parquet)"
    )
    parser.add_argument("--name", default="", metavar="NAME", help="name of the data set (default: the folder's)")
    parser.add_argument("--force", action="store_true", help="replace what an earlier `bertdata publish` wrote there")
    add_json(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Publish as parsed arguments say; returns what was written."""
    from tqdm import tqdm

    with tqdm(unit=" files", leave=False, disable=None) as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        given = (arguments.build, arguments.to, arguments.format)
        return publish(*given, name=arguments.name, force=arguments.force, report=report)
