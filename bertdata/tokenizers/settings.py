"""How a vocabulary is trained: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import check_types, choice, option, require


@dataclass(frozen=True)
class VocabularyConfig:
    """How a WordPiece vocabulary is trained."""

    vocab_size: int = option(30_000, "tokens, special tokens included (BERT section 3: 30,000)")
    do_lower_case: bool = option(True, "lower-case and strip accents, as BERT uncased")
    criterion: str = option(
        "likelihood", "the score that chooses a merge (see train_wordpiece)", ("likelihood", "frequency", "score")
    )
    min_frequency: int = option(2, "least occurrences of a pair that is merged")
    limit_alphabet: int = option(1000, "most frequent characters kept; rarer ones become [UNK]")
    unused_tokens: int = option(0, "[unused0] and so on, reserved for your own words, after the special tokens")
    max_words: int = option(
        5_000_000,
        "most distinct words that the trainer gets: pruning happens after counts are merged and drops the rarest words "
        "of the whole corpus (a million words take about half a gigabyte)",
    )

    def __post_init__(self) -> None:
        check_types(self)
        require(self.vocab_size >= 10, f"--vocab-size is {self.vocab_size}; expected at least 10")
        require(self.min_frequency >= 1, f"--min-frequency is {self.min_frequency}; expected at least 1")
        require(self.limit_alphabet >= 1, f"--limit-alphabet is {self.limit_alphabet}; expected at least 1")
        require(self.unused_tokens >= 0, f"--unused-tokens is {self.unused_tokens}; expected 0 (none) or more")
        require(self.max_words >= 1, f"--max-words is {self.max_words}; expected at least 1, as 5000000")
        choice("--criterion", self.criterion, ("likelihood", "frequency", "score"))
