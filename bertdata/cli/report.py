"""Writes an HTML page on a build: `bertdata report`."""

from __future__ import annotations

import argparse

from bertdata.errors import ConfigError, OutputError
from bertdata.inspect.folders import describe
from bertdata.inspect.page import GENERATOR
from bertdata.inspect.report import PAGE, SUMMARY, report_html
from bertdata.inspect.training_summary import blanks_in, training_summary
from bertdata.io import files
from bertdata.shards.accounts import read_accounts
from bertdata.shards.contents import reading_values
from bertdata.shards.reader import open_splits


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata report` to a parser."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        help="a finished build, or another folder that bertdata wrote: a task, documents, a vocabulary, a model ...",
    )
    parser.add_argument(
        "--output",
        default="",
        metavar="FILE",
        help=f"default: {PAGE}; with --training-summary {SUMMARY}, a new file",
    )
    parser.add_argument(
        "--training-summary",
        action="store_true",
        help="write, for a build, a draft in Markdown of the public summary of training content of the EU's AI Act, "
        "with blanks for what is not in the build; not legal advice",
    )
    parser.add_argument("--examples", type=int, default=4, metavar="N", help="examples to show (default: 4)")
    parser.add_argument("--vocab", default="", metavar="PATH", help="for documents: also how well this vocabulary fits")


def _write_summary(arguments: argparse.Namespace) -> int:
    """Write the draft of a summary into a new file, for people fill in its blanks."""
    path = arguments.output or SUMMARY
    if files.exists(path):
        raise OutputError("is there already, and may have been filled in; choose another --output", path=path)
    if folder := describe(arguments.folder):
        raise ConfigError(f"--training-summary is for a build, and {arguments.folder} holds {folder.kind}")
    shards = open_splits(arguments.folder)[0]
    shards.expect_pretraining()
    with reading_values(shards.build):
        text = training_summary(shards.manifest, read_accounts(shards.build, shards.manifest))
    files.write_bytes(path, text.encode())
    print(f"{path}: {blanks_in(text)} blanks to fill in; not legal advice")
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Write the page as parsed arguments say."""
    if arguments.training_summary:
        return _write_summary(arguments)
    path = arguments.output or PAGE
    if arguments.examples < 0:
        raise ConfigError(f"--examples is {arguments.examples}; expected 0 or more")
    if files.exists(path) and files.size(path):
        with files.open_raw(path) as file:
            if f'content="{GENERATOR}"'.encode() not in file.read(200):
                raise OutputError("is a file, and not a report of bertdata; choose another --output", path=path)
    page = report_html(arguments.folder, examples=arguments.examples, vocabulary=arguments.vocab).encode()
    files.write_bytes(path, page)
    print(f"{path}: {len(page):,} bytes; open it in a browser")
    return 0
