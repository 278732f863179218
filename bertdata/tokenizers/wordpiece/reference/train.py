"""The vocabulary trainer as its definition reads: count everything, merge the best pair, begin again.

Slow on purpose; for reading, and for checking `train_wordpiece` on small inputs. No checks of the input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from bertdata.tokenizers.wordpiece.train.merge_score import Criterion, natural_log
from bertdata.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, unused_tokens

Pair = tuple[str, str]


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
        ([c if i == 0 else f"##{c}" for i, c in enumerate(word) if c in alphabet], count)
        for word, count in word_counts.items()
        if count
    ]
    inside = {symbol for symbols, _ in words for symbol in symbols if len(symbol) > 1}
    vocabulary = dict.fromkeys([*special_tokens, *unused_tokens(unused), *sorted(alphabet), *sorted(inside)])
    merges_done: Counter[Pair] = Counter()
    log_n = float("inf")
    while len(vocabulary) < vocab_size:
        f: Counter[str] = Counter()
        f_pair: Counter[Pair] = Counter()
        for symbols, count in words:
            for symbol in symbols:
                f[symbol] += count
            for pair in pairwise(symbols):
                f_pair[pair] += count
        log_n = min(log_n, natural_log(f.total()))
        if criterion == "frequency":
            f_pair = Counter({pair: n + merges_done[pair] for pair, n in f_pair.items()})

        def value(pair: Pair, n: int, f: Counter[str] = f, log_n: float = log_n) -> float:
            a, b = pair
            if criterion == "frequency":
                return float(n)
            if criterion == "score":
                return n / (float(f[a]) * float(f[b]))
            return n * ((natural_log(n) + log_n) - (natural_log(f[a]) + natural_log(f[b])))

        ids = {token: token_id for token_id, token in enumerate(vocabulary)}
        ranked = sorted(
            (-value(pair, n), ids[pair[0]], ids[pair[1]], pair) for pair, n in f_pair.items() if n >= min_frequency
        )
        if not ranked or ranked[0][0] >= 0:
            break
        best = ranked[0][3]
        vocabulary.setdefault(best[0] + best[1][2:])
        for symbols, count in words:
            merges_done[best] += count * merge(symbols, best)
    return tuple(vocabulary)


def merge(symbols: list[str], pair: Pair) -> int:
    """Join each `pair` in a word, from the left, in place; return how many were joined."""
    joined = i = 0
    while i < len(symbols) - 1:
        if (symbols[i], symbols[i + 1]) == pair:
            symbols[i : i + 2] = [pair[0] + pair[1][2:]]
            joined += 1
        i += 1
    return joined
