"""Books to documents.

    groups of books -> CleanBooks -> one part of documents for each group

Run: python -m pipelines.clean_books BOOK... --output DIR [--workers N] [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bertdata.beam.runner import Runner
from bertdata.beam.stages import PartResult, make_parts, require_documents
from bertdata.cli import command_line
from bertdata.engine.parts import delete_orphans
from bertdata.inspect import summary
from bertdata.io import files
from bertdata.options.flags import add_flags, from_flags
from bertdata.shards.manifest import source_entry
from bertdata.sources.cleaning import BOOK_SUFFIXES, plan_books
from bertdata.sources.settings import CleaningConfig


def clean_books(
    books: Sequence[str],
    output: str,
    config: CleaningConfig,
    runner: Runner,
    source_of: Mapping[str, str] | None = None,
) -> list[PartResult]:
    """Clean books into parts of documents in `output`, each part of one source; returns them with their records."""
    tasks = plan_books(books, output, config, source_of)

    def transform() -> object:
        from bertdata.beam.transforms import CleanBooks

        return CleanBooks()

    return make_parts(runner, "clean books", tasks, transform, books)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = command_line.Parser(prog="bertdata clean-books", description="Books to documents.")
    parser.add_argument("books", nargs="+", metavar="BOOK", help=".txt, .txt.gz, .txt.zst or .zip; a folder or a glob")
    command_line.add_output(parser)
    add_flags(parser, CleaningConfig, without=("min_words", "templates", "rejects"))
    flags = command_line.parse(parser, arguments)
    config, runner, paths = (
        from_flags(flags, CleaningConfig),
        command_line.runner(flags),
        files.expand(flags.books, BOOK_SUFFIXES),
    )
    with command_line.claimed(flags, "documents", "clean-books", paths, config):
        if flags.force:
            delete_orphans(flags.output, [])
        done = clean_books(paths, flags.output, config, runner)
    require_documents(done)
    print(summary.table(summary.source_rows({"books": source_entry([], [record for _, record in done])})))
    return 0


if __name__ == "__main__":
    command_line.console(main)
