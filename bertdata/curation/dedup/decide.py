"""Which documents are duplicates, and which one of each group stays: decided in one place for the whole corpus.

Of the documents that share a bucket those that are alike are joined, and all that hang together are one group. The
longest text of a group stays, of equally long ones that with the lowest id. So the answer is a function of the
documents, whatever the order, the ranges or the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.curation.dedup.minhash import estimate
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
BYTES_EACH = 1500
"""Bytes that the decision takes for a document that shares a bucket, its id aside: 1,024 of them are its signature."""
_PAIRS_AT_ONCE, _MEMBERS_AT_ONCE = 1 << 12, 1 << 15
_LOW = np.uint64(0xFFFFFFFF)

Number = TypeVar("Number", np.uint32, np.uint64)
Codes = NDArray[np.uint64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class _Candidates:
    """Documents that share a bucket with another, the one to stay first: its place is its rank.

    signatures are in the order of their files, where `order` has the place of each rank.
    """

    codes: Codes
    ids: pa.Array
    sizes: NDArray[np.int64]
    digests: Codes
    signatures: NDArray[np.uint32] | None
    order: Places

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
        return estimate(self.signatures[self.order[one]], self.signatures[self.order[other]])


def find_dropped(
    documents: Sequence[Stream], buckets: Sequence[Callable[[], pa.Table]], threshold: float | None
) -> pa.Table:
    """Return the documents to drop, by (file, row), each with its reason and the id of the one that stays for it.

    buckets: read those of each partition; each is called twice.

    A document is compared with the longest of each of its buckets and with the 16 next longer ones, but for those that
    it is joined to already. Memory is at most `BYTES_EACH`, and five times the id, for each document that shares a
    bucket, 50 bytes for each key of one partition that does, 64 MiB, and a file of the store.
    """
    codes = np.zeros(0, np.uint64)
    for read in buckets:
        codes = np.union1d(codes, _codes(read()))
    if not len(codes):
        return DROPPED.empty_table()
    found = _candidates(documents, codes)
    del codes
    lowest = np.arange(len(found.codes))
    by_code = np.argsort(found.codes)
    for read in buckets:
        table = read()
        ranks = by_code[np.searchsorted(found.codes, _codes(table), sorter=by_code)]
        for low, high in _pairs(table["bucket"].to_numpy(), ranks):
            apart = _roots(lowest, low) != _roots(lowest, high)
            one, other = low[apart], high[apart]
            alike = found.alike(one, other, threshold)
            _join(lowest, one[alike], other[alike])
    stays = _roots(lowest, np.arange(len(lowest)))
    dropped = np.flatnonzero(stays != np.arange(len(stays)))
    return _table(found, dropped, stays[dropped])


def _codes(table: pa.Table) -> Codes:
    return _coded(table["file"].to_numpy(), table["row"].to_numpy())


def _candidates(documents: Sequence[Stream], codes: Codes) -> _Candidates:
    """Load the candidates, whose codes are sorted, from their files and bring them into their order."""
    numbers = (codes >> np.uint64(32)).astype(np.int64)
    exact, signed = False, np.zeros((0, 0), np.uint32)
    tables = []
    for number in np.unique(numbers).tolist():
        begin, end = np.searchsorted(numbers, [number, number + 1]).tolist()
        table = read_stream(documents[number]).take(pa.array(codes[begin:end] & _LOW)).combine_chunks()
        exact |= table["signature"].null_count > 0
        if not exact:
            width = table["signature"].type.byte_width // 4
            if not len(signed):
                signed = np.zeros((len(codes), width), np.uint32)
            signed[begin:end] = _numbers(table["signature"], np.uint32, width)
        tables.append(table.drop_columns(["signature"]))
    table = pa.concat_tables(tables).combine_chunks()
    ids = table["id"].combine_chunks()
    sizes = table["bytes"].to_numpy()
    digests = _numbers(table["digest"], np.uint64, 2)
    named = pc.rank(ids, tiebreaker="dense").to_numpy()
    order = np.lexsort((codes, digests[:, 1], digests[:, 0], named, -sizes))
    ranked = codes[order], ids.take(pa.array(order)), sizes[order], digests[order]
    return _Candidates(*ranked, None if exact else signed, order)


def _numbers(column: pa.ChunkedArray, kind: type[Number], width: int) -> NDArray[Number]:
    [chunk] = column.chunks
    data = np.frombuffer(chunk.buffers()[1], kind)
    return data.reshape(-1, width)[chunk.offset : chunk.offset + len(chunk)]


def _pairs(bucket: NDArray[np.uint32], ranks: Places) -> Iterator[tuple[Places, Places]]:
    """Yield the pairs of members of a bucket to be compared, the lower ranks and the higher ones, some at a time."""
    order = np.lexsort((ranks, bucket))
    bucket, ranks = bucket[order], ranks[order]
    begins = np.flatnonzero(np.concatenate([[True], bucket[1:] != bucket[:-1]]))
    for start in range(0, len(bucket), _MEMBERS_AT_ONCE):
        place = np.arange(start, min(start + _MEMBERS_AT_ONCE, len(bucket)))
        first = begins[np.searchsorted(begins, place, "right") - 1]
        found = [_coded(ranks[first], ranks[place])]
        for back in range(1, NEIGHBOURS + 1):
            near = place[place - first >= back]
            found.append(_coded(ranks[near - back], ranks[near]))
        pairs = np.unique(np.concatenate(found))
        low, high = (pairs >> np.uint64(32)).astype(np.int64), (pairs & _LOW).astype(np.int64)
        yield low[low != high], high[low != high]


def _coded(high: NDArray[np.integer], low: NDArray[np.integer]) -> Codes:
    codes: Codes = high.astype(np.uint64) << np.uint64(32)
    codes |= low.astype(np.uint64)
    return codes


def _roots(lowest: Places, nodes: Places) -> Places:
    """Return the lowest node that each of some nodes is joined to; shortens the ways there."""
    above = lowest[nodes]
    while not np.array_equal(further := lowest[above], above):
        lowest[nodes] = above = further
    return above


def _join(lowest: Places, one: Places, other: Places) -> None:
    """Join nodes by edges, in place: `lowest` leads from each node to the lowest of its group, step by step.

    >>> lowest = np.arange(5)
    >>> _join(lowest, np.array([1, 3]), np.array([3, 4]))
    >>> _roots(lowest, np.arange(5)).tolist()
    [0, 1, 2, 1, 1]
    """
    while len(one):
        ends = _roots(lowest, one), _roots(lowest, other)
        low, high = np.minimum(*ends), np.maximum(*ends)
        apart = low != high
        one, other, low, high = one[apart], other[apart], low[apart], high[apart]
        np.minimum.at(lowest, high, low)


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
