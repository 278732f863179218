"""Which documents are duplicates, and which one of each group stays: decided in one place for the whole corpus.

Of the documents that share a bucket those that are alike are joined, and all that hang together are one group. The
longest text of a group stays, of equally long ones that with the lowest id. So the answer is a function of the
documents, whatever the order, the ranges or the workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.curation.dedup.minhash import BINS, estimate
from bertdata.engine.byte_ranges import Stream, read_stream

EXACT, NEAR = "exact duplicate", "near duplicate"
NEIGHBOURS = 16
DROPPED = pa.schema(
    [
        pa.field("file", pa.uint32()),
        pa.field("row", pa.uint32()),
        pa.field("id", pa.string()),
        pa.field("bytes", pa.int64()),
        pa.field("reason", pa.string()),
        pa.field("kept", pa.string()),
        pa.field("similarity", pa.float32()),
    ]
)
_PAIRS_AT_ONCE = 1 << 16
_LOW = np.uint64(0xFFFFFFFF)

Number = TypeVar("Number", np.uint32, np.uint64)
Codes = NDArray[np.uint64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class _Candidates:
    """Documents that share a bucket with another, the one to stay first: its place is its rank."""

    codes: Codes
    ids: pa.Array
    sizes: NDArray[np.int64]
    digests: Codes
    signatures: NDArray[np.uint32] | None

    def alike(self, one: Places, other: Places, threshold: float | None) -> NDArray[np.bool_]:
        """Tell which pairs are the same text or, with a threshold, as alike as that."""
        same = np.asarray((self.digests[one] == self.digests[other]).all(axis=1))
        if threshold is not None:
            for start in range(0, len(one), _PAIRS_AT_ONCE):
                part = slice(start, start + _PAIRS_AT_ONCE)
                same[part] |= self.similarity(one[part], other[part]) >= threshold
        return same

    def similarity(self, one: Places, other: Places) -> NDArray[np.float64]:
        """Return the estimated similarity of pairs; without signatures all are taken for equal."""
        if self.signatures is None:
            return np.ones(len(one))
        return estimate(self.signatures[one], self.signatures[other])


def find_dropped(documents: Sequence[Stream], buckets: Iterable[pa.Table], threshold: float | None) -> pa.Table:
    """Return the documents to drop, by (file, row), each with its reason and the id of the one that stays for it.

    Memory is about 1.5 kB for each document that shares a bucket, and 8 bytes for each of the pairs compared. A
    document is compared with the longest of each of its buckets and with the 16 next longer ones.
    """
    members = [(table["bucket"].to_numpy(), _codes(table)) for table in buckets if table.num_rows]
    if not members:
        return DROPPED.empty_table()
    found = _candidates(documents, np.unique(np.concatenate([codes for _, codes in members])))
    by_code = np.argsort(found.codes)
    pairs = np.zeros(0, np.uint64)
    for bucket, codes in members:
        ranks = by_code[np.searchsorted(found.codes, codes, sorter=by_code)]
        pairs = np.union1d(pairs, _pairs(bucket.astype(np.int64), ranks))
    low, high = (pairs >> np.uint64(32)).astype(np.int64), (pairs & _LOW).astype(np.int64)
    alike = found.alike(low, high, threshold)
    stays = _groups(len(found.codes), low[alike], high[alike])
    dropped = np.flatnonzero(stays != np.arange(len(stays)))
    return _table(found, dropped, stays[dropped])


def _codes(table: pa.Table) -> Codes:
    return _coded(table["file"].to_numpy(), table["row"].to_numpy())


def _candidates(documents: Sequence[Stream], codes: Codes) -> _Candidates:
    """Load the candidates, whose codes are sorted, from their files and bring them into their order."""
    numbers = (codes >> np.uint64(32)).astype(np.int64)
    tables = []
    for number in np.unique(numbers).tolist():
        rows = pa.array(codes[numbers == number] & _LOW)
        tables.append(read_stream(documents[number]).take(rows))
    table = pa.concat_tables(tables).combine_chunks()
    ids = table["id"].combine_chunks()
    sizes = table["bytes"].to_numpy()
    digests = _numbers(table["digest"], np.uint64, 2)
    named = pc.rank(ids, tiebreaker="dense").to_numpy()
    order = np.lexsort((codes, digests[:, 1], digests[:, 0], named, -sizes))
    signed = None if table["signature"].null_count else _numbers(table["signature"], np.uint32, BINS)[order]
    return _Candidates(codes[order], ids.take(pa.array(order)), sizes[order], digests[order], signed)


def _numbers(column: pa.ChunkedArray, kind: type[Number], width: int) -> NDArray[Number]:
    [chunk] = column.chunks
    data = np.frombuffer(chunk.buffers()[1], kind)
    return data.reshape(-1, width)[chunk.offset : chunk.offset + len(chunk)]


def _pairs(bucket: Places, ranks: Places) -> Codes:
    """Return the pairs of members of a bucket to be compared, as low rank << 32 | high rank."""
    order = np.lexsort((ranks, bucket))
    bucket, ranks = bucket[order], ranks[order]
    begins = np.flatnonzero(np.concatenate([[True], bucket[1:] != bucket[:-1]]))
    first = np.repeat(begins, np.diff(np.append(begins, len(bucket))))
    place = np.arange(len(bucket))
    found = [_coded(ranks[first], ranks)]
    for back in range(1, NEIGHBOURS + 1):
        near = place[place - first >= back]
        if not len(near):
            break
        found.append(_coded(ranks[near - back], ranks[near]))
    pairs = np.unique(np.concatenate(found))
    different: Codes = pairs[pairs >> np.uint64(32) != pairs & _LOW]
    return different


def _coded(high: NDArray[np.integer], low: NDArray[np.integer]) -> Codes:
    codes: Codes = high.astype(np.uint64) << np.uint64(32)
    codes |= low.astype(np.uint64)
    return codes


def _groups(count: int, one: Places, other: Places) -> Places:
    """Return for each of `count` nodes the lowest node that edges join it to, itself included.

    >>> _groups(5, np.array([1, 3]), np.array([3, 4])).tolist()
    [0, 1, 2, 1, 1]
    """
    lowest = np.arange(count)
    while True:
        least = np.minimum(lowest[one], lowest[other])
        joined = lowest.copy()
        for ends in (one, other):
            np.minimum.at(joined, lowest[ends], least)
        while not np.array_equal(further := joined[joined], joined):
            joined = further
        if np.array_equal(joined, lowest):
            return lowest
        lowest = joined


def _table(found: _Candidates, dropped: Places, stays: Places) -> pa.Table:
    _, first = np.unique(found.digests, axis=0, return_index=True)
    repeated = np.ones(len(found.codes), np.bool_)
    repeated[first] = False
    exact = repeated[dropped]
    similarity = np.concatenate(
        [np.zeros(0)]
        + [
            found.similarity(dropped[start : start + _PAIRS_AT_ONCE], stays[start : start + _PAIRS_AT_ONCE])
            for start in range(0, len(dropped), _PAIRS_AT_ONCE)
        ]
    )
    order = np.argsort(found.codes[dropped])
    codes = found.codes[dropped][order]
    return pa.table(
        [
            pa.array((codes >> np.uint64(32)).astype(np.uint32)),
            pa.array((codes & _LOW).astype(np.uint32)),
            found.ids.take(pa.array(dropped[order])),
            pa.array(found.sizes[dropped][order]),
            pa.array(np.where(exact[order], EXACT, NEAR).tolist(), pa.string()),
            found.ids.take(pa.array(stays[order])),
            pa.array(similarity[order].astype(np.float32)),
        ],
        schema=DROPPED,
    )
