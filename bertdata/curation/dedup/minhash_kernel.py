"""The compiled core of MinHash: one pass over the UTF-8 bytes of texts, and more where a text has few runs of words.

It reads the bytes between the offsets alone. The references are `minhash.signature` and `minhash.bucket_hashes`; for
bytes that are not UTF-8 they may differ.

120 times as fast as the reference (`benchmarks/kernels.py --only MinHash`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.curation.dedup import minhash as rules
from bertdata.curation.dedup.minhash import BINS, NGRAM, SEPARATOR, SINGLE, WORD
from bertdata.kernels.jit import inlined, typed_kernel
from bertdata.kernels.mixer import mix
from bertdata.kernels.utf8 import decode

_EMPTY = np.uint32(rules.EMPTY)
_U = np.uint64
_0, _1, _24, _32, _56 = (_U(n) for n in (0, 1, 24, 32, 56))
_WORD_PRIME, _RUN_BASE = _U(rules.WORD_PRIME), _U(rules.RUN_BASE)
_FALLEN_OUT = _U(pow(rules.RUN_BASE, NGRAM, 1 << 64))
_LOW, _LARGEST = _U(0xFFFFFFFF), _U(rules.EMPTY - 1)

_kind_of = inlined(rules.kind_of)
_lower = inlined(rules.lower)

_LETTERS = np.zeros(256, np.uint8)
_LETTERS[:128] = [rules.lower(code) if rules.kind_of(code) == WORD else 0 for code in range(128)]
"""What a byte adds to a word if it is a character of words in ASCII, in lower case; 0 for any other."""


@inlined
def _put(run: Any, row: NDArray[np.uint32], buckets: int, hashes: int, turn: int) -> None:
    """Put a run into the bins of a row: by one hash, or by as many as a key has numbers."""
    mixed = mix(run)
    if hashes == 0:
        place, rest = mixed >> _56, np.uint32(min((mixed >> _24) & _LOW, _LARGEST))
        row[place] = min(row[place], rest)
        return
    for hash_number in range(hashes):
        hash_bits = mix(mixed + _U(turn * hashes + hash_number) * _WORD_PRIME)
        bucket = np.int64(((hash_bits >> _32) * _U(buckets)) >> _32) if turn < buckets else turn - buckets
        spot, number = bucket * hashes + hash_number, np.uint32(min(hash_bits & _LOW, _LARGEST))
        row[spot] = min(row[spot], number)


@inlined
def _fill(row: NDArray[np.uint32], bins: NDArray[np.uint32]) -> None:
    """Let every empty bin borrow from the next full one, to the left or the right as its hash says."""
    for place in range(BINS):
        bins[place] = row[place]
    for place in range(BINS):
        if bins[place] == _EMPTY:
            step, lender = (1 if mix(_U(place)) & _1 else BINS - 1), place
            while bins[lender] == _EMPTY:
                lender = (lender + step) % BINS
            row[place] = bins[lender]


@inlined
def _sign(
    data: NDArray[np.uint8],
    start: int,
    end: int,
    row: NDArray[np.uint32],
    last: NDArray[np.uint64],
    buckets: int,
    hashes: int,
    turn: int,
) -> int:
    """Put the runs of one text into its row; returns how many words there are."""
    i, words = start, 0
    word_hash = run = _0
    while i <= end:
        if i < end and _LETTERS[data[i]]:
            word_hash = (word_hash ^ _U(_LETTERS[data[i]])) * _WORD_PRIME
            i += 1
            continue
        kind, code = SEPARATOR, 0
        if i == end:
            i += 1
        else:
            code, size = decode(data, i, end)
            i += size
            kind = _kind_of(code)
        if kind == WORD:
            word_hash = (word_hash ^ _U(_lower(code))) * _WORD_PRIME
            continue
        for alone in range(2):
            if alone == 0:
                word, word_hash = word_hash, _0
            else:
                word = _U(code) * _WORD_PRIME if kind == SINGLE else _0
            if word == _0:
                continue
            word = mix(word)
            run = run * _RUN_BASE + word
            if words >= NGRAM:
                run -= last[words % NGRAM] * _FALLEN_OUT
            last[words % NGRAM] = word
            words += 1
            if words >= NGRAM:
                _put(run, row, buckets, hashes, turn)
    if 0 < words < NGRAM:
        _put(run, row, buckets, hashes, turn)
    return words


@typed_kernel(makes_arrays=True)
def minhash(data: NDArray[np.uint8], offsets: NDArray[np.int64], signatures: NDArray[np.uint32]) -> None:
    """Fill `signatures`, of shape (texts, 256) and full of the empty mark, with the signatures of texts."""
    last, bins = np.zeros(NGRAM, np.uint64), np.zeros(BINS, np.uint32)
    for text in range(len(offsets) - 1):
        if _sign(data, offsets[text], offsets[text + 1], signatures[text], last, 0, 0, 0):
            _fill(signatures[text], bins)


@typed_kernel(makes_arrays=True)
def bucket_minhash(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], buckets: int, hashes: int, signatures: NDArray[np.uint32]
) -> None:
    """Fill `signatures`, of shape (texts, buckets * hashes) and full of the empty mark, with the numbers of texts."""
    last, fresh = np.zeros(NGRAM, np.uint64), np.zeros(buckets * hashes, np.uint32)
    for text in range(len(offsets) - 1):
        row = signatures[text]
        for turn in range(2 * buckets):
            fresh[:] = _EMPTY
            if _sign(data, offsets[text], offsets[text + 1], fresh, last, buckets, hashes, turn) == 0:
                break
            unfilled = 0
            for place in range(len(fresh)):
                if row[place] == _EMPTY:
                    row[place] = fresh[place]
                    unfilled += fresh[place] == _EMPTY
            if unfilled == 0:
                break
