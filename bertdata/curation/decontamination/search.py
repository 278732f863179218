"""Where texts hold n-grams of test data: found by hash in one pass, and then compared word by word.

find_ngrams    by the kernel: (N,) hits, the text, the bytes and the place in the table of each
find_plainly   the same in plain Python, for tests
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bertdata.curation.decontamination.ngram_table import NgramTable
from bertdata.curation.decontamination.ngram_words import normalised, words_of
from bertdata.curation.decontamination.ngrams import ngrams_of

_REMEMBERED = 1 << 12
"""Passages that are compared with the n-grams of a table once: a text may repeat one many times."""


@dataclass(frozen=True, order=True, slots=True)
class Hit:
    """An n-gram of test data in a text: bytes `begin` to `end` of it, and the number of the file it is of."""

    text: int
    begin: int
    end: int
    file: int
    ngram: str


def find_hits(texts: pa.Array, table: NgramTable) -> list[Hit]:
    """Return the n-grams of a table that texts, a string array, hold: by text, place and file.

    >>> table = NgramTable.of({"quiz.txt": ["Salt is a mineral."]}, 3)
    >>> hits = find_hits(pa.array(["Sea.", "SALT, is a rock"]), table)
    >>> [(hit.text, hit.begin, hit.end, hit.ngram) for hit in hits]
    [(1, 0, 10, 'salt is a')]
    """
    large = texts.cast(pa.large_string())
    if not len(table.hashes) or not len(large):
        return []
    hashes, places = ngrams_of(large, table.n, table.lookup)
    _, offsets, data = large.buffers()
    begins = np.frombuffer(offsets, np.int64)[large.offset :]
    first = np.searchsorted(table.hashes, hashes, "left")
    after = np.searchsorted(table.hashes, hashes, "right")
    content = memoryview(data) if data else memoryview(b"")
    hits = []
    files_of: dict[tuple[bytes, int], tuple[str, list[int]]] = {}
    for (text, begin, end), low, high in zip(places.tolist(), first.tolist(), after.tolist(), strict=True):
        passage, start = bytes(content[begin:end]), int(begins[text])
        if (entry := files_of.get((passage, low))) is None:
            ngram = normalised(passage.decode("utf-8", "replace"))
            numbers = [int(table.numbers[place]) for place in range(low, high) if table.ngram(place) == ngram]
            if len(files_of) >= _REMEMBERED:
                files_of.clear()
            entry = files_of[passage, low] = ngram, numbers
        ngram, numbers = entry
        hits += [Hit(text, begin - start, end - start, number, ngram) for number in numbers]
    return hits


def find_plainly(texts: list[str], table: NgramTable) -> list[Hit]:
    """Return what `find_hits` returns, from the words of each text and all n-grams of the table as a dictionary."""
    files_by_ngram: dict[str, list[int]] = {}
    for place, number in enumerate(table.numbers.tolist()):
        files_by_ngram.setdefault(table.ngram(place), []).append(number)
    hits = []
    for number, text in enumerate(texts):
        words = list(words_of(text))
        for last in range(table.n, len(words) + 1):
            run = words[last - table.n : last]
            ngram = " ".join(word for word, _, _ in run)
            begin, end = (len(text[:place].encode()) for place in (run[0][1], run[-1][2]))
            hits += [Hit(number, begin, end, file, ngram) for file in sorted(files_by_ngram.get(ngram, []))]
    return hits
