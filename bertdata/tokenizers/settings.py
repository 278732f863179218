"""How a vocabulary is trained: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import Settings, option


@dataclass(frozen=True)
class VocabularyConfig(Settings):
    """How a WordPiece vocabulary is trained."""

    vocab_size: int = option(30_000, "tokens, special tokens included (BERT section 3: 30,000)", at_least=10)
    do_lower_case: bool = option(True, "lower-case and strip accents, as BERT uncased")
    criterion: str = option(
        "likelihood", "the score that chooses a merge (see train_wordpiece)", ("likelihood", "frequency", "score")
    )
    min_frequency: int = option(2, "least occurrences of a pair that is merged", at_least=1)
    limit_alphabet: int = option(1000, "most frequent characters kept; rarer ones become [UNK]", at_least=1)
    unused_tokens: int = option(
        0, "[unused0] and so on, reserved for your own words, after the special tokens", at_least=0
    )
    max_words: int = option(
        5_000_000,
        "most distinct words that the trainer gets: pruning happens after counts are merged and drops the rarest words "
        "of the whole corpus (a million words take about half a gigabyte)",
        at_least=1,
    )
