"""Buckets: the documents of one partition of the signature store that share a key.

A document is named by (file, row): the number of its file in the order of the paths, and its row there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from bertdata.engine.byte_ranges import Stream, read_stream

BUCKETS = pa.schema([pa.field("bucket", pa.uint32()), pa.field("file", pa.uint32()), pa.field("row", pa.uint32())])


def find_buckets(streams: Sequence[Stream]) -> pa.Table:
    """Return the buckets of two documents or more in the streams of one partition, one stream a file, in their order.

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
