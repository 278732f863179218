"""Words whose ids are asked of `tokenizers`: the kernel writes those that the cache has, and leaves all others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, kernel
from bertdata.tokenizers.encode.kernels import word_cache
from bertdata.tokenizers.encode.kernels.id_cache import Cache, put_ids


class Model(NamedTuple):
    """Nothing that a kernel needs."""

    nothing: NDArray[np.uint8]


@inlined
def _leave(cache: Any, entry: Any, text: Any, start: Any, end: Any, model: Any) -> None:
    """Give a new word no ids."""


@kernel
def write_known(
    text: Any, begin: int, positions: Any, n_words: int, offsets: Any, row: int, stop: int, cache: Cache,
    out: Any, written: int, word_starts: Any, ends: Any, left: Any, longs: Any, window: Any, model: Model,
) -> Any:  # fmt: skip
    """Write the ids of words, as `word_cache.write_known`."""
    return word_cache.write_known(
        text, begin, positions, n_words, offsets, row, stop, cache,
        out, written, word_starts, ends, left, longs, window, _leave, model,
    )  # fmt: skip


@kernel
def give_all(cache: Cache, entries: Any, chosen: Any, ids: Any, ends: Any) -> None:
    """Give the entries that are `chosen`, bool, their ids, which for entry k are ids[ends[k] : ends[k + 1]]."""
    for k in range(len(entries)):
        if chosen[k]:
            put_ids(cache, entries[k], ids, ends[k], ends[k + 1] - ends[k], False)
