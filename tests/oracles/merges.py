"""Merging as its definition reads: count everything, merge the best pair, begin again.

Slow on purpose; for reading, and for checking `merge_symbols` on small inputs. No checks of the input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from bertdata.tokenizers.training.merging.merge_score import Criterion, natural_log
from bertdata.tokenizers.training.merging.merging import Merged

Pair = tuple[str, str]


def merge_slowly(
    words: Sequence[tuple[list[str], int]],
    tokens: Sequence[str],
    vocab_size: int,
    *,
    criterion: Criterion,
    min_frequency: int,
    mark: str = "",
) -> Merged:
    """Return what `merge_symbols` returns of words, each its symbols, which are joined in place, and its count.

    >>> merge_slowly([(["l", "o", "w"], 2)], ["l", "o", "w"], 9, criterion="frequency", min_frequency=1)
    Merged(tokens=['l', 'o', 'w', 'lo', 'low'], merges=[('l', 'o'), ('lo', 'w')])
    """
    vocabulary = dict.fromkeys(tokens)
    merges: dict[Pair, None] = {}
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
        vocabulary.setdefault(best[0] + best[1].removeprefix(mark))
        merges.pop(best, None)
        merges[best] = None
        for symbols, count in words:
            merges_done[best] += count * merge(symbols, best, mark)
    return Merged(list(vocabulary), list(merges))


def merge(symbols: list[str], pair: Pair, mark: str) -> int:
    """Join each `pair` in a word, from the left, in place; return how many were joined."""
    joined = i = 0
    while i < len(symbols) - 1:
        if (symbols[i], symbols[i + 1]) == pair:
            symbols[i : i + 2] = [pair[0] + pair[1].removeprefix(mark)]
            joined += 1
        i += 1
    return joined
