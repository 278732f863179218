"""The pieces of a Unigram model, [piece, score] each in a `tokenizer.json`, as columns; the scores that kernels need.

A model has up to some hundred thousand pieces, so what is done to all of them is done to a column at once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.text_arrays import column_of, numbers_of

UNKNOWN_PENALTY = 10.0
"""By how much an unknown character is worse than the worst piece, as in SentencePiece."""
_SAMPLE = 512
_MOST_PLACES = 22
"""The highest power of ten that a double holds."""
_HIGHEST = 1e6
"""From here on scores may be written with an exponent."""


def columns_of(pieces: Sequence[Any]) -> tuple[list[str], list[float]] | None:
    """Return pieces and scores; None where one is not a list of a string and a finite fraction.

    >>> columns_of([["a", -1.5], ["b", -2.0]]), columns_of([["a", -1]])
    ((['a', 'b'], [-1.5, -2.0]), None)
    """
    if {*map(type, pieces)} - {list} or {*map(len, pieces)} - {2}:
        return None
    names, scores = list(map(itemgetter(0), pieces)), list(map(itemgetter(1), pieces))
    whole = {*map(type, names)} <= {str} and {*map(type, scores)} <= {float} and all(map(math.isfinite, scores))
    return (names, scores) if whole else None


def names_of(pieces: Sequence[Any]) -> list[str]:
    """Return pieces without their scores; raises ValueError or TypeError where one is not whole."""
    columns = columns_of(pieces)
    return [piece for piece, _ in pieces] if columns is None else columns[0]


def columns_as_read(pieces: Sequence[Any]) -> tuple[list[str], NDArray[np.float64]]:
    """Return pieces, and their scores as the installed `tokenizers` reads them, float64."""
    columns = columns_of(pieces)
    if columns is None:
        return names_of(pieces), _read_by_tokenizers([score for _, score in pieces])
    return columns[0], scores_as_read(columns[1])


def scores_as_read(scores: Sequence[float]) -> NDArray[np.float64]:
    """Return scores as the installed `tokenizers` reads them from a file, float64.

    Of some numbers it reads the last bit otherwise than Python; ties between paths show it. Asking it for all takes
    long, so it is asked for a part, and for all only where none of the ways is right in that part: digits divided by a
    power of ten, or as Python.
    """
    exact = np.array(scores, np.float64)
    divided, plain = _digits_divided(exact)
    differing, step = np.flatnonzero(divided != exact), max(1, len(exact) // _SAMPLE)
    asked = np.unique(np.concatenate([np.flatnonzero(~plain), differing[:_SAMPLE], np.arange(0, len(exact), step)]))
    read = _read_by_tokenizers(exact[asked].tolist())
    for way in (divided, exact):
        if np.array_equal(way[asked][plain[asked]], read[plain[asked]]):
            way[asked] = read
            return way
    return _read_by_tokenizers(exact.tolist())


def _digits_divided(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the digits of numbers in their shortest form, as integers, divided by a power of ten, both as doubles.

    So serde_json reads them without its feature `float_roundtrip`. And for which numbers that is known: those that have
    no exponent in that form.
    """
    import pyarrow.compute as pc  # takes a twentieth of a first call, which needs it for Unigram only

    texts = column_of(np.abs(scores)).cast(pa.string())
    points, lengths = numbers_of(pc.find_substring(texts, ".")), numbers_of(pc.binary_length(texts))
    places = np.where(points < 0, 0, lengths - 1 - points)
    exponents = numbers_of(pc.find_substring(texts, "e"))
    plain = (places <= _MOST_PLACES) & (np.abs(scores) < _HIGHEST) & (exponents < 0)
    chosen, divided = np.flatnonzero(plain), scores.copy()
    digits = numbers_of(pc.replace_substring(texts.take(column_of(chosen)), ".", "").cast(pa.uint64()))
    powers = np.array([float(10**place) for place in range(_MOST_PLACES + 1)])
    divided[chosen] = np.copysign(digits.astype(np.float64) / powers[places[chosen]], scores[chosen])
    return divided, plain


def _read_by_tokenizers(scores: Sequence[float]) -> NDArray[np.float64]:
    """Return numbers as `tokenizers` reads them: the scores of pieces without a name."""
    from tokenizers import Tokenizer

    model = {"type": "Unigram", "unk_id": None, "vocab": [["", score] for score in scores]}
    written = Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], "model": model})).to_str()
    return np.array([score for _, score in json.loads(written)["model"]["vocab"]], np.float64)
