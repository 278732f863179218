"""The signatures of documents, one file for a range of them, and the buckets of documents that share a key.

A file is Arrow IPC streams in a row: first the documents, one row each, then `PARTITIONS` streams of (key, row). Two
documents that share a key may be duplicates; the top bits of a key are its partition, so that partitions are of
like size in any corpus. Keys never go through a runner's shuffle, references to their streams do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.counter_rng import bits, key
from bertdata.curation.dedup.minhash import BINS, EMPTY, Signatures
from bertdata.documents import DocumentCount
from bertdata.engine.byte_ranges import Stream, read_stream, write_stream
from bertdata.engine.parts import Counters

PARTITIONS = 32
DIGEST_BYTES = 16
KEYS = pa.schema([pa.field("key", pa.uint64()), pa.field("row", pa.uint32())])
BUCKETS = pa.schema([pa.field("bucket", pa.uint32()), pa.field("file", pa.uint32()), pa.field("row", pa.uint32())])
_LONGEST_BAND = 16


def signatures(texts: pa.Array, buckets: tuple[int, int] | None = None) -> Signatures:
    """Return the signatures of an Arrow string array: uint32 of shape (texts, 256), rows of `EMPTY` where no word is.

    buckets: how many keys are made of them, and of how many numbers each is; the shape is then (texts, their product),
    and the numbers are those of `bertdata.curation.dedup.minhash.bucket_hashes`.

    >>> one, other = signatures(pa.array(["It was a dark and stormy night.", "it was a dark -- and stormy -- night"]))
    >>> bool((one == other).all())
    True
    """
    from bertdata.curation.dedup import minhash_kernel

    large = texts.cast(pa.large_string())
    found = np.full((len(large), buckets[0] * buckets[1] if buckets else BINS), EMPTY, np.uint32)
    if len(large):
        _, offsets, data = large.buffers()
        ends = np.frombuffer(offsets, np.int64)[large.offset : large.offset + len(large) + 1]
        read = np.frombuffer(data or b"", np.uint8)
        if buckets:
            minhash_kernel.bucket_minhash(read, ends, *buckets, found)
        else:
            minhash_kernel.minhash(read, ends, found)
    return found


def documents_schema(numbers: int = BINS) -> pa.Schema:
    """Return the schema of the documents of a file, whose signatures have so many numbers."""
    return pa.schema(
        [
            pa.field("id", pa.string()),
            pa.field("bytes", pa.int64()),
            pa.field("digest", pa.binary(DIGEST_BYTES)),
            pa.field("signature", pa.binary(4 * numbers)),
        ]
    )


def band_rows(threshold: float) -> int:
    """Return how many numbers of a signature make a key, as many as find 98% of the pairs at the threshold.

    A pair of similarity s shares one of b keys of r numbers with probability 1 - (1 - s^r)^b (Leskovec, Rajaraman and
    Ullman, "Mining of Massive Datasets", section 3.4).

    >>> band_rows(0.8), band_rows(0.5), band_rows(1.0)
    (8, 4, 16)
    """
    rows = _LONGEST_BAND
    while rows > 1 and 1 - (1 - threshold**rows) ** (BINS // rows) < 0.98:
        rows //= 2
    return rows


def similarity_of(buckets: int, hashes: int) -> float:
    """Return the similarity at which about two of three pairs share a bucket: the steepest part of the curve.

    It is (1 / buckets) ** (1 / hashes) (Leskovec, Rajaraman and Ullman, section 3.4.2).

    >>> round(similarity_of(14, 8), 3), round(similarity_of(32, 8), 3)
    (0.719, 0.648)
    """
    return float((1 / buckets) ** (1 / hashes))


def write_signatures(
    documents: Iterable[pa.Table], threshold: float | None, file: BinaryIO, buckets: tuple[int, int] | None = None
) -> Counters:
    """Write the signatures and keys of documents; without a threshold, digests only, for exact duplicates.

    buckets: how many keys a document has, and of how many numbers each is; by default they follow from the threshold.

    details["streams"] lists [offset, length] of the documents and of each partition.
    """
    counters = Counters()
    tables: list[pa.Table] = []
    keys: list[NDArray[np.uint64]] = []
    rows: list[NDArray[np.uint32]] = []
    count = 0
    for table in documents:
        signed, found = _signed(table, threshold, buckets)
        tables.append(signed)
        keys += [one for one, _ in found]
        rows += [(row + count).astype(np.uint32) for _, row in found]
        count += table.num_rows
    counters.add(DocumentCount.DOCUMENTS, count)
    schema = documents_schema(buckets[0] * buckets[1] if buckets else BINS)
    streams = [write_stream(file, pa.concat_tables([schema.empty_table(), *tables]))]
    every = np.concatenate([np.zeros(0, np.uint64), *keys])
    owner = np.concatenate([np.zeros(0, np.uint32), *rows])
    partition = (every >> np.uint64(59)).astype(np.int64)
    order = np.argsort(partition, kind="stable")
    bounds = np.searchsorted(partition[order], np.arange(PARTITIONS + 1))
    for number in range(PARTITIONS):
        chosen = order[bounds[number] : bounds[number + 1]]
        streams.append(write_stream(file, pa.table([pa.array(every[chosen]), pa.array(owner[chosen])], schema=KEYS)))
    counters.details["streams"] = streams
    return counters


def _signed(
    table: pa.Table, threshold: float | None, buckets: tuple[int, int] | None
) -> tuple[pa.Table, list[tuple[NDArray[np.uint64], NDArray[np.uint32]]]]:
    texts = table["text"].combine_chunks()
    encoded = [text.encode() for text in texts.to_pylist()]
    digests = b"".join(hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest() for text in encoded)
    sizes = np.array([len(text) for text in encoded], np.int64)
    every = np.arange(len(encoded), dtype=np.uint32)
    keys = [(bits(key(0, "exact duplicates"), np.frombuffer(digests, np.uint64)[::2]), every)]
    columns = [table["id"], pa.array(sizes), _fixed(digests, DIGEST_BYTES, len(encoded))]
    if threshold is None:
        schema = documents_schema()
        columns.append(pa.nulls(len(encoded), schema.field("signature").type))
    else:
        found = signatures(texts, buckets)
        schema = documents_schema(found.shape[1])
        columns.append(_fixed(found.tobytes(), 4 * found.shape[1], len(encoded)))
        worded = every[found[:, 0] != EMPTY]
        rows = buckets[1] if buckets else band_rows(threshold)
        keys += [(one, worded) for one in band_keys(found[worded], rows)]
    return pa.table(columns, schema=schema), keys


def _fixed(data: bytes, width: int, count: int) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), count, [None, pa.py_buffer(data)])


def band_keys(found: NDArray[np.uint32], rows: int) -> Iterator[NDArray[np.uint64]]:
    """Yield one key a text for each band of so many numbers of its signature."""
    odd = bits(key(0, "bands"), np.arange(rows)) | np.uint64(1)
    for band in range(found.shape[1] // rows):
        numbers = found[:, band * rows : (band + 1) * rows].astype(np.uint64)
        yield bits(key(0, "near duplicates"), band, (numbers * odd).sum(axis=1, dtype=np.uint64))


def find_buckets(streams: Sequence[Stream]) -> pa.Table:
    """Return the buckets of two documents or more in the streams of one partition, one stream a file, in their order.

    A bucket has the documents that share a key, each as (file, row): the number of its file in the order of the paths,
    and its row there.
    Memory is about 50 bytes for each key of the partition.
    """
    keys, files, rows = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)]
    for number, stream in enumerate(streams):
        table = read_stream(stream)
        keys.append(table["key"].to_numpy())
        rows.append(table["row"].to_numpy())
        files.append(np.full(table.num_rows, number, np.uint32))
    every = np.concatenate(keys)
    order = np.argsort(every, kind="stable")
    ordered = every[order]
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(ordered) else np.zeros(0, np.bool_)
    bucket = np.cumsum(begins) - 1
    shared = np.bincount(bucket, minlength=1)[bucket] > 1 if len(bucket) else begins
    chosen = order[shared]
    return pa.table(
        [
            pa.array(bucket[shared].astype(np.uint32)),
            pa.array(np.concatenate(files)[chosen]),
            pa.array(np.concatenate(rows)[chosen]),
        ],
        schema=BUCKETS,
    )
