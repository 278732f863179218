"""Unigram over texts that nothing cuts: the best path through a text, and parts of it whose path is the same anywhere.

`tokenizers` adds up the scores of a path from the first character of a text on, and rounding, which depends on what
went before, decides between paths of a part that are as good as each other. A part is certain where no other path
through it is nearly as good as the best one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, kernel
from bertdata.tokenizers.encode.kernels import word_cache
from bertdata.tokenizers.encode.kernels.double_array import BASE, LABEL, TAKEN, TO_BASE, TO_ID
from bertdata.tokenizers.encode.kernels.id_cache import MAX_IDS, Cache, put_ids
from bertdata.tokenizers.encode.kernels.unigram import Path, Pieces, best_path
from bertdata.tokenizers.encode.kernels.unigram_words import write_bytes

MARGIN, MOST_SUM = 1e-5, 1e8
"""By how much the best path of a part must be better than any other, for sums of scores up to MOST_SUM: 64 of these are
rounded by less than 1e-6 in all."""
_U = np.uint64
_0 = _U(0)


class Model(NamedTuple):
    """The vocabulary, and room for a part: the second best path that ends before each byte, float64, and its ids.

    certain: whether parts must be certain. fallback: as in `unigram_words.Model`.
    """

    pieces: Pieces
    path: Path
    seconds: NDArray[np.float64]
    certain: bool
    fallback: NDArray[np.int64]
    ids: NDArray[Any]


@inlined
def _margin(model: Any, n: Any) -> Any:
    """Return by how much the best path through `n` bytes, which `best_path` found, is better than all others."""
    pieces, path, seconds = model.pieces, model.path, model.seconds
    unknown = np.int64(pieces.settings[1])
    for j in range(n + 1):
        seconds[j] = -np.inf
    root = pieces.cells[0] >> TO_BASE & BASE
    start: Any = 0
    while start < n:
        byte = path.word[start]
        size: Any = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        base, at = root, start
        while at < n:
            label = _U(path.word[at])
            cell = pieces.cells[base ^ label]
            if cell & LABEL != label | TAKEN:
                break
            at += 1
            if cell >> TO_ID != _0:
                token = np.int64(cell >> TO_ID) - 1
                is_best = path.starts[at] == start and path.ids[at] == token
                before = seconds[start] if is_best else path.scores[start]
                seconds[at] = max(seconds[at], before + pieces.scores[token])
            base = cell >> TO_BASE & BASE
        at = start + size
        is_best = path.starts[at] == start and path.ids[at] == unknown
        before = seconds[start] if is_best else path.scores[start]
        seconds[at] = max(seconds[at], before + pieces.settings[0])
        start += size
    return path.scores[n] - seconds[n]


@inlined
def _path_ids(text: Any, start: Any, end: Any, model: Any) -> Any:
    """Write the ids of the best path through a part of a text; returns how many, -1 where it is not certain."""
    size = end - start
    for j in range(size):
        model.path.word[j] = text[start + j]
    count = best_path(model.pieces, model.path, size, model.ids)
    if len(model.fallback) > 0:
        count = write_bytes(model, size)
    return count if not model.certain or _margin(model, size) > MARGIN else -1


@inlined
def _encode(cache: Any, entry: Any, text: Any, start: Any, end: Any, model: Any) -> None:
    """Give a new part its ids, if it is certain."""
    count = _path_ids(text, start, end, model)
    if 0 <= count <= MAX_IDS:
        put_ids(cache, entry, model.ids, 0, count, False)


@kernel
def write_known(
    text: Any, begin: int, positions: Any, n_words: int, offsets: Any, row: int, stop: int, cache: Cache,
    out: Any, written: int, word_starts: Any, ends: Any, left: Any, longs: Any, window: Any, model: Model,
) -> Any:  # fmt: skip
    """Write the ids of parts, as `word_cache.write_known`."""
    return word_cache.write_known(
        text, begin, positions, n_words, offsets, row, stop, cache,
        out, written, word_starts, ends, left, longs, window, _encode, model,
    )  # fmt: skip


@kernel
def encode_part(text: Any, start: int, end: int, model: Model) -> Any:
    """Write the ids of a part of a text into `model.ids`; returns how many, -1 where it is not certain."""
    return _path_ids(text, start, end, model)
