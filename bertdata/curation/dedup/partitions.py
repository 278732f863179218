"""Rows by partition of their hashes: written as a stream for each partition, and read in rounds of some hashes.

The first column of the rows is the hash, uint64, whose top bits are the partition. A stream is ordered by hash, so
that a round holds those of one range of hashes in all files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.engine.byte_ranges import Stream, read_stream, write_stream

MOST_PARTITIONS = 1024
HASHES = 1 << 64


def partitions_for(amount: int, each: int, fewest: int = 1) -> int:
    """Return into how many partitions of about `each` an amount is cut: a power of two, up to 1,024.

    >>> partitions_for(0, 100), partitions_for(101, 100), partitions_for(350, 100), partitions_for(1 << 50, 100)
    (1, 2, 4, 1024)
    """
    wanted = -(-amount // each)
    return min(MOST_PARTITIONS, max(fewest, 1 << max(0, wanted - 1).bit_length()))


def hashes_of(partition: int, partitions: int) -> tuple[int, int]:
    """Return what the hashes of a partition are at least, and below.

    >>> hashes_of(0, 1) == (0, 1 << 64), hashes_of(3, 4) == (3 << 62, 1 << 64)
    (True, True)
    """
    each = HASHES // partitions
    return partition * each, (partition + 1) * each


def write_partitions(file: BinaryIO, table: pa.Table, partitions: int) -> list[list[int]]:
    """Append rows to a file, a stream for each partition; returns [offset, length] of each, length 0 without a row."""
    hashes = table.column(0).to_numpy()
    order = np.argsort(hashes, kind="stable")
    begins = np.array([hashes_of(partition, partitions)[0] for partition in range(partitions)], np.uint64)
    bounds = [*np.searchsorted(hashes, begins, sorter=order).tolist(), len(order)]
    return [
        write_stream(file, table.take(pa.array(order[begin:end]))) if begin < end else [file.tell(), 0]
        for begin, end in pairwise(bounds)
    ]


def rounds(streams: Sequence[Stream], hashes: tuple[int, int], round_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of hashes such that the streams have about `round_bytes` in each."""
    number = max(1, -(-sum(stream.length for stream in streams) // round_bytes))
    begin, end = hashes
    return pairwise([begin + (end - begin) * i // number for i in range(number + 1)])


def between(stream: Stream, low: int, high: int) -> dict[str, NDArray[Any]]:
    """Return the columns of the rows whose hashes are at least `low` and below `high`, without holding the others."""
    table = read_stream(stream)
    hashes = table.column(0).to_numpy()
    begin = int(np.searchsorted(hashes, np.uint64(low)))
    end = len(hashes) if high == HASHES else int(np.searchsorted(hashes, np.uint64(high)))
    return {name: table[name].to_numpy()[begin:end].copy() for name in table.column_names}
