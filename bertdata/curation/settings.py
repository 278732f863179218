"""Which documents are dropped, or cut, and what is counted of them: settings, checked when made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bertdata.curation.accounts import Account, parse_account
from bertdata.curation.scores import Score, parse_score
from bertdata.curation.where import OF_ALL
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
        "none; exact: all but one of equal texts; near: all but the longest of similar texts "
        "(stages/duplicates/duplicates.parquet names them)",
        DEDUPS,
    )
    dedup_threshold: float = option(
        0.8,
        "near: two texts are similar if at least this share of their runs of five words is in both",
        at_least=0.3,
        at_most=1,
    )
    dedup_minhash: str = option(
        "",
        "near: BUCKETSxHASHES, as 14x8, or datatrove, which means 14x8: texts with all hashes of a bucket in common "
        "are similar, in place of --dedup-threshold",
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
    """Which repeated text is left out of all documents but one.

    The last two settings are `min_doc_words` and `min_num_sentences` of datatrove's `SentDedupConfig`, with its
    defaults.
    """

    dedup_spans: str = option(
        "none",
        "none; paragraphs: leave out all but one of equal paragraphs of the corpus; sentences: the same for runs of "
        "three sentences, as C4",
        SPANS,
        later=True,
    )
    dedup_spans_min_words: int = option(
        10, "a paragraph, or three sentences, of fewer words always stays", at_least=1, later=True
    )
    dedup_spans_words_left: int = option(
        50,
        "a document that was shortened is dropped if it has fewer words left; 0: never",
        at_least=0,
        later=True,
    )
    dedup_spans_sentences_left: int = option(
        3, "with sentences, a shortened document is dropped if it has fewer left; 0: never", at_least=0, later=True
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


_UNCOUNTED = ("source", "text", "characters", "sentences", "tokens")


@dataclass(frozen=True)
class AccountsConfig(Settings):
    """What is counted and scored for each document.

    Raises ConfigError for a function, a kind of score or a name that there is not.
    """

    account: tuple[str, ...] = option(
        (),
        "count documents, words and tokens by the values of these columns, as license, domain(url) or year(date), by "
        "source and split, after all that drops documents; `stats` shows them, `verify` adds them up",
        metavar="COLUMN",
        later=True,
    )
    score: tuple[str, ...] = option(
        (),
        "make a column of a number from 0 to 1 for --where and --source-where: NAME=terms:FILE, the share of the words "
        "inside the terms of a file; NAME=fasttext:FILE:LABEL, the probability of a label",
        metavar="NAME=KIND:FILE",
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for flag, names in (("--account", [account.name for account in self.accounts]), ("--score", self.made)):
            twice = sorted({name for name in names if names.count(name) > 1})
            require(not twice, f"{flag} names {', '.join(twice)} twice")
        for account in self.accounts:
            require(
                account.column not in _UNCOUNTED,
                f"--account names {account.column!r}; expected another column than {', '.join(_UNCOUNTED)}: accounts "
                "are by source anyway",
            )

    @property
    def accounts(self) -> tuple[Account, ...]:
        """What documents are counted by."""
        return tuple(map(parse_account, self.account))

    @property
    def scores(self) -> tuple[Score, ...]:
        """The columns of scores."""
        return tuple(map(parse_score, self.score))

    @property
    def made(self) -> tuple[str, ...]:
        """The names of the columns that are made, which no source needs to have."""
        return tuple(score.name for score in self.scores)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of documents that accounts read, beside those that every document has and that are made."""
        return tuple(sorted({account.column for account in self.accounts} - {*OF_ALL, *self.made}))

    @property
    def identity(self) -> list[Any]:
        """What values depend on beside documents and settings, [] of nothing; raises the errors of `Score.identity`."""
        tables = sorted({account.made_from for account in self.accounts} - {""})
        return [*tables, *(score.identity for score in self.scores)]
