"""The hashes of many ids at once, by a kernel once a process has had many."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.counter_rng import digest_of
from bertdata.kernels.use import Kernels

_HASHING = Kernels("bertdata.kernels.blake2b:hash_texts")
_AS_MANY_BYTES = 256
"""What a text counts for: the kernel is loaded in the time in which plain Python hashes some 3,000."""


def id_bits(ids: pa.StringArray) -> NDArray[np.uint64]:
    """Return `text_bits` of each id of an array without nulls, uint64 (N,).

    >>> from bertdata.counter_rng import text_bits
    >>> id_bits(pa.array(["enwiki:12"])).tolist() == [text_bits("enwiki:12")]
    True
    """
    _, ends, data = ids.buffers()
    places = np.frombuffer(ends or bytes(4), np.int32)[ids.offset : ids.offset + len(ids) + 1]
    if not _HASHING.pay(len(ids) * _AS_MANY_BYTES):
        stored = memoryview(data or b"")
        pieces = [stored[begin:end] for begin, end in pairwise(places.tolist())]
        digests = b"".join([digest_of(piece) for piece in pieces])
        return np.frombuffer(digests, "<u8").astype(np.uint64)
    from bertdata.kernels import blake2b as kernel

    hashes = np.empty(len(ids), np.uint64)
    kernel.hash_texts(np.frombuffer(data or b"", np.uint8), places, np.empty(kernel.WORDS, np.uint64), hashes)
    return hashes


def slots(ids: pa.StringArray) -> NDArray[np.int64]:
    """Return `slot` of each id, the hash bucket of the document, int64 (N,).

    >>> slots(pa.array(["enwiki:12"])).tolist()
    [8310]
    """
    return (id_bits(ids) >> np.uint64(48)).astype(np.int64)
