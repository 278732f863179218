"""`bertdata import`: pretraining rows in other formats to shards."""

from __future__ import annotations

import argparse

from bertdata.cli.command_line import add_new_output
from bertdata.formats import IMPORT_FORMATS, import_shards
from bertdata.io.console import counted, table
from bertdata.objectives import OBJECTIVES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata import` to a parser."""
    kinds = ", ".join(IMPORT_FORMATS[name].help for name in IMPORT_FORMATS).replace("%", "%%")
    parser.add_argument("files", nargs="+", metavar="PATH", help=f"files, folders of them or globs: {kinds}")
    parser.add_argument("--validation", nargs="+", default=[], metavar="PATH", help="files of the validation split")
    parser.add_argument(
        "--vocab", required=True, metavar="PATH", help="the vocabulary of their ids: a folder or vocab.txt"
    )
    add_new_output(parser)
    parser.add_argument(
        "--objective",
        default="",
        choices=tuple(OBJECTIVES),
        metavar="NAME",
        help=f"what the pair label means, one of {', '.join(OBJECTIVES)} (default: nsp; for ALBERT give sop)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Import as parsed arguments say, and print what was written."""
    sources = {"train": arguments.files, "validation": arguments.validation}
    manifest = import_shards(sources, arguments.vocab, arguments.output, arguments.objective, force=arguments.force)
    rows = []
    for split, entry in manifest["splits"].items():
        counts = entry["counts"]
        rows.append((split, f"{counted(counts['examples'], 'row')} in {counted(len(entry['shards']), 'shard')}"))
        if empty := sum(not shard["counts"]["examples"] for shard in entry["shards"]):
            rows.append(("  without rows", counted(empty, "file")))
        share = f"{counts['predictions'] / max(1, counts['tokens_in_examples']):.3%} of the tokens"
        drawn = "none: a loader draws the masks"
        rows.append(("  predictions", share if counts["predictions"] else drawn))
    print(table(rows))
    return 0
