"""The compiled core of MinHash: one pass over the UTF-8 bytes of texts, one hash a run of words.

It reads the bytes that the offsets name and no more, whatever they are. The readable twin is `minhash.signature`; for
bytes that are no UTF-8 the two need not agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, typed_kernel

_BINS, _NGRAM = 256, 5
_EMPTY = np.uint32(0xFFFFFFFF)
_GAP, _LETTER, _ALONE = range(3)
_U = np.uint64
_0, _1, _24, _27, _30, _31, _56 = (_U(n) for n in (0, 1, 24, 27, 30, 31, 56))
_WORD_PRIME, _RUN_BASE = _U(0x9E3779B97F4A7C15), _U(0xD6E8FEB86659FD93)
_FALLEN_OUT = _U(pow(0xD6E8FEB86659FD93, _NGRAM, 1 << 64))
_GOLDEN, _M1, _M2 = _U(0x9E3779B97F4A7C15), _U(0xBF58476D1CE4E5B9), _U(0x94D049BB133111EB)
_LOW, _LARGEST = _U(0xFFFFFFFF), _U(0xFFFFFFFE)


@inlined
def _mix(x: Any) -> Any:
    x = x + _GOLDEN
    x = (x ^ (x >> _30)) * _M1
    x = (x ^ (x >> _27)) * _M2
    return x ^ (x >> _31)


@inlined
def _kind_of(code: int) -> int:
    if code < 0xC0:
        return _LETTER if 48 <= code < 58 or 65 <= code < 91 or 97 <= code < 123 else _GAP
    if code < 0x2000:
        return _GAP if code in (0xD7, 0xF7) else _LETTER
    if code < 0x2C00 or 0x2E00 <= code < 0x2E80 or 0x3000 <= code < 0x3040:
        return _GAP
    if 0x2E80 <= code < 0xA000 or 0xF900 <= code < 0xFB00 or code >= 0x20000:
        return _ALONE
    return _GAP if 0xFE10 <= code < 0xFE70 or 0xFF00 <= code < 0xFF66 else _LETTER


@inlined
def _put(run: Any, row: NDArray[np.uint32]) -> None:
    mixed = _mix(run)
    place, rest = mixed >> _56, np.uint32(min((mixed >> _24) & _LOW, _LARGEST))
    row[place] = min(row[place], rest)


@inlined
def _fill(row: NDArray[np.uint32], bins: NDArray[np.uint32]) -> None:
    """Let every empty bin borrow from the next full one, to the left or the right as its hash says."""
    for place in range(_BINS):
        bins[place] = row[place]
    for place in range(_BINS):
        if bins[place] == _EMPTY:
            step, lender = (1 if _mix(_U(place)) & _1 else _BINS - 1), place
            while bins[lender] == _EMPTY:
                lender = (lender + step) % _BINS
            row[place] = bins[lender]


@inlined
def _sign(data: NDArray[np.uint8], start: int, end: int, row: NDArray[np.uint32], last: NDArray[np.uint64]) -> int:
    """Put the runs of one text into its row; returns how many words there are."""
    i, words = start, 0
    held = run = _0
    while i <= end:
        kind, code = _GAP, 0
        if i == end:
            i += 1
        else:
            first = int(data[i])
            i += 1
            code = first
            if first >= 0x80:
                more = 3 if first >= 0xF0 else 2 if first >= 0xE0 else 1 if first >= 0xC0 else 0
                code = first & (0x3F >> more)
                for _ in range(more):
                    if i < end and data[i] & 0xC0 == 0x80:
                        code = code << 6 | int(data[i] & 0x3F)
                        i += 1
            kind = _kind_of(code)
        if kind == _LETTER:
            if 65 <= code < 91 or 0xC0 <= code < 0xDF:
                code += 32
            held = (held ^ _U(code)) * _WORD_PRIME
            continue
        for alone in range(2):
            if alone == 0:
                word, held = held, _0
            else:
                word = _U(code) * _WORD_PRIME if kind == _ALONE else _0
            if word == _0:
                continue
            word = _mix(word)
            run = run * _RUN_BASE + word
            if words >= _NGRAM:
                run -= last[words % _NGRAM] * _FALLEN_OUT
            last[words % _NGRAM] = word
            words += 1
            if words >= _NGRAM:
                _put(run, row)
    if 0 < words < _NGRAM:
        _put(run, row)
    return words


@typed_kernel(makes_arrays=True)
def minhash(data: NDArray[np.uint8], offsets: NDArray[np.int64], found: NDArray[np.uint32]) -> None:
    """Fill `found`, of shape (texts, 256) and full of the empty mark, with the signatures of texts."""
    last, bins = np.zeros(_NGRAM, np.uint64), np.zeros(_BINS, np.uint32)
    for text in range(len(offsets) - 1):
        if _sign(data, offsets[text], offsets[text + 1], found[text], last):
            _fill(found[text], bins)
