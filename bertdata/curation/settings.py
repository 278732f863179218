"""Which documents are dropped, or cut: settings, checked when made."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bertdata.options.option import Settings, option, require

DEDUPS = ("none", "exact", "near")
SPANS = ("none", "paragraphs", "sentences")
ACTIONS = ("drop", "cut")
PRESETS = {"datatrove": "14x8"}
"""MinHash settings by name: those of datatrove's `MinhashConfig`, with which FineWeb was made."""
SIGNATURE = 256


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
    dedup_minhash: str = option(
        "",
        "near: BUCKETSxHASHES, as 14x8, or datatrove, which is that: texts that have all hashes of a bucket in common "
        "are alike, and there is no --dedup-threshold",
        metavar="SETTINGS",
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dedup_minhash:
            self.buckets_of()

    def buckets_of(self) -> tuple[int, int] | None:
        """Return the buckets and the hashes of each, None where the threshold decides; raises ConfigError.

        >>> DedupConfig("near", dedup_minhash="datatrove").buckets_of()
        (14, 8)
        """
        if not self.dedup_minhash:
            return None
        match = re.fullmatch(r"(\d{1,3})x(\d{1,3})", PRESETS.get(self.dedup_minhash, self.dedup_minhash))
        buckets, hashes = map(int, match.groups()) if match else (0, 0)
        require(
            0 < buckets * hashes <= SIGNATURE,
            f"--dedup-minhash is {self.dedup_minhash!r}; expected datatrove or BUCKETSxHASHES, as 14x8, with at most "
            f"{SIGNATURE} hashes in all",
        )
        return buckets, hashes


@dataclass(frozen=True)
class DedupSpansConfig(Settings):
    """Which text that occurs more than once in the corpus is left in one document only.

    The last two settings are `min_doc_words` and `min_num_sentences` of datatrove's `SentDedupConfig`, with its
    defaults.
    """

    dedup_spans: str = option(
        "none",
        "none; paragraphs: of equal paragraphs of the corpus all but one are left out; sentences: of equal runs of "
        "three sentences, as C4",
        SPANS,
        later=True,
    )
    dedup_spans_min_words: int = option(
        10, "a paragraph, or three sentences, of fewer words stays wherever it is", at_least=1, later=True
    )
    dedup_spans_words_left: int = option(
        50,
        "a document that something was left out of is dropped if it has fewer words; 0: none is",
        at_least=0,
        later=True,
    )
    dedup_spans_sentences_left: int = option(
        3, "sentences: the same, if it has fewer sentences; 0: none is", at_least=0, later=True
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
