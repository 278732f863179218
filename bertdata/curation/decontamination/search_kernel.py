"""The compiled search for n-grams: one pass over the UTF-8 bytes of texts, with one look into a table for each word.

The hash of a run of words follows from that of the run before it (Karp and Rabin, 1987). The reference is
`search.find_plainly`; for bytes that are not UTF-8 the two may differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.curation.dedup import minhash as rules
from bertdata.curation.dedup.minhash import SEPARATOR, SINGLE, WORD
from bertdata.kernels.jit import inlined, kernel, typed_kernel
from bertdata.kernels.mixer import mix
from bertdata.kernels.utf8 import decode

_U = np.uint64
_0, _1, _11 = _U(0), _U(1), _U(11)
_WORD_PRIME, _RUN_BASE = _U(rules.WORD_PRIME), _U(rules.RUN_BASE)
_kind_of = inlined(rules.kind_of)


@inlined
def _place(table: Any, key: Any) -> Any:
    """Return where a key is in an open addressing table, or the free place for it; 0 marks a free place."""
    mask = len(table) - 1
    place = np.int64(key >> _11) & mask
    while table[place] != _0 and table[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def fill(table: Any, keys: Any) -> None:
    """Enter keys, uint64 of shape (N,), into a table of zeros, whose length is a power of two of at least 2 N."""
    for i in range(len(keys)):
        table[_place(table, keys[i])] = keys[i]


@typed_kernel(makes_arrays=True)
def find_ngrams(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    n: int,
    folding: NDArray[np.uint32],
    table: NDArray[np.uint64],
    hashes: NDArray[np.uint64],
    places: NDArray[np.int64],
) -> int:
    """Find the n-grams of texts that a table holds, all of them if it is empty; returns how many there are.

    data, offsets: the texts as Arrow has them. hashes, of shape (M,), and places, of shape (M, 3), get the hash, the
    number of the text, and the first byte and the one after the last, of the first M.
    """
    last, begins = np.zeros(n, np.uint64), np.zeros(n, np.int64)
    fallen_out = _1
    for _ in range(n):
        fallen_out *= _RUN_BASE
    count = 0
    for text in range(len(offsets) - 1):
        i, end = offsets[text], offsets[text + 1]
        words, begin = 0, i
        # word_hash is 0 between words; `run` is the hash of the last n words, those in the rings `last` and `begins`
        word_hash = run = _0
        while i <= end:
            code: Any = 0
            kind, at = SEPARATOR, i
            if i == end:
                i += 1
            else:
                code, size = decode(data, i, end)
                i += size
                code = max(code, 0)
                kind = _kind_of(code)
                if code < len(folding):
                    code = np.int64(folding[code])
            if kind == WORD:
                if word_hash == _0:
                    begin = at
                word_hash = (word_hash ^ _U(code)) * _WORD_PRIME
                continue
            # first the word that ends here, then a character that is a word by itself
            for alone in range(2):
                if alone == 0:
                    word, word_hash, first, after = word_hash, _0, begin, at
                else:
                    word, first, after = _U(code) * _WORD_PRIME if kind == SINGLE else _0, at, i
                if word == _0:
                    continue
                word = mix(word)
                run = run * _RUN_BASE + word
                slot = words % n
                if words >= n:
                    # the word before these n falls out
                    run -= last[slot] * fallen_out
                last[slot], begins[slot] = word, first
                words += 1
                if words >= n:
                    ngram_hash = mix(run)
                    if ngram_hash == _0:
                        ngram_hash = _1
                    if len(table) == 0 or table[_place(table, ngram_hash)] == ngram_hash:
                        if count < len(hashes):
                            hashes[count] = ngram_hash
                            places[count, 0] = text
                            places[count, 1] = begins[words % n]
                            places[count, 2] = after
                        count += 1
    return count
