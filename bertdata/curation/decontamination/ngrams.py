"""All runs of N words in texts, or those that a table of hashes holds, by the kernel."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.curation.decontamination.ngram_words import folding

EVERY = np.zeros(0, np.uint64)
"""The table that leaves out nothing."""
_ROOM_AT_FIRST = 1 << 10


def ngrams_of(
    texts: pa.LargeStringArray, n: int, table: NDArray[np.uint64] = EVERY
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes (N,) of the runs of `n` words that a table holds, and their places (N, 3).

    A place is the number of the text, and the bytes where the run begins and ends in the buffer of all texts. `table`
    is an open addressing table (`search_kernel.fill`).

    >>> hashes, places = ngrams_of(pa.array(["Salt is a mineral.", "Salt!"], pa.large_string()), 3)
    >>> len(hashes), places.tolist()
    (2, [[0, 0, 9], [0, 5, 17]])
    """
    from bertdata.curation.decontamination.search_kernel import find_ngrams

    _, offsets, data = texts.buffers()
    ends = np.zeros(1, np.int64)
    if len(texts):
        ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(data or b"", np.uint8)
    room = _ROOM_AT_FIRST
    while True:
        hashes, places = np.zeros(room, np.uint64), np.zeros((room, 3), np.int64)
        count = find_ngrams(content, ends, n, folding(), table, hashes, places)
        if count <= room:
            return hashes[:count], places[:count]
        room = count
