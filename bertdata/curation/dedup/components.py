"""The connected components of documents that share keys, and which task decides on each.

Documents are compared only with those that they share keys with, so each connected component is decided by itself. All
documents of a component go to one piece, and each piece is decided by one task. The memory of this is the only one that
grows with the corpus: 4 bytes for each document, 8 from 2^32 of them on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from bertdata.counter_rng import bits, key
from bertdata.curation.dedup.union_find import Numbers, join, roots

PIECES = pa.schema([pa.field("document", pa.uint32()), pa.field("piece", pa.uint32())])
"""A document that shares a key, counted from the first of its block, and the piece that its component is in."""
_AT_ONCE = 1 << 18


def connected(links: Iterable[pa.Table], documents: int) -> Numbers:
    """Return for each document one that it leads to (see `union_find`); `documents`, their number, if it has no link.

    >>> links = pa.table({"lowest": pa.array([1, 3], pa.uint64()), "document": pa.array([3, 4], pa.uint64())})
    >>> connected([links], 6).tolist()
    [6, 1, 6, 1, 1, 6]
    """
    lowest: Numbers = np.full(documents, documents, np.uint32 if documents < 1 << 32 else np.uint64)
    for table in links:
        for begin in range(0, table.num_rows, _AT_ONCE):
            some = table.slice(begin, _AT_ONCE)
            first, second = (some[name].to_numpy().astype(np.int64) for name in table.column_names)
            for ends in (first, second):
                lowest[ends] = np.minimum(lowest[ends], ends.astype(lowest.dtype))
            join(lowest, first, second)
    return lowest


def pieces_of(lowest: Numbers, borders: Sequence[int], pieces: int) -> Iterable[pa.Table]:
    """Yield a table of `PIECES` of the documents that have a link for each block, which begin and end at `borders`.

    A component is in the piece that a hash of its lowest document says.
    """
    component_key = key(0, "components")
    for begin, end in pairwise(borders):
        documents, piece_numbers = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)]
        for start in range(begin, end, _AT_ONCE):
            linked = np.flatnonzero(lowest[start : min(end, start + _AT_ONCE)] < len(lowest)) + start
            documents.append((linked - begin).astype(np.uint32))
            piece_numbers.append(
                (bits(component_key, roots(lowest, linked).astype(np.int64)) % np.uint64(pieces)).astype(np.uint32)
            )
        yield pa.table([pa.array(np.concatenate(parts)) for parts in (documents, piece_numbers)], schema=PIECES)
