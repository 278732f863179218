"""Which documents are dropped: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import Settings, option

DEDUPS = ("none", "exact", "near")


@dataclass(frozen=True)
class DedupConfig(Settings):
    """Which duplicate documents are dropped."""

    dedup: str = option(
        "none",
        "none; exact: of equal texts all but one; near: of texts much alike all but the longest "
        "(stages/duplicates/duplicates.parquet names them)",
        DEDUPS,
    )
    dedup_threshold: float = option(
        0.8,
        "near: share of their runs of five words that two texts have in common, from which on they are alike",
        at_least=0.3,
        at_most=1,
    )
