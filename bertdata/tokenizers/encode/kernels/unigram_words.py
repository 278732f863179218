"""Words of Unigram that are normalized already: the best path through the pieces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, kernel
from bertdata.tokenizers.encode.kernels import word_cache
from bertdata.tokenizers.encode.kernels.id_cache import MAX_IDS, Cache, put_ids
from bertdata.tokenizers.encode.kernels.spelled_words import Removed, skip_removed
from bertdata.tokenizers.encode.kernels.unigram import Path, Pieces, best_path


class Model(NamedTuple):
    """The vocabulary, and room for a word. asks: whether words with unknown characters are left to `tokenizers`."""

    pieces: Pieces
    removed: Removed
    path: Path
    asks: bool
    ids: NDArray[Any]


@inlined
def _encode(cache: Any, entry: Any, text: Any, start: Any, end: Any, model: Any) -> None:
    """Give a new word its ids, unless it has to be asked for."""
    first = skip_removed(text, start, end, model.removed)
    size = end - first
    for j in range(size):
        model.path.word[j] = text[first + j]
    count = best_path(model.pieces, model.path, size, model.ids)
    known: Any = count <= MAX_IDS
    if model.asks:
        for j in range(count):
            known = known and np.int64(model.ids[j]) != np.int64(model.pieces.settings[1])
    if known:
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
