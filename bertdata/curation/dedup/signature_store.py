"""The signatures of documents, one file for a range of them, and their keys: those that share one may be duplicates.

A file is Arrow IPC streams in a row: first the documents, one row each, then (key, row) by partition of the keys. Keys
never go through a runner's shuffle, references to their streams do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import BinaryIO, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.counter_rng import bits, key
from bertdata.curation.dedup.minhash import BINS, EMPTY, Signatures
from bertdata.curation.dedup.partitions import write_partitions
from bertdata.curation.languages import languages_in
from bertdata.documents import COLUMNS, DocumentCount
from bertdata.engine.byte_ranges import write_stream
from bertdata.engine.parts import Counters

DIGEST_BYTES = 16
KEYS = pa.schema([pa.field("key", pa.uint64()), pa.field("row", pa.uint32())])
_LONGEST_BAND = 16
Number = TypeVar("Number", np.uint32, np.uint64)


def signatures(texts: pa.Array, buckets: tuple[int, int] | None = None) -> Signatures:
    """Return the signatures of an Arrow string array: uint32 of shape (texts, 256), rows of `EMPTY` where no word is.

    buckets: how many keys are made of them, and of how many numbers each is; the shape is then (texts, their product),
    and the numbers are those of `bertdata.curation.dedup.minhash.bucket_hashes`.

    >>> first, second = signatures(pa.array(["It was a dark and stormy night.", "it was a dark -- and stormy night"]))
    >>> bool((first == second).all())
    True
    """
    from bertdata.curation.dedup import minhash_kernel

    large = texts.cast(pa.large_string())
    numbers = np.full((len(large), buckets[0] * buckets[1] if buckets else BINS), EMPTY, np.uint32)
    if len(large):
        _, offsets, data = large.buffers()
        ends = np.frombuffer(offsets, np.int64)[large.offset : large.offset + len(large) + 1]
        read = np.frombuffer(data or b"", np.uint8)
        if buckets:
            minhash_kernel.bucket_minhash(read, ends, *buckets, numbers)
        else:
            minhash_kernel.minhash(read, ends, numbers)
    return numbers


def documents_schema(numbers: int) -> pa.Schema:
    """Return the schema of the documents of a file, whose signatures have `numbers` numbers, or 0 for no signatures."""
    fields = [
        pa.field("id", pa.string()),
        pa.field("bytes", pa.int64()),
        pa.field("digest", pa.binary(DIGEST_BYTES)),
        pa.field("language", pa.string()),
    ]
    return pa.schema([*fields, pa.field("signature", pa.binary(4 * numbers))] if numbers else fields)


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
    documents: Iterable[pa.Table],
    threshold: float | None,
    file: BinaryIO,
    buckets: tuple[int, int] | None = None,
    partitions: int = 1,
) -> Counters:
    """Write the signatures and keys of documents; without a threshold, digests only, for exact duplicates.

    buckets: how many keys a document has, and of how many numbers each is; by default they follow from the threshold.

    details["streams"] lists [offset, length] of the documents and of the keys of each partition, whose length is 0
    where there is none.
    """
    empty = documents_schema(0 if threshold is None else buckets[0] * buckets[1] if buckets else BINS).empty_table()
    signed = pa.concat_tables([empty, *(_signed(table, threshold, buckets) for table in documents)])
    return write_signed(signed, rows_of_a_key(threshold, buckets), file, partitions)


def write_signed(signed: pa.Table, rows: int, file: BinaryIO, partitions: int) -> Counters:
    """Write documents of `documents_schema` and their keys, of `rows` numbers each, as `write_signatures` does."""
    counters = Counters()
    counters.add(DocumentCount.DOCUMENTS, signed.num_rows)
    signed = signed.combine_chunks()
    streams = [write_stream(file, signed)]
    digests = numbers_of(signed["digest"], np.uint64)
    every = np.arange(signed.num_rows, dtype=np.uint32)
    keys = [(exact_keys(digests), every)]
    if "signature" in signed.column_names:
        signature_numbers = numbers_of(signed["signature"], np.uint32)
        worded = every[signature_numbers[:, 0] != EMPTY]
        keys += [(band, worded) for band in band_keys(signature_numbers[worded], rows)]
    columns = [pa.array(np.concatenate(parts)) for parts in zip(*keys, strict=True)]
    counters.details["streams"] = streams + write_partitions(file, pa.table(columns, schema=KEYS), partitions)
    return counters


def _signed(table: pa.Table, threshold: float | None, buckets: tuple[int, int] | None) -> pa.Table:
    """Return documents signed, with their languages where they come with their columns."""
    texts = table["text"].combine_chunks()
    ends = np.frombuffer(texts.buffers()[1] or bytes(4), np.int32)[texts.offset : texts.offset + len(texts) + 1]
    encoded = memoryview(texts.buffers()[2] or b"")
    pieces = (encoded[begin:end] for begin, end in pairwise(ends.tolist()))
    digests = b"".join(hashlib.blake2b(piece, digest_size=DIGEST_BYTES).digest() for piece in pieces)
    sizes = np.diff(ends).astype(np.int64)
    has_columns = COLUMNS in table.column_names
    languages = pa.array(languages_in(table[COLUMNS].to_pylist()) if has_columns else [None] * len(texts), pa.string())
    columns = [table["id"], pa.array(sizes), _fixed(digests, DIGEST_BYTES, len(texts)), languages]
    if threshold is None:
        return pa.table(columns, schema=documents_schema(0))
    signature_numbers = signatures(texts, buckets)
    columns.append(_fixed(signature_numbers.tobytes(), 4 * signature_numbers.shape[1], len(texts)))
    return pa.table(columns, schema=documents_schema(signature_numbers.shape[1]))


def _fixed(data: bytes, width: int, count: int) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), count, [None, pa.py_buffer(data)])


def numbers_of(column: pa.ChunkedArray, kind: type[Number]) -> NDArray[Number]:
    """Return the numbers in a column of fixed-size binary, of one chunk, as an array (rows, numbers)."""
    [chunk] = column.chunks or [pa.array([], column.type)]
    width = column.type.byte_width // np.dtype(kind).itemsize
    data = np.frombuffer(chunk.buffers()[1] or b"", kind)
    return data.reshape(-1, width)[chunk.offset : chunk.offset + len(chunk)]


def rows_of_a_key(threshold: float | None, buckets: tuple[int, int] | None) -> int:
    """Return how many numbers of a signature make a key."""
    return buckets[1] if buckets else band_rows(threshold or 1.0)


def exact_keys(digests: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return one key a text for its digest, uint64 (texts, 2)."""
    return bits(key(0, "exact duplicates"), digests[:, 0])


def band_keys(signature_numbers: NDArray[np.uint32], rows: int) -> Iterator[NDArray[np.uint64]]:
    """Yield one key a text for each band of `rows` numbers of its signature."""
    bands = signature_numbers.shape[1] // rows
    numbers = signature_numbers[:, : bands * rows].reshape(-1, bands, rows)
    yield from _keys_of_bands(np.arange(bands), numbers).T


def band_key(signature_numbers: NDArray[np.uint32], band: int, rows: int) -> NDArray[np.uint64]:
    """Return one key a text for one band of its signature."""
    return _keys_of_bands(band, signature_numbers[:, band * rows : (band + 1) * rows])


def _keys_of_bands(bands: int | NDArray[np.int64], numbers: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return a key for the numbers of each band, which are in the last dimension: uint64 of the shape of the others."""
    odd = bits(key(0, "bands"), np.arange(numbers.shape[-1])) | np.uint64(1)
    return bits(key(0, "near duplicates"), bands, (numbers * odd).sum(axis=-1, dtype=np.uint64))
