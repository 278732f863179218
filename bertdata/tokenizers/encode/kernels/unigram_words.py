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
    """The vocabulary, and room for a word.

    asks: whether words with unknown characters are left to `tokenizers`. fallback: the ids of bytes that stand for an
    unknown character, int64 (256,); empty where there are none.
    """

    pieces: Pieces
    removed: Removed
    path: Path
    asks: bool
    fallback: NDArray[np.int64]
    ids: NDArray[Any]


@inlined
def write_bytes(model: Any, n: Any) -> Any:
    """Write the ids of the best path through `n` bytes, those of bytes for unknown characters; returns how many."""
    path, unknown = model.path, np.int64(model.pieces.settings[1])
    count: Any = 0
    at = n
    while at > 0:  # from the end on; a step takes at least as many bytes as it gives ids, so there is room
        start = path.starts[at]
        if path.ids[at] == unknown:
            for j in range(at - start):
                model.ids[count + j] = model.fallback[path.word[at - 1 - j]]
            count += at - start
        else:
            model.ids[count] = path.ids[at]
            count += 1
        at = start
    for j in range(count // 2):
        model.ids[j], model.ids[count - 1 - j] = model.ids[count - 1 - j], model.ids[j]
    return count


@inlined
def _encode(cache: Any, entry: Any, text: Any, start: Any, end: Any, model: Any) -> None:
    """Give a new word its ids, unless it has to be asked for."""
    first = skip_removed(text, start, end, model.removed)
    size = end - first
    for j in range(size):
        model.path.word[j] = text[first + j]
    count = best_path(model.pieces, model.path, size, model.ids)
    unknown: Any = False
    if model.asks or len(model.fallback) > 0:
        for j in range(count):
            unknown = unknown or np.int64(model.ids[j]) == np.int64(model.pieces.settings[1])
    if unknown and not model.asks:
        count = write_bytes(model, size)
    if count <= MAX_IDS and not (unknown and model.asks):
        put_ids(cache, entry, model.ids, 0, count, False)


@kernel
def encode_words(text: Any, ends: Any, model: Model, ids: Any, id_ends: Any) -> Any:
    """Write the ids of words that follow each other in a text, as `ends` says, and where those of each end."""
    written: Any = 0
    start: Any = 0
    for k in range(len(ends)):
        size = np.int64(ends[k]) - start
        for j in range(size):
            model.path.word[j] = text[start + j]
        count = best_path(model.pieces, model.path, size, model.ids)
        if len(model.fallback) > 0:
            count = write_bytes(model, size)
        for j in range(count):
            ids[written + j] = model.ids[j]
        written += count
        start += size
        id_ends[k] = written


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
