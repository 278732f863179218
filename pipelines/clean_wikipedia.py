"""Wikipedia dumps to documents.

    ranges of dumps -> one part of documents for each range

Run: bertdata clean-wikipedia, or python -m pipelines.clean_wikipedia DUMP... --output DIR [--workers N]
    [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Sequence

from bertdata.engine.stages import Stage
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource


def stages(paths: Sequence[str], output: str, settings: CleaningConfig) -> list[Stage]:
    """Return the stage that makes documents of dumps, in `output`."""
    return [ReadSource("wikipedia", dict.fromkeys(paths, "wikipedia"), output, settings)]


if __name__ == "__main__":
    from bertdata.__main__ import main

    main("clean-wikipedia")
