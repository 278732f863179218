"""Recounts a build and compares: `bertdata verify`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from bertdata.errors import VerificationError
from bertdata.io.console import table
from bertdata.options.flags import add_json, add_logging
from bertdata.verify.build import figures_of, verify_and_count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata verify`."""
    parser.add_argument(
        "directory", metavar="DIR", help="a finished build, the --output of `bertdata build`: a folder or a URL"
    )
    parser.add_argument(
        "--duplicates",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="also count examples that are equal or nearly equal (default: no)",
    )
    parser.add_argument(
        "--piece-bytes",
        type=float,
        metavar="BYTES",
        help="after the verification write the digests of pieces of this many bytes, as 16e6, so that shards can be "
        "streamed in pieces; no shard changes",
    )
    add_logging(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run `bertdata verify`: print what was recounted, or raise VerificationError with every disagreement."""
    from tqdm import tqdm

    silent = arguments.quiet or None
    result: dict[str, Any] = {"directory": arguments.directory}
    try:
        with tqdm(unit=" shards", disable=silent, leave=False) as bar:
            rows, duplicates = verify_and_count(
                arguments.directory, arguments.duplicates, lambda _: bar.update() and None, arguments.piece_bytes
            )
    except VerificationError as error:
        if arguments.json:
            print(json.dumps(result | {"verified": False, "problems": str(error).split("\n")}, indent=1))
        raise
    if arguments.json:
        values = [{"name": name.strip(), "value": value, "inner": name[:1] == " "} for name, value in rows]
        print(
            json.dumps(
                result | {"verified": True, **figures_of(arguments.directory, duplicates), "rows": values}, indent=1
            )
        )
    elif not arguments.quiet:
        print(table(rows))
        print(f"\nverified: {arguments.directory} holds what its manifest says")
    return 0
