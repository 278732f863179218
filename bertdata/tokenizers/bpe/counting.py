"""Counts of pre-tokens: the words that byte-level BPE joins bytes in, cut by GPT-2's pattern."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

from bertdata.characters.newer import alike
from bertdata.kernels.warmup import compiling_pays
from bertdata.text_arrays import Texts, as_strings, check_utf8, size_of, utf8_arrays
from bertdata.tokenizers.training.counts import SCHEMA, merge_counts

MAX_WORDS = 1 << 20
"""Most distinct words that are held at a time: 60 MB."""
COMPILED_FROM = 1 << 20
"""Bytes of text from which kernels count; plain Python takes a fifth of a second for as many."""


def count_pre_tokens(texts: Texts) -> pa.Table:
    """Return the pre-tokens of `texts` and how often each occurs: word (string), count (int64), sorted by word.

    `texts` is a list of strings or an Arrow string array. Raises ConfigError and InputError as
    `JsonTokenizer.encode_batch` does.

    >>> count_pre_tokens(["To be, or not to be"]).to_pydict()
    {'word': [' be', ' not', ' or', ' to', ',', 'To'], 'count': [2, 1, 1, 1, 1, 1]}
    """
    if not compiling_pays(size_of(texts), None, COMPILED_FROM):
        strings = as_strings(texts)
        check_utf8(strings)
        counts = Counter(word for text in strings for word in pre_tokens(text.as_py()))
        words = sorted(counts, key=lambda word: word.encode("utf-8"))
        return pa.table([words, [counts[word] for word in words]], SCHEMA)
    return merge_counts(_counted(texts))


def _counted(texts: Texts) -> list[pa.Table]:
    """Return tables of word and count that may have words in common."""
    from bertdata.kernels.byte_table import USED, WIDTH
    from bertdata.tokenizers.encode.kernels.word_cache import LONG, WINDOW, look_up
    from bertdata.tokenizers.encode.scanners import gpt2_scanner
    from bertdata.tokenizers.encode.tables import empty_table
    from bertdata.tokenizers.encode.words import Words, units
    from bertdata.tokenizers.training.count_table import take_counts

    words, table = Words(gpt2_scanner(_cutter().pre_tokenize_str)), empty_table(MAX_WORDS, 16 * MAX_WORDS)
    window = np.zeros((4, WINDOW + 1), np.uint64)
    others: Counter[str] = Counter()
    tables = []
    for text, offsets, row, stop, _ in units(utf8_arrays(texts)):
        unit = words.find(text, offsets, row, stop)
        if table.counters[USED] + unit.n_words > MAX_WORDS:
            tables.append(take_counts(table))
        places = np.empty(unit.n_words, np.uint32)
        n_long = look_up(text, unit.begin, unit.positions, unit.n_words, table, places, unit.longs, window)
        others.update(text[begin:end].tobytes().decode() for begin, end in unit.longs[:n_long].tolist())
        values = table.entries[3 : int(table.counters[USED]) * WIDTH : WIDTH]
        values += np.bincount(places[places < LONG], minlength=len(values)).astype(np.uint64)
    rest = [pa.table([list(others), list(others.values())], ["word", "count"])] if others else []
    return [*tables, take_counts(table), *rest]


def pre_tokens(text: str) -> list[str]:
    r"""Return the pre-tokens of one text, as `tokenizers` cuts it.

    >>> pre_tokens("I've  seen\n it")
    ['I', "'ve", ' ', ' seen', '\n', ' it']
    """
    return [text[start:end] for _, (start, end) in _cutter().pre_tokenize_str(alike(text))]


@functools.cache
def _cutter() -> Any:
    from tokenizers.pre_tokenizers import ByteLevel

    return ByteLevel(add_prefix_space=False)
