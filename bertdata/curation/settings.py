"""Which documents are dropped: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import check_types, choice, option, require

DEDUPS = ("none", "exact", "near")


@dataclass(frozen=True)
class DedupConfig:
    """Which duplicate documents are dropped."""

    dedup: str = option(
        "none",
        "none; exact: of equal texts all but one; near: of texts much alike all but the longest "
        "(stages/duplicates/duplicates.parquet names them)",
        DEDUPS,
    )
    dedup_threshold: float = option(
        0.8, "near: share of their runs of five words that two texts have in common, from which on they are alike"
    )

    def __post_init__(self) -> None:
        check_types(self)
        choice("--dedup", self.dedup, DEDUPS)
        require(
            0.3 <= self.dedup_threshold <= 1,
            f"--dedup-threshold is {self.dedup_threshold}; expected 0.3 to 1, as 0.8",
        )
