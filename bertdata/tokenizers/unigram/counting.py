"""Counts of what stands between white space, which is what SentencePiece makes its words of."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from bertdata.text_arrays import Texts, as_strings, check_utf8
from bertdata.tokenizers.training.counts import SCHEMA


def count_between_spaces(texts: Texts) -> pa.Table:
    """Return what stands between white space in `texts`, and how often: word (string), count (int64), sorted by word.

    Nothing is normalised: SentencePiece does that to the words. Raises ConfigError and InputError as
    `JsonTokenizer.encode_batch` does.

    >>> count_between_spaces(["To be, or not to be"]).to_pydict()
    {'word': ['To', 'be', 'be,', 'not', 'or', 'to'], 'count': [1, 1, 1, 1, 1, 1]}
    """
    strings = as_strings(texts)
    check_utf8(strings)
    counts: Counter[str] = Counter()
    for text in strings:
        counts.update(text.as_py().split())
    words = sorted(counts, key=lambda word: word.encode("utf-8"))
    return pa.table([words, [counts[word] for word in words]], SCHEMA)
