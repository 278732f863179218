"""Which documents of one piece are duplicates, and which one of each group stays.

A piece has all documents that share a key with one of them. Of the documents with one key those that are alike are
joined, and all that hang together are one group. The longest text of a group stays, of equally long ones that with the
lowest id. So the answer is a function of the documents, whatever the order, the ranges, the pieces or the workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.curation.dedup.minhash import EMPTY, estimate
from bertdata.curation.dedup.signature_rows import HELD_BYTES, SignatureRows
from bertdata.curation.dedup.signature_store import band_key, exact_keys, numbers_of
from bertdata.curation.dedup.union_find import join, roots
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
        pa.field("language", pa.string()),
    ]
)
BYTES_EACH = 250
"""Bytes that the decision takes for a document of a piece, its id and its signature aside."""
_PAIRS_AT_ONCE, _MEMBERS_AT_ONCE = 1 << 12, 1 << 15
_LOW = np.uint64(0xFFFFFFFF)

Codes = NDArray[np.uint64]
Places = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class _Candidates:
    """The documents of a piece, the one to stay first: its place is its rank.

    codes: file and row. signatures are in the order of the streams, where `order` has the place of each rank.
    """

    codes: Codes
    ids: pa.Array
    languages: pa.Array
    sizes: NDArray[np.int64]
    digests: Codes
    signatures: SignatureRows
    order: Places

    def alike(self, first: Places, second: Places, threshold: float | None) -> NDArray[np.bool_]:
        """Tell which pairs are the same text or, with a threshold, at least that similar."""
        same = np.asarray((self.digests[first] == self.digests[second]).all(axis=1))
        if threshold:
            for start in range(0, len(first), _PAIRS_AT_ONCE):
                part = slice(start, start + _PAIRS_AT_ONCE)
                same[part] |= self.similarity(first[part], second[part]) >= threshold
        return same | (threshold == 0)

    def similarity(self, first: Places, second: Places) -> NDArray[np.float64]:
        """Return the estimated similarity of pairs; without signatures all are taken for equal."""
        if not self.signatures.width:
            return np.ones(len(first))
        return estimate(self.signatures.take(self.order[first]), self.signatures.take(self.order[second]))

    def buckets(self, rows: int) -> Iterator[tuple[Places, Places]]:
        """Yield for each kind of key the documents that share one: the number of the key, and their ranks.

        rows: how many numbers of a signature make a key.
        """
        every = np.arange(len(self.codes))
        yield _shared(exact_keys(self.digests), every)
        rank = np.empty(len(every), np.int64)
        rank[self.order] = every
        for band in range(self.signatures.width // rows):
            keys, worded = np.empty(len(every), np.uint64), np.empty(len(every), np.bool_)
            for begin, some in self.signatures.chunks():
                keys[begin : begin + len(some)] = band_key(some, band, rows)
                worded[begin : begin + len(some)] = some[:, 0] != EMPTY
            yield _shared(keys[worded], rank[worded])


def find_dropped(
    streams: Sequence[Stream], threshold: float | None, rows: int, held_bytes: int = HELD_BYTES
) -> pa.Table:
    """Return the documents to drop, by (file, row), each with its reason and the id of the one that stays for it.

    streams: the documents of a piece. threshold: the similarity at which those of one key are alike, 0: they always
    are, None: only where they are equal. rows: how many numbers of a signature make a key.

    A document is compared with the longest document of each of its keys and with the 16 next longer ones, except those
    that it is joined to already. Memory is at most `BYTES_EACH`, and five times the id, for each document, a stream, 64
    MiB, and the signatures, where these are more than `held_bytes` none of them: they are in a temporary file.
    """
    if not streams:
        return DROPPED.empty_table()
    width = _width(streams[0])
    most = sum(stream.length for stream in streams) // max(1, 4 * width)
    with SignatureRows(most if width else 0, width, held_bytes) as signatures:
        candidates = _candidates(streams, signatures)
        lowest = np.arange(len(candidates.codes))
        for bucket, ranks in candidates.buckets(rows):
            for low, high in _pairs(bucket, ranks):
                apart = roots(lowest, low) != roots(lowest, high)
                lower, higher = low[apart], high[apart]
                alike = candidates.alike(lower, higher, threshold)
                join(lowest, lower[alike], higher[alike])
        stays = roots(lowest, np.arange(len(lowest)))
        dropped = np.flatnonzero(stays != np.arange(len(stays)))
        return _table(candidates, dropped, stays[dropped])


def _width(stream: Stream) -> int:
    """Return how many numbers the signatures of a stream have, 0 without signatures."""
    schema = read_stream(stream).schema
    return int(schema.field("signature").type.byte_width) // 4 if "signature" in schema.names else 0


def _candidates(streams: Sequence[Stream], signatures: SignatureRows) -> _Candidates:
    """Read the documents of a piece and bring them into their order."""
    tables = []
    for stream in streams:
        table = read_stream(stream)
        if signatures.width:
            signatures.add(numbers_of(table["signature"], np.uint32))
            table = table.drop_columns(["signature"])
        tables.append(_copied(table))
    table = pa.concat_tables(tables).combine_chunks()
    tables.clear()
    ids = table["id"].combine_chunks()
    codes, sizes = _coded(table["file"].to_numpy(), table["row"].to_numpy()), table["bytes"].to_numpy()
    digests = numbers_of(table["digest"], np.uint64)
    named = pc.rank(ids, tiebreaker="dense").to_numpy()
    order = np.lexsort((codes, digests[:, 1], digests[:, 0], named, -sizes))
    ids, languages = (column.take(pa.array(order)) for column in (ids, table["language"].combine_chunks()))
    return _Candidates(codes[order], ids, languages, sizes[order], digests[order], signatures, order)


def _copied(table: pa.Table) -> pa.Table:
    """Return a table that does not hold what it was read from."""
    return table.take(pa.array(np.arange(table.num_rows)))


def _shared(keys: NDArray[np.uint64], ranks: Places) -> tuple[Places, Places]:
    """Return the documents whose key another document has too, with their keys: the number of the key, and the rank."""
    order = np.argsort(keys, kind="stable")
    same = keys[order][1:] == keys[order][:-1]
    shared = np.zeros(len(order), np.bool_)
    shared[1:] |= same
    shared[:-1] |= same
    begins = np.ones(len(order), np.bool_)
    begins[1:] = ~same
    return np.asarray(np.cumsum(begins)[shared]), ranks[order[shared]]


def _pairs(bucket: NDArray[np.integer], ranks: Places) -> Iterator[tuple[Places, Places]]:
    """Yield the pairs of documents of one key to be compared, the lower ranks and the higher ones, some at a time.

    Pairs with the first document of each key come before pairs of neighbours, because they make most of the latter
    needless.
    """
    order = np.lexsort((ranks, bucket))
    bucket, ranks = bucket[order], ranks[order]
    begins = np.flatnonzero(np.concatenate([[True], bucket[1:] != bucket[:-1]]))
    for start in range(0, len(bucket), _MEMBERS_AT_ONCE):
        place = np.arange(start, min(start + _MEMBERS_AT_ONCE, len(bucket)))
        first = begins[np.searchsorted(begins, place, "right") - 1]
        yield ranks[first[place != first]], ranks[place[place != first]]
        for back in range(1, NEIGHBOURS + 1):
            near = place[place - first > back]
            yield ranks[near - back], ranks[near]


def _coded(high: NDArray[np.integer], low: NDArray[np.integer]) -> Codes:
    codes: Codes = high.astype(np.uint64) << np.uint64(32)
    codes |= low.astype(np.uint64)
    return codes


def _table(candidates: _Candidates, dropped: Places, stays: Places) -> pa.Table:
    _, first = np.unique(candidates.digests, axis=0, return_index=True)
    repeated = np.ones(len(candidates.codes), np.bool_)
    repeated[first] = False
    exact = repeated[dropped]
    similarity = np.zeros(len(dropped), np.float32)
    for start in range(0, len(dropped), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        similarity[part] = candidates.similarity(dropped[part], stays[part])
    order = np.argsort(candidates.codes[dropped])
    codes = candidates.codes[dropped][order]
    reasons = pa.array([NEAR, EXACT]).take(pa.array(exact[order].astype(np.int8)))
    return pa.table(
        [
            pa.array((codes >> np.uint64(32)).astype(np.uint32)),
            pa.array((codes & _LOW).astype(np.uint32)),
            candidates.ids.take(pa.array(dropped[order])),
            pa.array(candidates.sizes[dropped][order]),
            reasons,
            candidates.ids.take(pa.array(stays[order])),
            pa.array(similarity[order]),
            candidates.languages.take(pa.array(dropped[order])),
        ],
        schema=DROPPED,
    )
