"""Words of WordPiece: the longest token that begins here, or [UNK] for the whole word."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, kernel
from bertdata.tokenizers.encode.kernels import word_cache
from bertdata.tokenizers.encode.kernels.double_array import BASE, LABEL, TAKEN, TO_BASE, TO_ID
from bertdata.tokenizers.encode.kernels.id_cache import MAX_IDS, Cache, put_ids
from bertdata.tokenizers.encode.kernels.spelled_words import Removed, skip_removed

FIRST, LATER, UNKNOWN, MOST_CHARACTERS = range(4)
_U = np.uint64
_0, _1 = _U(0), _U(1)


class Model(NamedTuple):
    """The vocabulary, in a double array of two roots, and room for the ids of a word.

    settings: the base of the root of tokens that begin a word and of those that go on with one, the id of [UNK], and
    the most characters of a word that is no [UNK].
    """

    cells: NDArray[np.uint64]
    settings: NDArray[np.int64]
    removed: Removed
    ids: NDArray[Any]


@inlined
def _encode(cache: Any, entry: Any, text: Any, start: Any, end: Any, model: Any) -> None:
    """Give a new word its ids."""
    at, stop = _U(skip_removed(text, start, end, model.removed)), _U(end)
    characters: Any = 0
    for j in range(at, stop):
        characters += text[j] & 0xC0 != 0x80
    count: Any = 0
    root = _U(model.settings[FIRST])
    fits: Any = characters <= model.settings[MOST_CHARACTERS]
    while at < stop and fits:
        base, piece, after, i = root, _0, at, at
        while i < stop:
            label = _U(text[i])
            cell = model.cells[base ^ label]
            if cell & LABEL != label | TAKEN:
                break
            i += _1
            if cell >> TO_ID != _0:
                piece, after = cell >> TO_ID, i
            base = cell >> TO_BASE & BASE
        fits = piece != _0
        if fits:
            model.ids[count] = piece - _1
            count += 1
            at = after
            root = _U(model.settings[LATER])
    if not fits:
        model.ids[0] = model.settings[UNKNOWN]
        count = 1
    if count <= MAX_IDS:
        put_ids(cache, entry, model.ids, 0, count, False)


@kernel
def write_known(
    text: Any, begin: int, positions: Any, n_words: int, offsets: Any, row: int, stop: int, cache: Cache,
    out: Any, written: int, word_starts: Any, ends: Any, left: Any, longs: Any, window: Any, model: Model,
) -> Any:  # fmt: skip
    """Write the ids of words, as `word_cache.write_known`."""
    return word_cache.write_known(
        text, begin, positions, n_words, offsets, row, stop, cache,
        out, written, word_starts, ends, left, longs, window, _encode, model,
    )  # fmt: skip
