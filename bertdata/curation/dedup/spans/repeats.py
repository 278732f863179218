"""Which of some occurrences of spans are left out: of equal spans all but the first, in an order of the documents.

The order is that of a hash of a document's id and text, and then of the places in it. So which occurrence stays is a
function of the documents, whatever files they are in. Of documents with the same id and the same text, the one that is
read first comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

DIGEST_BYTES = 16
SPANS = pa.schema(
    [
        pa.field(name, kind)
        for name, kind in (
            ("high", pa.uint64()),
            ("low", pa.uint64()),
            ("rank", pa.uint64()),
            ("document", pa.uint32()),
            ("place", pa.uint32()),
        )
    ]
)
"""An occurrence of a span: the 128 bits of its hash, the rank of its document, the document's number in its file, and
the number of its first unit."""


def rank_of(document_id: str, text: bytes) -> int:
    """Return the 64 bits by which documents are ordered.

    >>> rank_of("a", b"One.") == rank_of("a", b"One."), rank_of("a", b"One.") == rank_of("a", b"Two.")
    (True, False)
    """
    hasher = blake2b(document_id.encode("utf-8", "backslashreplace") + b"\0", digest_size=8)
    hasher.update(text)
    return int.from_bytes(hasher.digest(), "little")


def digest_of(words: bytes) -> bytes:
    """Return the 16 bytes that stand for a span.

    Spans are compared by these bytes alone: among 10^11 different spans, two have the same with a probability of about
    10^-17.
    """
    return blake2b(words, digest_size=DIGEST_BYTES).digest()


@dataclass(frozen=True)
class Occurrences:
    """Occurrences of spans, arrays of one length: the columns of `SPANS`, and the number of the file each is in."""

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    rank: NDArray[np.uint64]
    document: NDArray[np.uint32]
    place: NDArray[np.uint32]
    file: NDArray[np.uint32]

    @staticmethod
    def of(columns: Mapping[str, NDArray[Any]], file: int) -> Occurrences:
        """Return those that the columns of one file have."""
        return Occurrences(**columns, file=np.full(len(columns["high"]), file, np.uint32))

    @staticmethod
    def joined(parts: list[Occurrences]) -> Occurrences:
        """Return those of several, one after another; empties the list."""
        empty = Occurrences.of({column.name: pa.array([], column.type).to_numpy() for column in SPANS}, 0)
        names = [field.name for field in fields(Occurrences)]
        result = Occurrences(
            *(np.concatenate([getattr(occurrences, name) for occurrences in [empty, *parts]]) for name in names)
        )
        parts.clear()
        return result

    def __len__(self) -> int:
        return len(self.high)

    def taken(self, rows: NDArray[np.int64] | slice) -> Occurrences:
        """Return some of them, as a copy."""
        return Occurrences(*(getattr(self, field.name)[rows].copy() for field in fields(self)))

    def left_out(self) -> NDArray[np.int64]:
        """Return the rows of those that are left out: of equal spans all but the one that comes first."""
        order = np.argsort(self.high, kind="stable")
        ordered = self.high[order]
        same = ordered[1:] == ordered[:-1]
        repeats = order[np.concatenate([same, [False]]) | np.concatenate([[False], same])] if len(order) else order
        keys = (self.place, self.document, self.file, self.rank, self.low, self.high)
        chosen = repeats[np.lexsort([key[repeats] for key in keys])]
        high, low = self.high[chosen], self.low[chosen]
        return np.sort(chosen[1:][(high[1:] == high[:-1]) & (low[1:] == low[:-1])])
