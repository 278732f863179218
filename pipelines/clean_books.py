"""Books to documents.

    groups of books -> one part of documents for each group

Run: bertdata clean-books, or python -m pipelines.clean_books BOOK... --output DIR [--workers N]
    [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Sequence

from bertdata.engine.stages import Stage
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource


def stages(paths: Sequence[str], output: str, settings: CleaningConfig) -> list[Stage]:
    """Return the stage that makes documents of books, in `output`."""
    return [ReadSource("books", dict.fromkeys(paths, "books"), output, settings)]


if __name__ == "__main__":
    from bertdata.__main__ import main

    main("clean-books")
