"""How a vocabulary is trained: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import check_types, choice, option, require


@dataclass(frozen=True)
class VocabularyConfig:
    """How a WordPiece vocabulary is trained."""

    vocab_size: int = option(30_000, "pieces, special tokens included (BERT section 3: 30,000)")
    do_lower_case: bool = option(True, "lower-case and strip accents, as BERT uncased")
    criterion: str = option(
        "likelihood", "what a merge is chosen by (see train_wordpiece)", ("likelihood", "frequency", "score")
    )
    min_frequency: int = option(2, "a pair must occur this often to be merged")
    limit_alphabet: int = option(1000, "most frequent characters kept; rarer ones become [UNK]")
    unused_tokens: int = option(0, "[unused0] and so on, slots for words of your own behind the special tokens")
    max_words: int = option(
        5_000_000,
        "distinct words that the trainer gets at most: the rarest counts are left out, of the whole corpus, so that "
        "no range or worker decides (a million takes about half a gigabyte)",
    )

    def __post_init__(self) -> None:
        check_types(self)
        require(self.vocab_size >= 10, f"--vocab-size is {self.vocab_size}; expected at least 10")
        require(self.min_frequency >= 1, f"--min-frequency is {self.min_frequency}; expected at least 1")
        require(self.limit_alphabet >= 1, f"--limit-alphabet is {self.limit_alphabet}; expected at least 1")
        require(self.unused_tokens >= 0, f"--unused-tokens is {self.unused_tokens}; expected 0 (none) or more")
        require(self.max_words >= 1, f"--max-words is {self.max_words}; expected at least 1, as 5000000")
        choice("--criterion", self.criterion, ("likelihood", "frequency", "score"))
