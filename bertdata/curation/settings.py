"""Which documents are dropped, or cut: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import Settings, option

DEDUPS = ("none", "exact", "near")
ACTIONS = ("drop", "cut")


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


@dataclass(frozen=True)
class DecontaminationConfig(Settings):
    """Which test data must not be in the corpus."""

    decontaminate: tuple[str, ...] = option(
        (),
        "files of test data, whose n-grams are looked for in all documents: task files as of encode-task, JSON lines, "
        "JSON, or plain text",
        metavar="FILE",
        later=True,
    )
    decontaminate_ngram: int = option(13, "words of an n-gram of test data", at_least=3, at_most=100, later=True)
    decontaminate_action: str = option(
        "drop",
        "drop: leave out a document that has an n-gram of test data; cut: only the passage, with 200 characters on "
        "either side",
        ACTIONS,
        later=True,
    )
