"""The density of terms: the share of the words of a text that are inside terms of a list.

Words are those of decontamination (`bertdata.curation.decontamination.ngram_words`): upper and lower case are one,
accents are not taken off, punctuation separates. Terms of more words come first, those of one length from left to
right, and a word counts once: after "heart attack" neither "heart" nor "attack rate" is counted there again. Terms are
found by the 64-bit hash of their words: of a million terms, one stands for another run of words with a probability of
1 in 18 trillion.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.curation.decontamination.ngram_words import words_of
from bertdata.curation.decontamination.ngrams import ngrams_of
from bertdata.curation.scores.base import ScoreKind
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.decoding import decode_utf8

LONGEST = 20
"""Words of the longest term."""
Tables = list[tuple[int, NDArray[np.uint64]]]
"""For each number of words of a term, the longest first, the hashes of these, as an open addressing table."""


def read_terms(path: str) -> list[str]:
    """Return the terms of a file, one a line, UTF-8; lines of white space are left out.

    Raises InputError for a line without a word, or with over 20, and for a file without any term.
    """
    lines = decode_utf8(files.read_bytes(path), path, hint="expected a term on each line").splitlines()
    terms = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        words = sum(1 for _ in words_of(line))
        if not 1 <= words <= LONGEST:
            raise InputError(
                f"line {number}, {line.strip()[:80]!r}, has {words} words; expected a term of 1 to {LONGEST} words on "
                "each line",
                path=path,
            )
        terms.append(line)
    if not terms:
        raise InputError("holds no term; expected one on each line", path=path)
    return terms


def tables_of(terms: list[str]) -> Tables:
    """Return the tables of terms by which `density` finds them."""
    from bertdata.curation.decontamination.search_kernel import fill

    by_length: dict[int, list[str]] = {}
    for term in terms:
        by_length.setdefault(sum(1 for _ in words_of(term)), []).append(term)
    tables = []
    for words, same_length in sorted(by_length.items(), reverse=True):
        hashes = np.unique(ngrams_of(pa.array(same_length, pa.large_string()), words)[0])
        table = np.zeros(2 << len(hashes).bit_length(), np.uint64)
        fill(table, hashes)
        tables.append((words, table))
    return tables


def density(texts: pa.StringArray, tables: Tables) -> pa.DoubleArray:
    """Return the share of the words of each text that are inside terms, float64 (N,); 0 of a text without words.

    >>> density(pa.array(["A heart attack, heart!", ""]), tables_of(["Heart attack", "heart", "attack"])).to_pylist()
    [0.75, 0.0]
    """
    large = texts.cast(pa.large_string())
    _, words = ngrams_of(large, 1)
    totals = np.bincount(words[:, 0], minlength=len(texts))
    inside = np.zeros(len(words), np.bool_)
    for length, table in tables:
        places = ngrams_of(large, length, table)[1]
        first = np.searchsorted(words[:, 1], places[:, 1])
        if length == 1:
            inside[first] = True
            continue
        free = first[~np.logical_or.reduce([inside[first + more] for more in range(length)])]
        end = -1
        for place in free.tolist():
            if place >= end:
                end = place + length
                inside[place:end] = True
    numbers = np.bincount(words[inside, 0], minlength=len(texts))
    return pa.array(np.divide(numbers, totals, out=np.zeros(len(texts)), where=totals > 0), pa.float64())


def _identity(path: str) -> list[Any]:
    read_terms(path)
    return [files.sha256(path)]


def _load(path: str) -> Callable[[pa.StringArray], pa.DoubleArray]:
    return partial(density, tables=tables_of(read_terms(path)))


TERMS = ScoreKind(
    help="share of the words that are inside the terms of a file, one a line, of one or more words; the longest terms "
    "first, each word once",
    form="FILE",
    identity=_identity,
    load=_load,
)
