"""The vocabulary trainer as its definition reads; for reading, and for checking `train_wordpiece` on small inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from bertdata.tokenizers.training.merging.merge_score import Criterion
from bertdata.tokenizers.wordpiece.vocabulary import CONTINUATION, SPECIAL_TOKENS, unused_tokens
from tests.oracles.merges import merge_slowly


def train_slowly(
    word_counts: Mapping[str, int],
    vocab_size: int,
    *,
    criterion: Criterion = "likelihood",
    min_frequency: int = 2,
    limit_alphabet: int = 1000,
    special_tokens: Sequence[str] = SPECIAL_TOKENS,
    unused: int = 0,
) -> tuple[str, ...]:
    """Return the vocabulary that `train_wordpiece` returns.

    >>> train_slowly({"low": 5, "lower": 2, "newer": 6}, 22, criterion="frequency")[-4:]
    ('ne', 'newer', 'low', 'lower')
    """
    characters: Counter[str] = Counter()
    for word, count in word_counts.items():
        for character in word:
            characters[character] += count
    alphabet = set(sorted(+characters, key=lambda c: (-characters[c], c))[:limit_alphabet])
    words = [
        ([c if i == 0 else CONTINUATION + c for i, c in enumerate(word) if c in alphabet], count)
        for word, count in word_counts.items()
        if count
    ]
    inside = {symbol for symbols, _ in words for symbol in symbols if len(symbol) > 1}
    vocabulary = dict.fromkeys([*special_tokens, *unused_tokens(unused), *sorted(alphabet), *sorted(inside)])
    merged = merge_slowly(
        words, list(vocabulary), vocab_size, criterion=criterion, min_frequency=min_frequency, mark=CONTINUATION
    )
    return tuple(merged.tokens)
