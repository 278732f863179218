"""Books to documents.

    groups of books -> one part of documents for each group

Run: python -m pipelines.clean_books BOOK... --output DIR [--workers N] [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Sequence

from bertdata.cli import command_line
from bertdata.errors import naming_flags

from .clean_wikipedia import clean, parser_of


def command_parser() -> command_line.Parser:
    """Return the parser of the command."""
    return parser_of("books", "BOOK", "Books to documents.")


@naming_flags()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    return clean("books", command_parser(), arguments)


if __name__ == "__main__":
    command_line.console(main)
