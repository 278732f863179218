"""Books to documents.

    groups of books -> one part of documents for each group

Run: python -m pipelines.clean_books BOOK... --output DIR [--workers N] [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Sequence

from bertdata.cli import command_line
from bertdata.io import files
from bertdata.options.flags import add_flags, from_flags
from bertdata.sources.cleaning import BOOK_SUFFIXES
from bertdata.sources.settings import CleaningConfig

from .clean_wikipedia import clean


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = command_line.Parser(prog="bertdata clean-books", description="Books to documents.")
    parser.add_argument("books", nargs="+", metavar="BOOK", help=".txt, .txt.gz, .txt.zst or .zip; a folder or a glob")
    command_line.add_output(parser)
    add_flags(parser, CleaningConfig, without=("min_words", "templates", "rejects"))
    flags = command_line.parse(parser, arguments)
    return clean(flags, "books", files.expand(flags.books, BOOK_SUFFIXES), from_flags(flags, CleaningConfig))


if __name__ == "__main__":
    command_line.console(main)
